// Files whose values come in segments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gdelta/segment_stream.h"
#include "input_file.h"
#include "offsets_file.h"
#include "output_file.h"

namespace gdelta::cli {

/// What is known of the segments of a regular file before it is compressed.
struct InputSegments {
  std::vector<ArraySegments> arrays;
  std::optional<OffsetsForm> form;  // of the file that they were read from, if they were

  std::uint64_t count() const;
};

/// Reads where segments of the numbers in `input` begin from the file `path`: of the first array, if it
/// has a head.
/// Errors      those of both files; invalid_argument: `input` is no regular file or torn, or they do not fit
Result<InputSegments> read_segments(const InputFile& input, const std::string& path,
                                    const EncodeOptions& options);

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
