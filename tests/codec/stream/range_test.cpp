// Ranges of the decoded bytes, and the structure they are found by.
#include <fmt/core.h>

#include "codec/stream/stream_tools.h"
#include "codec/stream/walk/byte_input.h"

namespace gdelta::test {
namespace {

/// Memory as a file that counts what is read.
struct CountingFile {
  Bytes bytes;
  std::uint64_t read = 0;

  ReadAt reader() {
    return [this](std::uint64_t offset, std::span<std::byte> buffer) -> Result<std::size_t> {
      EXPECT_LE(offset + buffer.size(), bytes.size()) << "nothing is there";
      if (offset >= bytes.size()) return std::size_t{0};
      const std::size_t count = std::min(buffer.size(), bytes.size() - offset);
      std::memcpy(buffer.data(), bytes.data() + offset, count);
      read += count;
      return count;
    };
  }
  Result<Bytes> range(std::uint64_t begin, std::uint64_t end,
                      const DecodeOptions& options = decode_on_cpu()) {
    Bytes out;
    if (auto done = read_range(reader(), bytes.size(), begin, end, append_to(out), options); !done)
      return tl::unexpected(done.error());
    return out;
  }
};

Bytes slice(const Bytes& bytes, std::size_t begin, std::size_t end) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(begin),
          bytes.begin() + static_cast<std::ptrdiff_t>(end)};
}

EncodeOptions in_many_chunks() {
  EncodeOptions options = encode_on_cpu("i32x3");
  options.chunk_bytes = 1200;
  return options;
}

TEST(Range, EveryKindOfFileGivesEveryRange) {
  const Bytes values = walk_bytes(12 * 700 + 5);
  const Bytes stream = compress(values, in_many_chunks()).value();
  const Bytes small = compress(values, encode_on_cpu("i32x3")).value();
  Bytes skippable = {std::byte{0x53}, std::byte{0x2A}, std::byte{0x4D}, std::byte{0x18},
                     std::byte{2},    std::byte{0},    std::byte{0},    std::byte{0},
                     std::byte{9},    std::byte{9}};
  struct Case {
    const char* name;
    Bytes file;
    Bytes values;
  };
  const Case cases[] = {
      {"indexed", stream, values},
      {"one chunk and a tail", small, values},
      {"two indexed", join({stream, stream}), join({values, values})},
      {"frame before", join({skippable, stream}), values},
      {"frame before two", join({skippable, stream, stream}), join({values, values})}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    CountingFile file{c.file};
    const std::size_t size = c.values.size();
    for (const auto& [begin, end] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                          {0, 1},
                                                          {0, size},
                                                          {size, size},
                                                          {size - 1, size},
                                                          {1199, 1201},
                                                          {1200, 2400},
                                                          {5, 6000},
                                                          {size / 2, size / 2 + 1},
                                                          {7000, size}}) {
      const auto range = file.range(begin, end);
      ASSERT_TRUE(range) << range.error().to_string();
      EXPECT_EQ(*range, slice(c.values, begin, end)) << begin << ':' << end;
      EXPECT_EQ(decompress_range(c.file, begin, end, decode_on_cpu()).value(), *range);
    }
  }
}

