// The options of compress and decompress. Each of the two takes those of both and shows its own, so
// that the same words serve both ways, as "tar -I 'gdelta -9'" needs. test and list take them, too,
// so that -t and -l may stand among them.
#pragma once

#include "encode_arguments.h"
#include "file_arguments.h"

namespace gdelta::cli {

enum class Direction { compress, decompress };

struct DecodeArguments {
  DecodeOptions options;
  bool salvage = false;
  bool fill = false;
  bool fill_holes = false;  // zeros are written, not left out
};

struct TransferArguments {
  FileArguments files;
  EncodeArguments encode;
  DecodeArguments decode;
  std::string offsets;  // the file of the segments' offsets; empty: none
};

void add_transfer_arguments(CLI::App& app, TransferArguments& arguments, Direction direction);

/// Lets a subcommand that neither compresses nor decompresses take what it has no option of its own for, without effect.
void add_idle_arguments(CLI::App& app, TransferArguments& arguments);

/// A sentence if --segments makes no sense with the rest.
std::optional<std::string> check_segments(const TransferArguments& arguments, Direction direction);

/// Of the files that `arguments` name, in either direction: how many have the suffix .gdz.
enum class Suffixes { none, some, all };
Suffixes suffixes_of(const Arguments& arguments);

}  // namespace gdelta::cli
