// Promises of the stream calls that only show at their edges: what callers' functions may return, what
// is verified, which chunk and byte an error names, what is known of an input's length.
#include "codec/chunk/decode_block.h"
#include "codec/faults/repair_checks.h"
#include "codec/stream/stream_tools.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::test {
namespace {

EncodeOptions in_chunks(const char* record, std::uint64_t chunk_bytes, Coder coder) {
  EncodeOptions options = encode_on_cpu(record);
  options.chunk_bytes = chunk_bytes;
  options.coder = coder;
  return options;
}

TEST(StreamContract, ACutNamesTheChunkItGoesThrough) {
  const Bytes stream = compress(random_bytes(3 * 600), in_chunks("u16", 600, Coder::raw)).value();
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 3u);
  for (const ChunkInfo& chunk : info.chunks)
    for (std::uint64_t cut = chunk.byte; cut < chunk.byte + chunk.block_bytes; ++cut) {
      const auto part = std::span(stream).first(cut);
      for (const Error& error :
           {decompress(part, decode_on_cpu()).error(), read_stream(source_of(part)).error()}) {
        ASSERT_EQ(error.code, Errc::truncated) << cut;
        ASSERT_EQ(error.byte, chunk.byte) << cut;
        // Before its tag there is no chunk.
        ASSERT_EQ(error.chunk.has_value(), cut > chunk.byte) << cut;
        if (error.chunk) {
          ASSERT_EQ(*error.chunk, chunk.number) << cut;
        }
      }
    }
}

TEST(StreamContract, AnEndBlockThatCountsNothingHasNoEntries) {
  Bytes stream = compress(random_bytes(900), in_chunks("u8", 300, Coder::raw)).value();
  const BlockPlace end = find_blocks(stream).back();
  ASSERT_EQ(stream[end.head_at], std::byte{4});  // a layout and three chunks
  stream[end.head_at] = std::byte{0};
  repair_check(stream, end);
  EXPECT_EQ(decompress(stream, decode_on_cpu()).error().code, Errc::corrupt);
  EXPECT_EQ(read_stream(source_of(stream)).error().code, Errc::corrupt);
  EXPECT_EQ(read_stream(source_of(stream)).error().byte, end.tag_at);
}

TEST(StreamContract, AReaderThatDoesNotVerifyTakesContentAsItIs) {
  const Bytes values = random_bytes(1000);
  Bytes stream = compress(values, in_chunks("u8", 1000, Coder::raw)).value();
  const ChunkInfo chunk = inspect(stream).value().chunks.at(0);
  stream[chunk.byte + chunk.block_bytes - 1] ^= std::byte{1};
  DecodeOptions options = decode_on_cpu();
  EXPECT_EQ(read_stream(source_of(stream), options).error().code, Errc::corrupt);
  options.verify = false;
  Bytes expected = values;
  expected.back() ^= std::byte{1};
  EXPECT_EQ(read_stream(source_of(stream), options).value(), expected);
}

TEST(StreamContract, ASourceThatReturnsMoreThanItWasAskedForIsNotBelieved) {
  const Bytes stream = compress(random_bytes(1 << 20), encode_on_cpu("u8")).value();
  for (const int good_calls : {0, 1}) {
    Source good = source_of(stream);
    int calls = 0;
    const Source liar = [&](std::span<std::byte> buffer) -> Result<std::size_t> {
      if (calls++ < good_calls) return good(buffer);
      return buffer.size() + 1;
    };
    EXPECT_EQ(read_stream(liar).error().code, Errc::invalid_argument);
  }
}

TEST(StreamContract, TheBoundHoldsForTheChunksWithMostFraming) {
  // Two records would not fit a chunk, and each of many columns takes a byte of model.
  EncodeOptions options = encode_on_cpu();
  options.layout = Layout{};
  options.layout->columns.assign(kMaxColumns, {ValueType::u8, 8, false});
  options.chunk_bytes = 2 * kMaxColumns * 8 - 1;
  options.coder = Coder::raw;
  const Bytes values = random_bytes(64 * kMaxColumns * 8 + 5);
  const Bytes stream = compress(values, options).value();
  EXPECT_EQ(inspect(stream).value().chunks.size(), 65u);
  EXPECT_LE(stream.size(), compress_bound(values.size(), options));

  options = in_chunks("u8", 1, Coder::raw);
  EXPECT_LE(compress(random_bytes(999), options).value().size(), compress_bound(999, options));

  // A chunk has no more columns than bytes, so the bound of tiny ones stays within some times the input.
  options.layout->columns.assign(64, {ValueType::u8, 1, false});
  options.chunk_bytes = 64;
  options.coder = {};
  EXPECT_LE(compress(random_bytes(6400), options).value().size(), compress_bound(6400, options));
  options.layout.reset();
  EXPECT_LE(compress(random_bytes(6400), options).value().size(), compress_bound(6400, options));
  EXPECT_LE(compress_bound(1 << 20, options), 20u << 20);
}

