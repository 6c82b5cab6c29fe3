// Which arrays of a file come in segments that another array of it tells.
#include <algorithm>
#include <vector>

#include "codec/chunk/chunk_sizes.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/memory_sinks.h"
#include "codec/stream/segment_options.h"
#include "codec/stream/walk/byte_input.h"
#include "formats/foreign/foreign.h"
#include "gdelta/segment_stream.h"

namespace gdelta {

namespace {

constexpr std::uint64_t kOffsetsShare = 4;  // of the memory limit, for all offsets
// Files can be made so that every array tells segments of all others.
constexpr int kMostTrials = 16;
// Trials take as long as compressing so much, twice.
constexpr std::uint64_t kTrialBytes = std::uint64_t{1} << 19;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::uint64_t records_of(const FoundArray& array) {
  return array.bytes / array.layout.record_bytes();
}

bool may_be_offsets(const FoundArray& array) {
  if (array.layout.columns.size() != 1) return false;
  const Column& column = array.layout.columns[0];
  const int bytes = value_bytes(column.type);
  return column.tuple == 1 && !is_float(column.type) && (bytes == 4 || bytes == 8) &&
         records_of(array) > 1;
}

/// Negative numbers become large ones, which are no offsets.
std::uint64_t load_offset(std::span<const std::byte> value, bool big_endian) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < value.size(); ++i)
    offset =
        offset << 8 | std::to_integer<std::uint64_t>(value[big_endian ? i : value.size() - 1 - i]);
  return offset;
}

class SegmentSearch {
 public:
  SegmentSearch(const ReadAt& read_at, const EncodeOptions& options)
      : read_at_(read_at),
        options_(options),
        most_offsets_(options.memory_limit / kOffsetsShare / sizeof(std::uint64_t)) {
    options_.device = "cpu";  // a trial is over before a GPU has started
    options_.metadata.clear();
    options_.progress = nullptr;
  }

  Result<std::vector<ArraySegments>> run(const std::vector<FoundArray>& arrays) {
    std::vector<ArraySegments> found;
    for (const FoundArray& pointers : arrays) {
      const auto sized = arrays_of_records(arrays, pointers);
      if (!sized) return tl::unexpected(sized.error());
      if (sized->empty()) continue;
      const auto offsets = read_offsets(pointers);
      if (!offsets) return tl::unexpected(offsets.error());
      if (!check_offsets(*offsets, records_of(*sized->front()))) continue;
      for (const FoundArray* values : *sized) {
        const bool known = std::any_of(found.begin(), found.end(), [&](const ArraySegments& other) {
          return other.begin == values->begin;
        });
        if (known || offsets->size() > most_offsets_ || trials_ == kMostTrials) continue;
        ++trials_;
        const auto smaller = is_smaller_in_segments(*values, *offsets);
        if (!smaller) return tl::unexpected(smaller.error());
        if (!*smaller) continue;
        most_offsets_ -= offsets->size();
        found.push_back({.begin = values->begin, .offsets = *offsets});
      }
    }
    std::sort(found.begin(), found.end(),
              [](const ArraySegments& a, const ArraySegments& b) { return a.begin < b.begin; });
    return found;
  }

 private:
  /// Other arrays that have as many records as the last of `pointers` says, if the first one is 0.
  Result<std::vector<const FoundArray*>> arrays_of_records(const std::vector<FoundArray>& arrays,
                                                           const FoundArray& pointers) {
    std::vector<const FoundArray*> sized;
    if (!may_be_offsets(pointers) || records_of(pointers) > most_offsets_) return sized;
    const auto width = static_cast<std::uint64_t>(pointers.layout.record_bytes());
    const bool big_endian = pointers.layout.columns[0].big_endian;
    const auto first = read(pointers.begin, width);
    if (!first) return tl::unexpected(first.error());
    const auto last = read(pointers.begin + (records_of(pointers) - 1) * width, width);
    if (!last) return tl::unexpected(last.error());
    if (load_offset(*first, big_endian) != 0) return sized;
    for (const FoundArray& array : arrays)
      if (&array != &pointers && records_of(array) > 0 &&
          records_of(array) == load_offset(*last, big_endian))
        sized.push_back(&array);
    return sized;
  }

