#include "segment_pass.h"

#include <fmt/core.h>

#include <algorithm>

namespace gdelta::cli {

namespace {

constexpr std::size_t kSampleBytes = std::size_t{4} << 20;

/// An error of the file of offsets, which nobody else names.
tl::unexpected<Error> fail_in(const std::string& path, Error error) {
  error.message = fmt::format("{}: {}", path, error.message);
  return tl::unexpected(std::move(error));
}

/// What the values are, by what was given or by a sample.
Result<FoundLayout> layout_of(const InputFile& input, const EncodeOptions& options) {
  if (options.layout) return FoundLayout{*options.layout, "given"};
  std::vector<std::byte> sample(kSampleBytes);
  const auto got = input.reader_at()(0, sample);
  if (!got) return tl::unexpected(got.error());
  auto found = find_layout(std::span(sample).first(*got), options);
  if (found && found->origin != "found")
    return fail(Errc::invalid_argument,
                "segments are those of a bare file of values: this one has a head");
  return found;
}

/// Writes the next segment, piece by piece.
class SegmentPump {
 public:
  SegmentPump(InputFile& input, SegmentWriter& writer, std::uint64_t record_bytes)
      : input_(input), writer_(writer), buffer_(kSampleBytes / record_bytes * record_bytes) {}

  Result<void> pass(std::uint64_t bytes) {
    while (bytes > 0) {
      if (at_ == end_)
        if (auto filled = fill(); !filled) return filled;
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end_ - at_));
      if (auto written = writer_.write(std::span(buffer_).subspan(at_, count)); !written)
        return written;
      at_ += count;
      bytes -= count;
    }
    return writer_.end_segment();
  }

 private:
  // Records are whole in the buffer, so that they are in every piece.
  Result<void> fill() {
    at_ = end_ = 0;
    while (end_ < buffer_.size()) {
      const auto got = input_.read(std::span(buffer_).subspan(end_));
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      end_ += *got;
    }
    if (end_ > 0) return {};
    return fail(Errc::io_error, "became shorter while it was read");
  }

  InputFile& input_;
  SegmentWriter& writer_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

Result<SegmentsDone> compress_segment_pass(InputFile& input, const std::string& offsets,
                                           EncodeOptions options, const Sink& sink) {
  if (!input.is_regular() || input.is_stdin())
    return fail(Errc::invalid_argument, "is no regular file; with --segments its length counts");
  const auto found = layout_of(input, options);
  if (!found) return tl::unexpected(found.error());
  const std::uint64_t record_bytes = found->layout.record_bytes();
  const auto bytes = static_cast<std::uint64_t>(input.status().st_size);
  if (bytes % record_bytes != 0)
    return fail(Errc::invalid_argument, fmt::format("has {} bytes, no whole number of {}", bytes,
                                                    to_string(found->layout)));
  const auto read = read_offsets(offsets, bytes / record_bytes, options.memory_limit);
  if (!read) return fail_in(offsets, read.error());
  options.layout = found->layout;
  options.metadata.push_back({std::string(kOffsetsKey), read->form.text()});
  // They are held beside what the writer holds.
  if (options.memory_limit != ~std::uint64_t{0})
    options.memory_limit -= read->offsets.size() * sizeof(read->offsets[0]);
  SegmentWriter writer(sink, options);
  SegmentPump pump(input, writer, record_bytes);
  for (std::size_t k = 1; k < read->offsets.size(); ++k)
    if (auto passed = pump.pass((read->offsets[k] - read->offsets[k - 1]) * record_bytes); !passed)
      return tl::unexpected(passed.error());
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return SegmentsDone{.layout = found->layout,
                      .found = found->origin == "found",
                      .segments = writer.segments(),
                      .bytes_in = writer.bytes_in(),
                      .bytes_out = writer.bytes_out()};
}

Result<OffsetsWriter> OffsetsWriter::create(const std::string& path, bool overwrite,
                                            const InputFile& input,
                                            const std::vector<MetadataEntry>& entries,
                                            std::uint64_t segments) {
  const auto said = std::find_if(entries.begin(), entries.end(), [](const MetadataEntry& entry) {
    return entry.key == kOffsetsKey;
  });
  const OffsetsForm form = said == entries.end() ? OffsetsForm() : OffsetsForm::of(said->value);
  auto output = OutputFile::create(path, overwrite, input);
  if (!output) return fail_in(path, output.error());
  OffsetsWriter writer(std::move(*output), path, form, segments);
  const std::string head = offsets_head(segments + 1, form);
  if (auto written = writer.output_.write(std::as_bytes(std::span(head))); !written)
    return fail_in(path, written.error());
  constexpr std::uint64_t kFirst = 0;
  if (auto put = writer.put({&kFirst, 1}); !put) return tl::unexpected(put.error());
  return writer;
}

Result<void> OffsetsWriter::put(std::span<const std::uint64_t> offsets) {
  if (auto written = output_.write(offsets_bytes(offsets, form_)); !written)
    return fail_in(path_, written.error());
  return {};
}

EndSink OffsetsWriter::sink() {
  return [this](std::span<const std::uint64_t> ends) {
    told_ += ends.size();
    return put(ends);
  };
}

Result<void> OffsetsWriter::commit(const InputFile& input) {
  if (told_ != segments_)
    return fail(Errc::corrupt,
                fmt::format("has {} segments, and its index says {}", told_, segments_));
  if (auto placed = output_.commit(input, false); !placed) return fail_in(path_, placed.error());
  return {};
}

}  // namespace gdelta::cli