TEST(Range, ReadsOnlyTheIndexAndTheChunksItNeeds) {
  EncodeOptions options = encode_on_cpu("u8");
  options.coder = Coder::raw;
  options.chunk_bytes = 10000;
  const Bytes values = random_bytes(1000000);
  CountingFile file{compress(values, options).value()};
  EXPECT_EQ(file.range(505000, 505010).value(), slice(values, 505000, 505010));
  constexpr std::uint64_t kIndexBytes =
      3 * (100 * 11 + 50);  // to check it, to sum it up, to use it
  EXPECT_LT(file.read, 10000 + 100 + kIndexBytes);

  // Without an index the head of every block is read, once for the sums and again up to the chunk, but
  // no payload.
  Bytes tail = compress(Bytes(10), options).value();
  CountingFile walked{join({file.bytes, tail})};
  EXPECT_EQ(walked.range(505000, 505010).value(), slice(values, 505000, 505010));
  EXPECT_LT(walked.read, 10000 + 2 * 101 * 600 + 2 * kIndexBytes);
  // Nor is a head read that lies behind the range.
  walked.read = 0;
  EXPECT_EQ(walked.range(5, 15).value(), slice(values, 5, 15));
  const std::uint64_t of_the_first = walked.read;
  walked.read = 0;
  EXPECT_EQ(walked.range(995000, 995010).value(), slice(values, 995000, 995010));
  EXPECT_LT(of_the_first + 90 * 16, walked.read);
}

TEST(Range, NothingIsReadBehindTheEndOfAFile) {
  CountingFile file{random_bytes(1000)};
  const ReadAt read_at = file.reader();
  FileInput input(read_at, file.bytes.size());
  Bytes buffer(5000);
  EXPECT_EQ(input.skip(10).value(), 10u);
  EXPECT_EQ(input.read(buffer).value(), 990u);
  EXPECT_EQ(input.read(buffer).value(), 0u);
  buffer.resize(990);
  EXPECT_EQ(buffer, slice(file.bytes, 10, 1000));
}

TEST(Range, InspectFromTheIndexReadsNoChunk) {
  EncodeOptions options = encode_on_cpu("u8");
  options.coder = Coder::raw;
  options.chunk_bytes = 9984;  // whole groups
  CountingFile file{compress(random_bytes(998400), options).value()};
  const auto info =
      inspect(file.reader(), file.bytes.size(), {.models = false, .memory_limit = 1 << 20});
  ASSERT_TRUE(info);
  EXPECT_EQ(info->chunks.size(), 100u);
  EXPECT_EQ(info->decoded_bytes, 998400u);
  EXPECT_LT(file.read, 3 * (100u * 11 + 50));  // to check it, to sum it up, to visit it
}

TEST(Range, InspectDescribesChunksAndModels) {
  const Bytes values = walk_bytes(12 * 700 + 5);
  EncodeOptions options = in_many_chunks();
  options.order = 2;
  options.coder = Coder::pack;
  const Bytes stream = compress(values, options).value();
  const StreamInfo info = inspect(stream).value();
  EXPECT_EQ(info.streams, 1u);
  EXPECT_EQ(info.compressed_bytes, stream.size());
  EXPECT_EQ(info.decoded_bytes, values.size());
  ASSERT_EQ(info.layouts.size(), 1u);
  EXPECT_EQ(to_string(info.layouts[0]), "i32x3");
  ASSERT_EQ(info.chunks.size(), 8u);
  std::uint64_t decoded_at = 0;
  std::uint64_t byte = 6 + 11;  // after the header and the layout block
  for (std::size_t i = 0; i < 7; ++i) {
    const ChunkInfo& chunk = info.chunks[i];
    EXPECT_EQ(chunk.number, i);
    EXPECT_EQ(chunk.byte, byte);
    EXPECT_EQ(chunk.records, 100u);
    EXPECT_EQ(chunk.decoded_at, decoded_at);
    EXPECT_FALSE(chunk.opaque);
    ASSERT_EQ(chunk.columns.size(), 1u);
    EXPECT_EQ(chunk.columns[0].coder, Coder::pack);
    EXPECT_EQ(chunk.columns[0].orders, (std::vector<int>{2, 2, 2}));
    EXPECT_LT(chunk.columns[0].compressed_bytes, chunk.block_bytes);
    decoded_at += chunk.decoded_bytes;
    byte += chunk.block_bytes;
  }
  EXPECT_TRUE(info.chunks[7].opaque);
}

