// How to compress: the options of compress and bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"

namespace gdelta::cli {

struct EncodeArguments {
  EncodeOptions options;
  std::vector<int> levels;  // as many as were given
  std::optional<Column> type;
  std::optional<int> tuple;
  std::vector<std::string> metadata;  // KEY=VALUE
};

void add_encode_arguments(CLI::App& app, EncodeArguments& arguments);

/// Puts --type and --tuple together and takes metadata apart; returns a sentence if they make no
/// sense.
std::optional<std::string> complete(EncodeArguments& arguments);

/// Help on levels and on describing numbers, for the foot of a help page.
extern const char* const kEncodeHelp;

}  // namespace gdelta::cli
