// Files whose values come in segments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gdelta/segment_stream.h"
#include "input_file.h"
#include "offsets_file.h"
#include "output_file.h"

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

/// Writes where segments end to a file as it is told of them, which appears when it is complete. However
/// many there are, none are held.
class OffsetsWriter {
 public:
  /// `entries` are those of the compressed file, which has so many segments.
  static Result<OffsetsWriter> create(const std::string& path, bool overwrite,
                                      const InputFile& input,
                                      const std::vector<MetadataEntry>& entries,
                                      std::uint64_t segments);
  EndSink sink();
  /// Errors      io_error; corrupt: other than so many segments came
  Result<void> commit(const InputFile& input);

 private:
  OffsetsWriter(OutputFile output, std::string path, OffsetsForm form, std::uint64_t segments)
      : output_(std::move(output)), path_(std::move(path)), form_(form), segments_(segments) {}
  Result<void> put(std::span<const std::uint64_t> offsets);

  OutputFile output_;
  std::string path_;
  OffsetsForm form_;
  std::uint64_t segments_;
  std::uint64_t told_ = 0;
};

}  // namespace gdelta::cli
