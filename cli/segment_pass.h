// Files whose values come in segments.
#pragma once

#include <cstdint>
#include <string>

#include "gdelta/segment_stream.h"
#include "input_file.h"

namespace gdelta::cli {

struct SegmentsDone {
  Layout layout;
  bool found = false;  // the layout, in a sample
  std::uint64_t segments = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

/// Compresses a regular file in segments that begin at the offsets in the file `offsets`.
/// Errors      those of both files, and of compress_segments
Result<SegmentsDone> compress_segment_pass(InputFile& input, const std::string& offsets,
                                           EncodeOptions options, const Sink& sink);

/// Collects where segments end and writes it to a file that appears when it is complete.
class OffsetsWriter {
 public:
  EndSink sink();
  /// `entries` are those of the compressed file.
  Result<void> write(const std::string& path, bool overwrite, const InputFile& input,
                     const std::vector<MetadataEntry>& entries) const;

 private:
  std::vector<std::uint64_t> offsets_ = {0};
};

}  // namespace gdelta::cli
