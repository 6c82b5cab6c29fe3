// A memory limit bounds what decoding really holds, whatever the file says, and what does not fit is
// refused before it is allocated; and a limit on the output bounds what a small file may decode to.
#include <numeric>

#include "codec/stream/decode_load.h"
#include "codec/stream/stream_tools.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/memory_words.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/stream_header.h"
#include "gdelta/segment_stream.h"
#include "held_memory.h"
#include "mebibyte.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

// Buffers of fixed size: the promise allows 32 MiB.
constexpr std::uint64_t kFixedOfReading = 6 * kMiB;

DecodeOptions limited(std::uint64_t memory_limit, int threads = 1) {
  DecodeOptions options = decode_on_cpu(threads);
  options.memory_limit = memory_limit;
  return options;
}

/// Reads to the end, keeping nothing.
Result<std::uint64_t> count_decoded(std::span<const std::byte> stream,
                                    const DecodeOptions& options) {
  std::uint64_t bytes = 0;
  Reader reader(source_of(stream), options);
  const Sink count = [&bytes](std::span<const std::byte> values) -> Result<void> {
    bytes += values.size();
    return {};
  };
  if (auto done = reader.run(count); !done) return tl::unexpected(done.error());
  return bytes;
}

/// What the chunk that needs most needs by itself.
std::uint64_t need_of(const Bytes& stream) {
  const ReadAt read_at = read_from(stream);
  FileInput input(read_at, stream.size());
  BlockStream blocks(input, ~0ull);
  std::uint64_t most = 0;
  for (;;) {
    const auto chunk = blocks.next().value();
    if (!chunk) return most;
    DecodeLoad load(1);
    load.add(*chunk);
    most = std::max(most, load.bytes());
    EXPECT_TRUE(blocks.skip_payload(*chunk));
  }
}

TEST(MemoryLimit, OnlyTheFirstChunkOfABatchHasItsHeadTwice) {
  EncodeOptions encode = encode_on_cpu("i32");
  encode.coder = Coder::pack;
  encode.chunk_bytes = kMiB;
  const Bytes stream = compress(walk_bytes(3 * kMiB), encode).value();
  const ReadAt read_at = read_from(stream);
  FileInput input(read_at, stream.size());
  BlockStream blocks(input, ~0ull);
  DecodeLoad load(1);
  std::vector<std::uint64_t> noted = {0}, heads;
  for (int i = 0; i < 3; ++i) {
    const auto chunk = blocks.next().value();
    heads.push_back(chunk->head.size());
    load.add(*chunk);
    noted.push_back(load.work_bytes());
    EXPECT_TRUE(blocks.skip_payload(*chunk));
  }
  EXPECT_EQ(noted[3] - noted[2], noted[2] - noted[1]);
  EXPECT_GE(noted[1], noted[2] - noted[1] + heads[0]);
}

TEST(MemoryLimit, OneChunkOfEveryCoderHoldsNoMoreThanItIsSaidToNeed) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes values = walk_bytes(8 * kMiB);
  for (const Coder coder : asked_coders()) {
    SCOPED_TRACE(coder_name(coder));
    EncodeOptions encode = encode_on_cpu("i32");
    encode.level = 1;
    encode.chunk_bytes = values.size();
    encode.coder = coder;
    const Bytes stream = compress(values, encode).value();
    const std::uint64_t need = need_of(stream);
    const HeldMemory held;
    EXPECT_EQ(count_decoded(stream, limited(need)).value(), values.size());
    EXPECT_LE(held.peak(), need + kFixedOfReading);
    const HeldMemory held_whole;
    EXPECT_EQ(decompress(stream, limited(need)).value().size(), values.size());
    EXPECT_LE(held_whole.peak(), need + kFixedOfReading);
    const HeldMemory refused;
    EXPECT_EQ(count_decoded(stream, limited(need - 1)).error().code, Errc::memory_limit);
    EXPECT_LE(refused.peak(), kMiB);
  }
}