TEST(Range, ADamagedIndexIsPassedOverAndADamagedChunkHurtsOnlyItself) {
  const Bytes values = walk_bytes(12 * 700);
  EncodeOptions options = in_many_chunks();
  options.coder = Coder::raw;
  const Bytes stream = compress(values, options).value();
  const StreamInfo info = inspect(stream).value();
  Bytes bad_chunk = stream;
  bad_chunk[info.chunks[3].byte + info.chunks[3].block_bytes - 1] ^= std::byte{1};
  EXPECT_EQ(decompress_range(bad_chunk, 0, 3600, decode_on_cpu()).value(), slice(values, 0, 3600));
  EXPECT_EQ(decompress_range(bad_chunk, 4800, 8400, decode_on_cpu()).value(),
            slice(values, 4800, 8400));
  const auto hit = decompress_range(bad_chunk, 3599, 3601, decode_on_cpu());
  ASSERT_FALSE(hit);
  EXPECT_EQ(hit.error().code, Errc::corrupt);
  EXPECT_EQ(hit.error().chunk, 3u);

  Bytes bad_index = stream;
  bad_index[bad_index.size() - 20] ^= std::byte{1};
  // Walking finds the end block damaged.
  EXPECT_EQ(decompress_range(bad_index, 0, 1, decode_on_cpu()).error().code, Errc::corrupt);
}

TEST(Range, EveryBitFlipGivesTheRangeOrTheErrorOfTheWholeFile) {
  const Bytes values = walk_bytes(12 * 300);
  const Bytes stream = compress(values, in_many_chunks()).value();
  const Bytes expected = slice(values, 1000, 2600);
  for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
    Bytes damaged = stream;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto whole = decompress(damaged, decode_on_cpu());
    const auto range = decompress_range(damaged, 1000, 2600, decode_on_cpu());
    const auto info = inspect(damaged);
    if (range) {
      EXPECT_EQ(*range, expected) << bit;
    } else {
      ASSERT_FALSE(whole) << bit;
      EXPECT_EQ(range.error().to_string(), whole.error().to_string()) << bit;
    }
    if (info) {  // the damage is inside a payload
      EXPECT_EQ(info->decoded_bytes, values.size()) << bit;
    } else {
      ASSERT_FALSE(whole) << bit;
      EXPECT_EQ(info.error().to_string(), whole.error().to_string()) << bit;
    }
  }
}

TEST(Range, RangesOutsideAreRefused) {
  const Bytes stream = compress(walk_bytes(1000), encode_on_cpu("i32")).value();
  for (const auto& [begin, end] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 1001}, {1001, 1001}, {5, 4}, {~0ull, ~0ull}, {0, ~0ull}}) {
    const auto range = decompress_range(stream, begin, end, decode_on_cpu());
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().code, Errc::invalid_argument);
  }
}

TEST(Range, TheMemoryLimitHoldsForTheChunksOfARange) {
  EncodeOptions options = encode_on_cpu("u8");
  options.chunk_bytes = 1 << 20;
  CountingFile file{compress(Bytes(8 << 20), options).value()};
  DecodeOptions tight = decode_on_cpu();
  tight.memory_limit = (1 << 20) + 2000;
  EXPECT_EQ(file.range(0, 8 << 20, tight).value(), Bytes(8 << 20));
  tight.memory_limit = 1 << 20;
  EXPECT_EQ(file.range(0, 1, tight).error().code, Errc::memory_limit);
}

TEST(Range, AFileThatCannotBeReadIsAnError) {
  const ReadAt broken = [](std::uint64_t, std::span<std::byte>) -> Result<std::size_t> {
    return fail(Errc::io_error, "the disk is broken");
  };
  EXPECT_EQ(inspect(broken, 1000).error().code, Errc::io_error);
  Bytes out;
  EXPECT_EQ(read_range(broken, 1000, 0, 1, append_to(out)).error().code, Errc::io_error);
}

}  // namespace
}  // namespace gdelta::test
