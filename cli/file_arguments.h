// Where compress and decompress read from and write to.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command_line.h"
#include "input_file.h"
#include "input_names.h"
#include "output_file.h"

namespace gdelta::cli {

struct FileArguments {
  InputArguments inputs;
  std::string output;  // "-" is stdout; empty: a name made from the input's
  std::string output_folder;
  std::string offsets;  // a file that is read beside the input; empty: none
  bool to_stdout = false;
  bool overwrite = false;
  bool remove_input = false;
  Verbosity verbosity;
  std::set<std::string> outputs;  // in the output folder, so far
};

void add_file_arguments(CLI::App& app, FileArguments& arguments, const std::string& files);
/// Those of them that say what becomes of the input and where the output goes.
void add_output_arguments(CLI::App& app, FileArguments& arguments);

/// Fills in what was left out (no file: stdin), and returns a sentence if the combination makes
/// no sense.
std::optional<std::string> complete(FileArguments& arguments);

/// Whether the output of input `path` goes to stdout.
bool writes_to_stdout(const FileArguments& arguments, const std::string& path);

/// Opens input `path`. Empty if there is nothing to do for it, which the console was told: it
/// cannot be read, or it is a FIFO or device and its output would lie beside it.
std::optional<InputFile> open_input(const FileArguments& arguments, const std::string& path,
                                    Console& console);

/// Opens the output of `input`: stdout, -o, or `beside`, which lies in the output folder as
/// `in_folder` if there is one. Empty if that failed, which the console was told.
std::optional<OutputFile> open_output(FileArguments& arguments, const InputFile& input,
                                      const std::string& beside, const std::string& in_folder,
                                      Console& console);

/// Removes the input after its output is in place, if asked to and if nothing can be lost. `is_safe`, if it is there,
/// has the last word, and tells the console why not.
void remove_input(const FileArguments& arguments, const InputFile& input, const OutputFile& output,
                  Console& console, const std::function<bool()>& is_safe = nullptr);

}  // namespace gdelta::cli
