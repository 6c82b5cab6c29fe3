// What is left of a file that was cut short or damaged.
#include <set>

#include "codec/faults/fault_table.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

struct ChunkEnds {
  Bytes values;
  Bytes stream;
  StreamInfo info;

  ChunkEnds() {
    values = walk_bytes(12 * 1000 + 5);
    EncodeOptions options = encode_on_cpu("i32x3");
    options.chunk_bytes = 12 * 150;
    options.coder = Coder::raw;  // so that no bit is padding
    stream = compress(values, options).value();
    info = inspect(stream).value();
  }
  /// The values of all chunks but these.
  Bytes without(const std::set<std::uint64_t>& lost) const {
    Bytes rest;
    for (const ChunkInfo& chunk : info.chunks) {
      if (lost.contains(chunk.number)) continue;
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(chunk.decoded_at);
      rest.insert(rest.end(), begin, begin + static_cast<std::ptrdiff_t>(chunk.decoded_bytes));
    }
    return rest;
  }
  /// Decoded bytes of the chunks that lie wholly before a byte of the stream.
  std::uint64_t whole_before(std::uint64_t byte) const {
    std::uint64_t bytes = 0;
    for (const ChunkInfo& chunk : info.chunks)
      if (chunk.byte + chunk.block_bytes <= byte) bytes = chunk.decoded_at + chunk.decoded_bytes;
    return bytes;
  }
};

TEST(Salvage, AWholeStreamIsGivenBackWithoutError) {
  const ChunkEnds made;
  const Salvaged salvaged = salvage_stream(made.stream);
  EXPECT_FALSE(salvaged.report.error);
  EXPECT_EQ(salvaged.report.chunks, made.info.chunks.size());
  EXPECT_EQ(salvaged.report.bytes, made.values.size());
  EXPECT_EQ(salvaged.values, made.values);
}

TEST(Salvage, PassesOverACoderItDoesNotKnow) {
  faults::StreamFields fields = faults::raw_stream("i16x2", 300);
  fields.has_index = false;
  ASSERT_GE(fields.chunks.size(), 2u);
  const Bytes good = faults::write(fields).bytes;
  const Bytes decoded = decompress(good, decode_on_cpu()).value();
  fields.chunks[0].models[0].coder = kNumCoders;
  const Salvaged salvaged = salvage_stream(faults::write(fields).bytes);
  ASSERT_TRUE(salvaged.report.error);
  EXPECT_EQ(salvaged.report.error->code, Errc::unsupported_feature);
  EXPECT_EQ(salvaged.report.error->chunk, 0u);
  EXPECT_EQ(salvaged.report.lost_chunks, 1u);
  const auto lost = static_cast<std::ptrdiff_t>(inspect(good).value().chunks[0].decoded_bytes);
  EXPECT_EQ(salvaged.values, Bytes(decoded.begin() + lost, decoded.end()));
}

TEST(Salvage, EveryTruncationGivesAllWholeChunks) {
  const ChunkEnds made;
  for (std::size_t length = 0; length < made.stream.size(); ++length) {
    const Salvaged salvaged = salvage_stream(std::span(made.stream).first(length));
    ASSERT_TRUE(salvaged.report.error) << length;
    EXPECT_EQ(salvaged.report.error->code, length == 0 ? Errc::not_gdelta : Errc::truncated);
    ASSERT_EQ(salvaged.values.size(), made.whole_before(length)) << length;
    ASSERT_TRUE(starts_with(made.values, salvaged.values));
  }
}

TEST(Salvage, DamageIsNamedByChunkAndByteAndCostsItsChunkAlone) {
  const ChunkEnds made;
  for (const ChunkInfo& chunk : made.info.chunks)
    for (const std::uint64_t into : {std::uint64_t{1}, chunk.block_bytes - 1}) {
      Bytes stream = made.stream;
      stream[chunk.byte + into] ^= std::byte{0x10};
      const Salvaged salvaged = salvage_stream(stream);
      ASSERT_TRUE(salvaged.report.error);
      EXPECT_EQ(salvaged.report.error->chunk, chunk.number);
      ASSERT_TRUE(salvaged.report.error->byte);
      EXPECT_GE(*salvaged.report.error->byte, chunk.byte);
      EXPECT_LT(*salvaged.report.error->byte, chunk.byte + chunk.block_bytes);
      EXPECT_EQ(salvaged.report.chunks, made.info.chunks.size() - 1);
      EXPECT_EQ(salvaged.report.gaps, 1u);
      EXPECT_EQ(salvaged.report.lost_chunks, 1u);
      EXPECT_EQ(salvaged.values, made.without({chunk.number}));
      const auto whole = decompress(stream, decode_on_cpu());
      ASSERT_FALSE(whole);
      EXPECT_EQ(whole.error().to_string(), salvaged.report.error->to_string());
    }
}

TEST(Salvage, OfTwoDamagedChunksTheLowerIsReported) {
  const ChunkEnds made;
  Bytes stream = made.stream;
  // A content error in a chunk that is decoded late, a framing error in one that is read earlier.
  const ChunkInfo& late = made.info.chunks[5];
  const ChunkInfo& early = made.info.chunks[2];
  stream[late.byte + 1] ^= std::byte{1};
  stream[early.byte + early.block_bytes - 1] ^= std::byte{1};
  EXPECT_EQ(decompress(stream, decode_on_cpu()).error().chunk, 2u);
  EXPECT_EQ(read_stream(source_of(stream)).error().chunk, 2u);
}

TEST(Salvage, ChunksAreCountedThroughAllStreams) {
  const Bytes one = compress(walk_bytes(100), encode_on_cpu("i32")).value();
  Bytes three = join({one, one, one});
  three[2 * one.size() + 30] ^= std::byte{1};
  const Salvaged salvaged = salvage_stream(three);
  ASSERT_TRUE(salvaged.report.error);
  EXPECT_EQ(salvaged.report.error->chunk, 2u);
  EXPECT_EQ(salvaged.report.chunks, 2u);
  EXPECT_EQ(salvaged.report.bytes, 200u);
  EXPECT_EQ(salvaged.report.lost_chunks, 1u);
}

TEST(Salvage, WithoutVerifyingDamagedContentIsNotNoticedButStructureIs) {
  Bytes stream = compress(random_bytes(1000), encode_on_cpu("u8")).value();
  stream[stream.size() - 100] ^= std::byte{1};
  DecodeOptions options = decode_on_cpu();
  EXPECT_EQ(decompress(stream, options).error().code, Errc::corrupt);
  options.verify = false;
  EXPECT_EQ(decompress(stream, options).value().size(), 1000u);
  stream.resize(stream.size() - 1);
  EXPECT_EQ(decompress(stream, options).error().code, Errc::truncated);
}

}  // namespace
}  // namespace gdelta::test
