// Whole ragged streams in host memory, one call each way.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "codec/stream/fresh_memory.h"
#include "codec/stream/memory_decoder.h"
#include "codec/stream/memory_sinks.h"
#include "codec/stream/segment_options.h"
#include "codec/stream/segments_encoder.h"
#include "codec/stream/walk/byte_input.h"
#include "gdelta/segment_stream.h"

namespace gdelta {

namespace {

EndSink append_to(std::vector<std::uint64_t>& out) {
  return [&out](std::span<const std::uint64_t> ends) -> Result<void> {
    out.insert(out.end(), ends.begin(), ends.end());
    return {};
  };
}

}  // namespace

Result<void> check_offsets(std::span<const std::uint64_t> offsets, std::uint64_t records) {
  if (offsets.empty() || offsets[0] != 0)
    return fail(Errc::invalid_argument,
                "offsets of segments begin at 0, and there is one more than segments");
  std::uint64_t falls = 0;  // without a branch, for there may be as many offsets as values
  for (std::size_t k = 1; k < offsets.size(); ++k) falls += offsets[k] < offsets[k - 1] ? 1 : 0;
  if (falls == 0 && offsets.back() == records) return {};
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    if (offsets[k] < offsets[k - 1])
      return fail(Errc::invalid_argument,
                  fmt::format("offset {} is {}, below the one before it, {}", k, offsets[k],
                              offsets[k - 1]));
    if (offsets[k] > records)
      return fail(Errc::invalid_argument,
                  fmt::format("offset {} is {}, beyond the {} records", k, offsets[k], records));
  }
  return fail(Errc::invalid_argument, fmt::format("the last offset is {}, and there are {} records",
                                                  offsets.back(), records));
}

Result<std::vector<std::byte>> compress_segments(std::span<const std::uint64_t> offsets,
                                                 std::span<const std::byte> values,
                                                 const EncodeOptions& options) {
  return with_memory_errors<std::vector<std::byte>>([&]() -> Result<std::vector<std::byte>> {
    if (auto checked = check_segment_options(options); !checked)
      return tl::unexpected(checked.error());
    const std::uint64_t record_bytes = options.layout->record_bytes();
    if (auto checked = check_offsets(offsets, values.size() / record_bytes); !checked)
      return tl::unexpected(checked.error());
    if (values.size() % record_bytes != 0)
      return fail(Errc::invalid_argument, "the last record is torn");
    std::vector<std::byte> out;
    VectorSink sink(out, options.threads);
    if (auto done = encode_segments(sink, offsets, values, options); !done)
      return tl::unexpected(done.error());
    if (out.capacity() / 2 > out.size()) out.shrink_to_fit();  // more was expected
    return out;
  });
}

Result<SegmentedValues> decompress_segments(std::span<const std::byte> bytes,
                                            const DecodeOptions& options) {
  return with_memory_errors<SegmentedValues>([&]() -> Result<SegmentedValues> {
    WholeNeed need = need_of(bytes, options.memory_limit);
    const std::uint64_t held = need.bytes_with_offsets();
    if (auto checked = check_limits(need, held, options); !checked)
      return tl::unexpected(std::move(checked.error()));
    SegmentedValues out{.offsets = {}, .values = {}};
    fresh_room(out.offsets, need.segments + 1, options.threads);
    fresh_room(out.values, need.decoded_bytes, options.threads);
    out.offsets.push_back(0);
    out.values.resize(static_cast<std::size_t>(need.decoded_bytes));
    MemoryDecoder decoder(bytes, out.values, options, options.memory_limit - held,
                          append_to(out.offsets));
    if (auto done = decoder.run(std::move(need.chunks)); !done)
      return tl::unexpected(std::move(done.error()));
    return out;
  });
}

Result<SegmentedValues> decompress_segment_range(std::span<const std::byte> bytes,
                                                 std::uint64_t begin, std::uint64_t end,
                                                 const DecodeOptions& options) {
  return with_memory_errors<SegmentedValues>([&]() -> Result<SegmentedValues> {
    SegmentedValues out{.offsets = {0}, .values = {}};
    auto reader = RangeReader::open(read_from(bytes), bytes.size(), options);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    if (auto read =
            reader->read_segments(begin, end, append_to(out.values), append_to(out.offsets));
        !read)
      return tl::unexpected(read.error());
    return out;
  });
}

}  // namespace gdelta
