// A memory limit on compressing bounds what is held, changes no byte, and is refused if one chunk at
// a time does not fit.
#include "codec/stream/encode_budget.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/stream_tools.h"
#include "codec/stream/walk/memory_words.h"
#include "gdelta/segment_stream.h"
#include "held_memory.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

// The sample, buffers' spare room and the like: the promise allows 32 MiB.
constexpr std::uint64_t kFixedOfWriting = 16 * kMiB;

/// How a Writer gets its input.
enum class CompressWay { portions, file };

/// Compresses through a Writer, counting what comes.
Result<std::uint64_t> count_encoded(const Bytes& values, const EncodeOptions& options,
                                    CompressWay way = CompressWay::portions) {
  std::uint64_t bytes = 0;
  const Sink count = [&bytes](std::span<const std::byte> block) -> Result<void> {
    bytes += block.size();
    return {};
  };
  Writer writer(count, options);
  if (way == CompressWay::file) {
    writer.set_total_bytes(values.size());
    if (auto written = writer.write_file(file_of(values)); !written)
      return tl::unexpected(written.error());
  }
  for (std::size_t at = 0; way == CompressWay::portions && at < values.size(); at += kMiB) {
    const auto portion =
        std::span(values).subspan(at, std::min<std::size_t>(kMiB, values.size() - at));
    if (auto written = writer.write(portion); !written) return tl::unexpected(written.error());
  }
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return bytes;
}

TEST(CompressLimit, BoundsWhatIsHeldAndChangesNoByte) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes values = random_bytes(24 * kMiB);
  for (const int level : {1, 4}) {
    EncodeOptions options = encode_on_cpu("i32", 2);
    options.level = level;
    const std::uint64_t free_size = count_encoded(values, options).value();
    const std::uint64_t scratch = encode_scratch_bytes(options, chunk_bytes_of(options));
    for (const std::uint64_t limit :
         {scratch + 2 * kMiB, scratch + 4 * kMiB, 2 * scratch + 12 * kMiB}) {
      SCOPED_TRACE(limit);
      options.memory_limit = limit;
      for (const CompressWay way : {CompressWay::portions, CompressWay::file}) {
        const HeldMemory held;
        EXPECT_EQ(count_encoded(values, options, way).value(), free_size);
        EXPECT_LE(held.peak(), limit + kFixedOfWriting);
      }
    }
  }
}

TEST(CompressLimit, BatchesOfAWholeInputInMemoryAreBoundedToo) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes values = random_bytes(24 * kMiB);
  EncodeOptions options = encode_on_cpu("i32", 2);
  options.level = 1;
  options.coder = Coder::raw;
  options.memory_limit = encode_scratch_bytes(options, chunk_bytes_of(options)) + 2 * kMiB;
  const HeldMemory held;
  const auto stream = compress(values, options);
  ASSERT_TRUE(stream);
  // The result is there twice while it grows; beside it a batch, for which 2 MiB are left.
  EXPECT_LE(held.peak(), 2 * stream->size() + 4 * kMiB);
}

TEST(CompressLimit, OneThreadHoldsNoMoreThanIsSaidForAnyCoder) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  struct Case {
    const char* record;
    int level;
    std::uint64_t chunk_bytes;
    std::optional<Coder> coder;
  };
  const Case cases[] = {{"u8", 1, 4 * kMiB, Coder::zstd},    {"i32", 5, 0, std::nullopt},
                        {"f64x2", 6, 0, Coder::zstd},        {"u8", 7, 0, Coder::zstd},
                        {"i16", 9, 2 * kMiB, std::nullopt},  {"i64", 3, 8 * kMiB, Coder::pack},
                        {"u8,i16x3", 3, kMiB, std::nullopt}, {"u8", 1, 1 << 16, Coder::raw}};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.record) + " level " + std::to_string(c.level));
    EncodeOptions options = encode_on_cpu(c.record);
    options.level = c.level;
    options.chunk_bytes = c.chunk_bytes;
    options.coder = c.coder;
    const std::uint64_t chunk = chunk_bytes_of(options);
    const Bytes values = c.level >= 7 ? walk_bytes(chunk) : random_bytes(chunk);
    const HeldMemory held;
    const auto stream = compress(values, options);
    ASSERT_TRUE(stream);
    EXPECT_LE(held.peak(), encode_scratch_bytes(options, chunk) + 3 * chunk + kMiB);
  }
}

