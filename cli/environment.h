// Defaults that the user's environment sets; the command line wins.
#pragma once

#include <optional>
#include <string>

namespace gdelta::cli {

/// Reads a number from `lowest` to `highest` out of variable `name` into `value`, which stays as it
/// is if the variable is not set or empty. Returns a sentence if it holds anything else.
std::optional<std::string> read_environment(const char* name, int lowest, int highest, int& value);

}  // namespace gdelta::cli
