// Whether a compressed file gives its input back: it is decoded once more, and what comes is compared.
#pragma once

#include "console.h"
#include "gdelta/codec.h"
#include "input_file.h"

namespace gdelta::cli {

/// Reads the regular file `output` and compares its values with the bytes of `input`, a regular file, too; tells the
/// console what is wrong.
bool gives_back(const InputFile& input, const std::string& output, const DecodeOptions& options,
                Console& console);

}  // namespace gdelta::cli
