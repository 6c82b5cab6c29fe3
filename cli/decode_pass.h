// One file through the decoder: what decompress, test and cat share.
#pragma once

#include "command_line.h"
#include "gdelta/stream.h"
#include "input_file.h"

namespace gdelta::cli {

/// Decodes `input` into `sink`, showing progress; tells the console the decoder's warnings. `ends` gets
/// where segments end, if it is there.
Result<void> decode_file(InputFile& input, const Sink& sink, const DecodeOptions& options,
                         Console& console, const EndSink& ends = nullptr);

/// Does the same for what can be found of a damaged file. With `fill`, zeros stand for what is missing.
/// `gaps` gets the first thousand.
Result<SalvageReport> salvage_pass(InputFile& input, const Sink& sink, const DecodeOptions& options,
                                   bool fill, std::vector<SalvageGap>& gaps, Console& console);

}  // namespace gdelta::cli
