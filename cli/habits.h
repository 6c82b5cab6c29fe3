// The ways to call the command without naming a sub-command, as those who know gzip, xz and zstd
// try first: "gdelta FILE", "gdelta -dc", "ungdelta FILE", "tar -I gdelta".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdelta::cli {

/// A sub-command's name and what is left for it.
struct Call {
  std::string command;
  std::vector<std::string> arguments;
  bool named = true;  // false: nothing says whether to compress or decompress, but the files
};

/// Whether `word` is compress, decompress, test, list, …, the words that may stand first.
bool is_command(std::string_view word);
/// Gives all of them.
const std::vector<std::string>& command_names();

/// What `arguments` ask for, given to a program called `program`. A sub-command's name counts if
/// it stands first; after compress and decompress, and without any, the modes -z, -d, -t and -l (or
/// --compress, --decompress, --test, --list) count wherever they stand, the last of them.
Call understand(std::string_view program, std::vector<std::string> arguments);

}  // namespace gdelta::cli
