// One file through the decoder: what decompress, test and cat share.
#pragma once

#include "command_line.h"
#include "gdelta/stream.h"
#include "input_file.h"

namespace gdelta::cli {

/// Decodes `input` into `sink`, showing progress; tells the console the decoder's warnings.
Result<void> decode_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                         Console& console);

/// The same as far as the file is whole.
Result<SalvageReport> salvage_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                                   Console& console);

}  // namespace gdelta::cli
