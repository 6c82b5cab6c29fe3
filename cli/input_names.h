// Which files a subcommand is to take: those named, listed and found in folders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "console.h"

namespace gdelta::cli {

inline constexpr std::string_view kSuffix = ".gdz";

struct InputArguments {
  std::vector<std::string> files;
  std::vector<std::string> lists;       // files that name files, one a line
  std::vector<std::string> null_lists;  // the same, with a NUL after each name
  bool recursive = false;

  bool listed() const { return !lists.empty() || !null_lists.empty(); }
  bool none() const { return files.empty() && !listed(); }
  bool may_be_several() const { return files.size() > 1 || listed() || recursive; }
};

/// `needed`: at least one is named or listed.
void add_input_arguments(CLI::App& app, InputArguments& arguments, bool needed,
                         const std::string& files);

struct InputName {
  std::string path;       // "-" is stdin
  std::string in_folder;  // where it would lie in the output folder, under its own name
};

/// What to take of a folder: files with the suffix .gdz, or those without.
enum class FolderFiles { compressed, others };

/// All inputs, in the order in which they were named; those of a folder by name. Symbolic links in
/// folders are left alone. Lists and folders that cannot be read are told to the console.
std::vector<InputName> input_names(const InputArguments& arguments, FolderFiles wanted,
                                   Console& console);

/// Whether an input is a folder, named without -r. Then the console is told.
bool is_refused_folder(const std::string& path, Console& console);

}  // namespace gdelta::cli
