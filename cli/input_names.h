// Which files compress and decompress are to take: those named, listed and found in folders.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "file_arguments.h"

namespace gdelta::cli {

struct InputName {
  std::string path;       // "-" is stdin
  std::string in_folder;  // where it would lie in the output folder, under its own name
};

/// What to take of a folder: files with the suffix .gdz, or those without.
enum class FolderFiles { compressed, others };

/// All inputs, in the order in which they were named; those of a folder by name. Symbolic links in
/// folders are left alone. Lists and folders that cannot be read are told to the console.
std::vector<InputName> input_names(const FileArguments& arguments, FolderFiles wanted,
                                   Console& console);

}  // namespace gdelta::cli