/// A WAV file whose data chunk says that it is empty, and so it is if the file is as long as its head
/// says: what follows is another chunk.
Bytes wav_with_a_note(std::uint32_t note_bytes) {
  Bytes file;
  const auto put = [&file](std::string_view text) {
    for (const char c : text) file.push_back(static_cast<std::byte>(c));
  };
  const auto put_le = [&file](int bytes, std::uint64_t value) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  put("RIFF"), put_le(4, 36 + 8 + note_bytes), put("WAVEfmt ");
  put_le(4, 16), put_le(2, 1), put_le(2, 2), put_le(4, 48000), put_le(4, 192000), put_le(2, 4);
  put_le(2, 16), put("data"), put_le(4, 0);
  put("LIST"), put_le(4, note_bytes);
  const Bytes note = walk_bytes(note_bytes);
  file.insert(file.end(), note.begin(), note.end());
  return file;
}

TEST(StreamContract, AWriterKnowsTheLengthThatItIsToldOrThatAShortInputHas) {
  EncodeOptions options = encode_on_cpu();
  options.level = 1;
  const Bytes small = wav_with_a_note(20000);
  const Bytes expected = compress(small, options).value();
  const StreamInfo info = inspect(expected).value();
  for (const ChunkInfo& chunk : info.chunks) EXPECT_TRUE(chunk.opaque);
  EXPECT_EQ(write_stream(small, options, {777}).value(), expected);

  const Bytes large = wav_with_a_note(5 << 20);
  const Bytes expected_large = compress(large, options).value();
  const StreamInfo info_large = inspect(expected_large).value();
  for (const ChunkInfo& chunk : info_large.chunks) EXPECT_TRUE(chunk.opaque);
  Bytes told;
  Writer writer(append_to(told), options);
  writer.set_total_bytes(large.size());
  ASSERT_TRUE(writer.write(large));
  ASSERT_TRUE(writer.finish());
  EXPECT_TRUE(told == expected_large);
  // Who does not know it believes that the samples go on.
  EXPECT_FALSE(write_stream(large, options, {1 << 20}).value() == expected_large);
}

TEST(StreamContract, ADamagedZstdFrameIsNamedByItsByte) {
  const Bytes values = walk_bytes(5 << 20);
  const Bytes stream = compress(values, in_chunks("i32", 3 << 20, Coder::zstd)).value();
  const StreamInfo info = inspect(stream).value();
  std::size_t frames = 0;
  for (const ChunkInfo& chunk : info.chunks) {
    const auto block = std::span(stream).subspan(chunk.byte, chunk.block_bytes);
    const auto parsed = format::parse_chunk_block(block, chunk.byte, info.layouts.at(0)).value();
    const format::ColumnHead& column = parsed.columns.at(0);
    ASSERT_EQ(column.model.section.coder, Coder::zstd);
    const auto* const head =
        reinterpret_cast<const format::Byte*>(block.data()) + parsed.frame.head_at;
    const std::uint64_t section_at = chunk.byte + parsed.frame.payload_at() + column.section_at;
    for (std::uint64_t part = 0; part < column.num_parts; ++part, ++frames) {
      const std::uint64_t at =
          section_at + format::part_begin(head, column, info.layouts.at(0).columns[0], part);
      Bytes damaged = stream;
      damaged[at] ^= std::byte{1};
      const Error error = decompress(damaged, decode_on_cpu()).error();
      EXPECT_EQ(error.code, Errc::corrupt);
      EXPECT_EQ(error.chunk, chunk.number);
      EXPECT_EQ(error.byte, at);
      EXPECT_EQ(read_stream(source_of(damaged)).error().to_string(), error.to_string());
    }
  }
  EXPECT_GT(frames, info.chunks.size());
}

TEST(StreamContract, AChunkIsDecodedIntoExactlyItsSize) {
  const Bytes values = walk_bytes(4000);
  const Bytes stream = compress(values, in_chunks("i32", 4000, Coder::pack)).value();
  const StreamInfo info = inspect(stream).value();
  const ChunkInfo& chunk = info.chunks.at(0);
  const auto block = std::span(stream).subspan(chunk.byte, chunk.block_bytes);
  Bytes out(values.size() + 4);
  for (const std::size_t size : {values.size() - 4, values.size() + 4, std::size_t{0}}) {
    const auto error =
        decode_block(block, chunk.byte, info.layouts.at(0), std::span(out).first(size), true);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::output_too_small);
  }
  EXPECT_FALSE(decode_block(block, chunk.byte, info.layouts.at(0),
                            std::span(out).first(values.size()), true));
}

}  // namespace
}  // namespace gdelta::test