TEST(MemoryLimit, BatchesAreBoundedByIt) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes values = random_bytes(24 * kMiB);
  for (const Coder coder : {Coder::raw, Coder::zstd}) {
    EncodeOptions encode = encode_on_cpu("u8");
    encode.level = 1;
    encode.coder = coder;
    const Bytes stream = compress(values, encode).value();
    for (const std::uint64_t limit : {4 * kMiB, 10 * kMiB, 20 * kMiB})
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(limit);
        const HeldMemory held;
        EXPECT_EQ(count_decoded(stream, limited(limit, threads)).value(), values.size());
        EXPECT_LE(held.peak(), limit + kFixedOfReading);
      }
  }
}

TEST(MemoryLimit, MillionsOfShortChunksDoNotAddUp) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes one = compress(Bytes(1, std::byte{7}), encode_on_cpu("u8")).value();
  const StreamInfo info = inspect(one).value();
  const ChunkInfo& chunk = info.chunks.at(0);
  constexpr std::size_t kChunks = 200000;
  Bytes stream(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(chunk.byte));
  for (std::size_t i = 0; i < kChunks; ++i)
    stream.insert(stream.end(), one.begin() + static_cast<std::ptrdiff_t>(chunk.byte),
                  one.begin() + static_cast<std::ptrdiff_t>(chunk.byte + chunk.block_bytes));
  format::append_end_block(stream, 0, {});
  for (const std::uint64_t limit : {kMiB, 8 * kMiB}) {
    const HeldMemory held;
    EXPECT_EQ(count_decoded(stream, limited(limit)).value(), kChunks);
    EXPECT_LE(held.peak(), limit + kMiB);
  }
  // Without a limit worth the name, a batch ends all the same.
  const HeldMemory held;
  EXPECT_EQ(count_decoded(stream, decode_on_cpu()).value(), kChunks);
  EXPECT_LE(held.peak(), 32 * kMiB);
  const HeldMemory whole;
  EXPECT_EQ(decompress(stream, limited(kMiB)).value().size(), kChunks);
  EXPECT_LE(whole.peak(), 2 * kMiB);
  const HeldMemory unlimited;
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value().size(), kChunks);
  EXPECT_LE(unlimited.peak(), 48 * kMiB);
}

TEST(MemoryLimit, LayoutsCount) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  Layout wide;
  wide.columns.assign(kMaxColumns, {ValueType::u8, 1, false});
  EncodeOptions encode = encode_on_cpu();
  encode.layout = wide;
  encode.coder = Coder::raw;
  const Bytes one = compress(random_bytes(kMaxColumns), encode).value();
  const ChunkInfo chunk = inspect(one).value().chunks.at(0);
  Bytes stream(one.begin(), one.begin() + format::kStreamHeaderBytes);
  constexpr std::size_t kTimes = 1500;
  for (std::size_t i = 0; i < kTimes; ++i)
    stream.insert(stream.end(), one.begin() + format::kStreamHeaderBytes,
                  one.begin() + static_cast<std::ptrdiff_t>(chunk.byte + chunk.block_bytes));
  format::append_end_block(stream, 0, {});
  constexpr std::uint64_t kLimit = 4 * kMiB;
  const HeldMemory held;
  EXPECT_EQ(count_decoded(stream, limited(kLimit)).value(), kTimes * kMaxColumns);
  EXPECT_LE(held.peak(), kLimit + kMiB);
}

TEST(MemoryLimit, MemoryIsGivenBackAfterALongChunk) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  EncodeOptions encode = encode_on_cpu("u8");
  encode.level = 1;
  encode.coder = Coder::raw;
  encode.chunk_bytes = 16 * kMiB;
  const Bytes long_chunk = compress(random_bytes(16 * kMiB), encode).value();
  encode.chunk_bytes = 256 << 10;
  const Bytes short_chunks = compress(random_bytes(8 * kMiB), encode).value();
  const Bytes stream = join({long_chunk, short_chunks});
  std::uint64_t later = 0;
  std::uint64_t decoded = 0;
  const HeldMemory held;
  DecodeOptions options = limited(40 * kMiB);
  Reader reader(source_of(stream), options);
  ASSERT_TRUE(reader.run([&](std::span<const std::byte> values) -> Result<void> {
    decoded += values.size();
    if (decoded == 24 * kMiB) later = held.now();
    return {};
  }));
  EXPECT_GE(held.peak(), 32 * kMiB);
  EXPECT_GT(later, 0u);
  EXPECT_LE(later, 24 * kMiB);
}