/// Compresses segments of `segment_bytes` as they come, counting what comes.
Result<std::uint64_t> count_segments(const Bytes& values, std::size_t segment_bytes,
                                     const EncodeOptions& options) {
  std::uint64_t bytes = 0;
  const Sink count = [&bytes](std::span<const std::byte> block) -> Result<void> {
    bytes += block.size();
    return {};
  };
  SegmentWriter writer(count, options);
  for (std::size_t at = 0; at < values.size(); at += segment_bytes) {
    const auto segment = std::span(values).subspan(at, std::min(segment_bytes, values.size() - at));
    if (auto written = writer.write(segment); !written) return tl::unexpected(written.error());
    if (auto ended = writer.end_segment(); !ended) return tl::unexpected(ended.error());
  }
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return bytes;
}

/// The lowest limit that is not refused; the message says it in MiB, rounded up.
std::uint64_t need_of_segments(EncodeOptions options, std::size_t segment_bytes) {
  options.memory_limit = 1;
  const Bytes few(12);
  const std::string refusal = count_segments(few, segment_bytes, options).error().message;
  std::uint64_t enough = std::stoull(refusal.substr(refusal.find("takes ") + 6)) * kMiB;
  EXPECT_NE(refusal.find(needed_memory(enough)), std::string::npos) << refusal;
  std::uint64_t refused = enough - kMiB;
  while (enough - refused > 1) {
    options.memory_limit = refused + (enough - refused) / 2;
    (count_segments(few, segment_bytes, options) ? enough : refused) = options.memory_limit;
  }
  return enough;
}

TEST(CompressLimit, BoundsSegmentsHoweverLongTheyAre) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  struct Case {
    const char* record;
    std::size_t segment_bytes, bytes;
    int level;
    std::optional<Coder> coder;
  };
  const Case cases[] = {
      {"u8", 1, 4 * kMiB, 1, std::nullopt},      {"i32", 4, 8 * kMiB, 1, std::nullopt},
      {"i32", 4000, 16 * kMiB, 1, std::nullopt}, {"i32", 32 * kMiB, 16 * kMiB, 1, std::nullopt},
      {"i64", 80, 12 * kMiB, 4, std::nullopt},   {"u8", 3, 4 * kMiB, 5, Coder::zstd}};
  for (const Case& c : cases) {
    EncodeOptions options = encode_on_cpu(c.record, 4);
    options.level = c.level;
    options.coder = c.coder;
    const Bytes values = random_bytes(c.bytes);
    const std::uint64_t free_size = count_segments(values, c.segment_bytes, options).value();
    const std::uint64_t need = need_of_segments(options, c.segment_bytes);
    for (const std::uint64_t limit : {need, 2 * need + 12 * kMiB}) {
      SCOPED_TRACE(std::string(c.record) + " segments of " + std::to_string(c.segment_bytes) +
                   " bytes, limit " + std::to_string(limit));
      options.memory_limit = limit;
      const HeldMemory held;
      EXPECT_EQ(count_segments(values, c.segment_bytes, options).value(), free_size);
      EXPECT_LE(held.peak(), limit);
    }
  }
}

TEST(CompressLimit, WhatDoesNotFitIsRefusedWithItsNeed) {
  EncodeOptions options = encode_on_cpu("i32");
  const std::uint64_t need = 2 * kMiB + encode_scratch_bytes(options, kMiB);
  options.memory_limit = need - 1;
  const auto refused = count_encoded(Bytes(100), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::memory_limit);
  EXPECT_NE(refused.error().message.find("takes " + needed_memory(need)), std::string::npos);
  options.memory_limit = need;
  EXPECT_TRUE(count_encoded(Bytes(100), options));
  options.memory_limit = 1000;
  EXPECT_EQ(compress(Bytes(100), options).error().code, Errc::memory_limit);
}

TEST(CompressLimit, ShortChunksDoNotFillABatchWithNotes) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  EncodeOptions options = encode_on_cpu("u8");
  options.level = 1;
  options.coder = Coder::raw;
  options.chunk_bytes = 1;
  const Bytes values = random_bytes(150000);
  const HeldMemory held;
  ASSERT_TRUE(count_encoded(values, options));
  EXPECT_LE(held.peak(), 24 * kMiB);
}

}  // namespace
}  // namespace gdelta::test
