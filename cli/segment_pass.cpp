#include "segment_pass.h"

#include <fmt/core.h>

#include <algorithm>

namespace gdelta::cli {

namespace {

/// An error of the file of offsets, which nobody else names.
tl::unexpected<Error> fail_in(const std::string& path, Error error) {
  error.message = fmt::format("{}: {}", path, error.message);
  return tl::unexpected(std::move(error));
}

/// The first array of a file, by what was given or by a look at it.
Result<FoundArray> first_array(const InputFile& input, const EncodeOptions& options) {
  const auto arrays = find_arrays(input.reader_at(), input.size(), options);
  if (!arrays) return tl::unexpected(arrays.error());
  if (!arrays->empty()) return arrays->front();
  return FoundArray{.layout = options.layout.value_or(byte_layout())};  // the file is empty
}

/// With a type that is given, the head of a file counts as numbers, too: then offsets that do not fit are not to blame.
std::string advice_on_head(const InputFile& input, EncodeOptions options) {
  if (!options.layout) return {};
  options.layout.reset();
  const auto array = first_array(input, options);
  if (!array || array->begin == 0) return {};
  return fmt::format("; {} begins with a head that tells its type: leave --type and --record out",
                     input.name());
}

}  // namespace

std::uint64_t InputSegments::count() const {
  std::uint64_t segments = 0;
  for (const ArraySegments& array : arrays) segments += array.offsets.size() - 1;
  return segments;
}

Result<InputSegments> read_segments(const InputFile& input, const std::string& path,
                                    const EncodeOptions& options) {
  if (!input.is_regular() || input.is_stdin())
    return fail(Errc::invalid_argument, "is no regular file; with --segments its length counts");
  const auto array = first_array(input, options);
  if (!array) return tl::unexpected(array.error());
  const std::uint64_t record_bytes = array->layout.record_bytes();
  if (array->bytes % record_bytes != 0)
    return fail(Errc::invalid_argument,
                fmt::format("has {} bytes, no whole number of {}{}", array->bytes,
                            to_string(array->layout), advice_on_head(input, options)));
  auto read = read_offsets(path, array->bytes / record_bytes, options.memory_limit);
  if (!read) {
    if (read.error().code == Errc::invalid_argument)
      read.error().message += advice_on_head(input, options);
    return fail_in(path, read.error());
  }
  InputSegments segments{.arrays = {}, .form = read->form};
  segments.arrays.push_back({.begin = array->begin, .offsets = std::move(read->offsets)});
  return segments;
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