TEST(MemoryLimit, HeadsOfBlocksAreUnderIt) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  constexpr std::uint64_t kHead = 1 << 20;
  for (const auto tag : {format::BlockTag::layout, format::BlockTag::chunk}) {
    Bytes stream(format::kStreamHeader.begin(), format::kStreamHeader.end());
    format::append_block(stream, tag, Bytes(kHead));
    const HeldMemory held;
    const auto refused = count_decoded(stream, limited(64 << 10));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::memory_limit);
    EXPECT_LE(held.peak(), kHead);
    EXPECT_EQ(count_decoded(stream, limited(kHead)).error().code, Errc::corrupt);
    EXPECT_EQ(decompress(stream, limited(64 << 10)).error().code, Errc::memory_limit);
  }
}

TEST(MemoryLimit, EndsOfManySegmentsAreToldWithoutBeingHeld) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  constexpr std::uint64_t kSegments = 3 << 20;
  std::vector<std::uint64_t> offsets(kSegments + 1);
  std::iota(offsets.begin(), offsets.end(), std::uint64_t{0});
  const Bytes values(kSegments, std::byte{7});
  const auto stream = compress_segments(offsets, values, encode_on_cpu("u8"));
  ASSERT_TRUE(stream);
  for (const std::uint64_t limit : {8 * kMiB, 24 * kMiB}) {
    const HeldMemory held;
    Reader reader(source_of(*stream), limited(limit, 2));
    std::uint64_t told = 0;
    const auto done =
        reader.run_segments([](std::span<const std::byte>) { return Result<void>(); },
                            [&told](std::span<const std::uint64_t> ends) -> Result<void> {
                              told += ends.size();
                              return {};
                            });
    EXPECT_TRUE(done);
    EXPECT_EQ(told, kSegments);
    EXPECT_LE(held.peak(), limit + kFixedOfReading);
  }
}

TEST(MemoryLimit, TheMessageSaysHowMuchIsNeeded) {
  const Bytes stream = compress(random_bytes(kMiB), encode_on_cpu("u8")).value();
  const std::uint64_t need = need_of(stream);
  const auto refused = count_decoded(stream, limited(kMiB));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("takes " + needed_memory(need) +
                                         ", more than the memory limit of 1 MiB"),
            std::string::npos)
      << refused.error().message;
}

TEST(OutputLimit, WhatGoesBeyondIsRefusedAndWhatFitsComes) {
  EncodeOptions encode = encode_on_cpu("u8");
  encode.chunk_bytes = 1 << 16;
  const Bytes values = random_bytes(5 << 16);
  const Bytes stream = compress(values, encode).value();
  DecodeOptions options = decode_on_cpu();
  for (const std::uint64_t limit : std::vector<std::uint64_t>{0, 3 << 16, (5 << 16) - 1}) {
    options.output_limit = limit;
    const auto whole = decompress(stream, options);
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().code, Errc::output_limit);
    Bytes out;
    Reader reader(source_of(stream), options);
    const auto read = reader.run(append_to(out));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::output_limit);
    EXPECT_EQ(read.error().chunk, limit >> 16);
    EXPECT_EQ(out.size(), limit >> 16 << 16);
    EXPECT_TRUE(starts_with(values, out));
    EXPECT_NE(read.error().message.find(std::to_string(limit)), std::string::npos);
    EXPECT_EQ(read.error().message, whole.error().message);
    EXPECT_EQ(decompress_range(stream, 0, values.size(), options).error().message,
              whole.error().message);
    Reader salvaging(source_of(stream), options);
    EXPECT_EQ(salvaging.salvage(append_to(out)).error().message, whole.error().message);
  }
  options.output_limit = values.size();
  EXPECT_EQ(decompress(stream, options).value(), values);
  EXPECT_EQ(read_stream(source_of(stream), options).value(), values);
  Bytes out(values.size());
  EXPECT_TRUE(decompress_into(stream, out, options));
  options.output_limit -= 1;
  EXPECT_EQ(decompress_into(stream, out, options).error().code, Errc::output_limit);
}

}  // namespace
}  // namespace gdelta::test
