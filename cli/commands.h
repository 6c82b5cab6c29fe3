// The subcommands. Each parses its own arguments, does its work and returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace gdelta::cli {

int compress_command(const std::vector<std::string>& arguments);
int decompress_command(const std::vector<std::string>& arguments);
int test_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int cat_command(const std::vector<std::string>& arguments);
int bench_command(const std::vector<std::string>& arguments);
int devices_command(const std::vector<std::string>& arguments);

}  // namespace gdelta::cli