  Result<std::vector<std::uint64_t>> read_offsets(const FoundArray& pointers) {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(static_cast<std::size_t>(records_of(pointers)));
    const auto width = static_cast<std::size_t>(pointers.layout.record_bytes());
    const std::uint64_t end = pointers.begin + records_of(pointers) * width;
    for (std::uint64_t at = pointers.begin; at < end; at += kPieceBytes) {
      const auto piece = read(at, std::min<std::uint64_t>(kPieceBytes, end - at));
      if (!piece) return tl::unexpected(piece.error());
      for (std::size_t i = 0; i < piece->size(); i += width)
        offsets.push_back(load_offset(std::span(*piece).subspan(i, width),
                                      pointers.layout.columns[0].big_endian));
    }
    return offsets;
  }

  /// Tries it with the beginning of the array.
  Result<bool> is_smaller_in_segments(const FoundArray& values,
                                      std::span<const std::uint64_t> offsets) {
    options_.layout = values.layout;
    const std::uint64_t record_bytes = values.layout.record_bytes();
    const std::uint64_t records =
        std::min(records_of(values), records_per_chunk(kTrialBytes, record_bytes));
    const auto sample = read(values.begin, records * record_bytes);
    if (!sample) return tl::unexpected(sample.error());
    const auto beyond = std::upper_bound(offsets.begin(), offsets.end(), records);
    std::vector<std::uint64_t> within(offsets.begin(), beyond);
    if (within.back() < records) within.push_back(records);
    const auto plain = compress(*sample, options_);
    if (!plain) return tl::unexpected(plain.error());
    const auto segmented = compress_segments(within, *sample, options_);
    if (!segmented) return tl::unexpected(segmented.error());
    return segmented->size() < plain->size();
  }

  Result<std::vector<std::byte>> read(std::uint64_t at, std::uint64_t bytes) {
    std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
    const auto got = read_fully(read_at_, at, buffer);
    if (!got) return tl::unexpected(got.error());
    if (*got < buffer.size()) return fail(Errc::io_error, "became shorter while it was read");
    return buffer;
  }

  const ReadAt& read_at_;
  EncodeOptions options_;
  std::uint64_t most_offsets_;  // that may still be held
  int trials_ = 0;
};

/// Whether a writer that holds offsets has memory for the chunks of segments that it codes.
bool has_memory(EncodeOptions options) {
  if (options.memory_limit != ~std::uint64_t{0})
    options.memory_limit -= options.memory_limit / kOffsetsShare;
  return encode_budget(with_lengths(std::move(options)), true).has_value();
}

/// Whether a file may hold several arrays; anything else would be searched for numbers in vain.
Result<bool> is_known_format(const ReadAt& read_at, std::uint64_t file_bytes) {
  std::vector<std::byte> prefix(
      static_cast<std::size_t>(std::min<std::uint64_t>(file_bytes, format::kMostPrefixBytes)));
  const auto got = read_fully(read_at, 0, prefix);
  if (!got) return tl::unexpected(got.error());
  return format::recognise(std::span(prefix).first(*got), file_bytes).has_value();
}

}  // namespace

Result<std::vector<ArraySegments>> find_segments(const ReadAt& read_at, std::uint64_t file_bytes,
                                                 const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked) return tl::unexpected(checked.error());
  if (options.layout || !has_memory(options)) return std::vector<ArraySegments>{};
  const auto known = is_known_format(read_at, file_bytes);
  if (!known) return tl::unexpected(known.error());
  if (!*known) return std::vector<ArraySegments>{};
  const auto arrays = find_arrays(read_at, file_bytes, options);
  if (!arrays) return tl::unexpected(arrays.error());
  if (arrays->size() < 2) return std::vector<ArraySegments>{};
  return with_memory_errors<std::vector<ArraySegments>>(
      [&] { return SegmentSearch(read_at, options).run(*arrays); });
}

}  // namespace gdelta
