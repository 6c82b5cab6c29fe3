// Streams through the Writer, the Reader and the whole-buffer calls.
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

const std::vector<std::size_t> kOddPortions = {1, 3, 7, 1021, 65537, 333333};

TEST(Stream, EmptyInputIsAStreamOfEighteenBytes) {
  const auto stream = write_stream({}, encode_on_cpu("i32x3"), {1});
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->size(), 18u);
  EXPECT_EQ(*stream, compress({}, encode_on_cpu()).value());
  EXPECT_TRUE(decompress(*stream, decode_on_cpu()).value().empty());
  EXPECT_TRUE(read_stream(source_of(*stream)).value().empty());
}

TEST(Stream, BytesDoNotDependOnSlicingOrThreads) {
  struct Case {
    const char* record;
    std::size_t bytes;
    std::uint64_t chunk_bytes;
  };
  const Case cases[] = {{"i32x3", 700001, 100000},  {"i32", 4, 1000},
                        {"u16:be,f32x2,u8", 3, 64}, {"i64x2", 300000, 1},
                        {nullptr, 5300000, 0},      {nullptr, 1, 0},
                        {"u8", 200000, 65536},      {"f32x6", 262144, 65536}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.record == nullptr ? "found" : c.record);
    const Bytes values = walk_bytes(c.bytes);
    EncodeOptions options = encode_on_cpu(c.record);
    options.level = 1;
    options.chunk_bytes = c.chunk_bytes;
    const auto whole = compress(values, options);
    ASSERT_TRUE(whole);
    EXPECT_LE(whole->size(), compress_bound(values.size(), options));
    EXPECT_EQ(decompress(*whole, decode_on_cpu()).value(), values);
    for (const int threads : {1, 2, 3}) {
      options.threads = threads;
      EXPECT_EQ(write_stream(values, options, kOddPortions).value(), *whole);
    }
    EXPECT_EQ(write_stream(values, options, {values.size()}).value(), *whole);
  }
}

TEST(Stream, ReaderTakesPortionsOfAnySize) {
  const Bytes values = walk_bytes(400003);
  EncodeOptions options = encode_on_cpu("i32x3");
  options.chunk_bytes = 30000;
  const Bytes stream = compress(values, options).value();
  for (const std::vector<std::size_t>& portions :
       {std::vector<std::size_t>{1}, kOddPortions, std::vector<std::size_t>{1u << 20}})
    EXPECT_EQ(read_stream(source_of(stream, portions)).value(), values);
}

TEST(Stream, NoiseGrowsByNoMoreThanTheBound) {
  for (const char* record : {"u8", "f64x2", "i24x5,u16"})
    for (const std::size_t bytes : {1u, 2u, 100u, 100000u}) {
      EncodeOptions options = encode_on_cpu(record);
      options.chunk_bytes = 4096;
      const Bytes values = random_bytes(bytes);
      const Bytes stream = compress(values, options).value();
      EXPECT_LE(stream.size(), compress_bound(bytes, options));
      EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
    }
}

TEST(Stream, OneSmallChunkTakesAtMost48BytesOfFraming) {
  const Bytes values = random_bytes(16);
  EXPECT_LE(compress(values, encode_on_cpu("u8")).value().size(), values.size() + 48);
}

TEST(Stream, FlushGivesAReaderAllThatWasWritten) {
  const Bytes values = walk_bytes(50000);
  Bytes stream;
  Writer writer(append_to(stream), encode_on_cpu("i32x3"));
  ASSERT_TRUE(writer.flush());
  std::size_t written = 0;
  for (const std::size_t count : {1u, 12u, 11u, 13u, 24000u, 3u, 9u}) {
    ASSERT_TRUE(writer.write(std::span(values).subspan(written, count)));
    written += count;
    ASSERT_TRUE(writer.flush());
    ASSERT_TRUE(writer.flush());
    const Salvaged so_far = salvage_stream(stream);
    EXPECT_EQ(so_far.values.size(), written);
    EXPECT_TRUE(starts_with(values, so_far.values));
    ASSERT_TRUE(so_far.report.error);
    EXPECT_EQ(so_far.report.error->code, Errc::truncated);
  }
  ASSERT_TRUE(writer.write(std::span(values).subspan(written)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(read_stream(source_of(stream)).value(), values);
  EXPECT_EQ(writer.bytes_in(), values.size());
  EXPECT_EQ(writer.bytes_out(), stream.size());
}

TEST(Stream, AFlushInsideARecordLeavesLaterRecordsWhole) {
  const Bytes values = walk_bytes(12 * 1000);
  Bytes stream;
  Writer writer(append_to(stream), encode_on_cpu("i32x3"));
  ASSERT_TRUE(writer.write(std::span(values).first(12 * 100 + 5)));
  ASSERT_TRUE(writer.flush());
  ASSERT_TRUE(writer.write(std::span(values).subspan(12 * 100 + 5)));
  ASSERT_TRUE(writer.finish());
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 4u);
  EXPECT_EQ(info.chunks[0].records, 100u);
  EXPECT_TRUE(info.chunks[1].opaque && info.chunks[2].opaque);
  EXPECT_EQ(info.chunks[1].decoded_bytes, 5u);
  EXPECT_EQ(info.chunks[2].decoded_bytes, 7u);
  EXPECT_EQ(info.chunks[3].records, 899u);
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
}

TEST(Stream, WhatIsNoWholeRecordBecomesAnOpaqueChunk) {
  const Bytes values = walk_bytes(1000 * 12 + 7);
  const Bytes stream = compress(values, encode_on_cpu("i32x3")).value();
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 2u);
  EXPECT_FALSE(info.chunks[0].opaque);
  EXPECT_TRUE(info.chunks[1].opaque);
  EXPECT_EQ(info.chunks[1].decoded_bytes, 7u);
}

TEST(Stream, AChunkHoldsAtLeastOneRecord) {
  EncodeOptions options = encode_on_cpu("f64x64");
  options.chunk_bytes = 1;
  const Bytes values = walk_bytes(3 * 512 + 1);
  const Bytes stream = compress(values, options).value();
  EXPECT_EQ(inspect(stream).value().chunks.size(), 4u);
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
}

TEST(Stream, LevelsHaveTheirChunkSizes) {
  const std::pair<int, std::size_t> cases[] = {{1, 5}, {6, 5}, {8, 5}, {9, 1}};
  const Bytes values(5u << 20, std::byte{7});
  for (const auto& [level, chunks] : cases) {
    EncodeOptions options = encode_on_cpu("u8");
    options.level = level;
    options.coder = Coder::raw;
    EXPECT_EQ(inspect(compress(values, options).value()).value().chunks.size(), chunks);
  }
}

TEST(Stream, AWavFileIsTakenApartAtTheSamePlacesHoweverItIsWritten) {
  Bytes file;
  const auto put = [&file](std::string_view text) {
    for (const char c : text) file.push_back(static_cast<std::byte>(c));
  };
  const auto put_le = [&file](int bytes, std::uint64_t value) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const Bytes samples = walk_bytes(40000);
  put("RIFF"), put_le(4, 36 + samples.size() + 12), put("WAVEfmt ");
  put_le(4, 16), put_le(2, 1), put_le(2, 2), put_le(4, 48000), put_le(4, 192000), put_le(2, 4);
  put_le(2, 16), put("data"), put_le(4, samples.size());
  file.insert(file.end(), samples.begin(), samples.end());
  put("LIST"), put_le(4, 4), put("note");

  const Bytes stream = compress(file, encode_on_cpu()).value();
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), file);
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 3u);
  EXPECT_EQ(info.chunks[0].decoded_bytes, 44u);
  EXPECT_EQ(info.chunks[1].decoded_bytes, samples.size());
  EXPECT_EQ(to_string(info.layouts.at(0)), "i16x2");
  EXPECT_TRUE(info.chunks[2].opaque);
  EXPECT_EQ(write_stream(file, encode_on_cpu(), kOddPortions).value(), stream);
}

TEST(Stream, TheWriterSaysWhatItTookTheNumbersFor) {
  Bytes stream;
  Writer given(append_to(stream), encode_on_cpu("i16x2"));
  EXPECT_FALSE(given.layout());
  ASSERT_TRUE(given.write(walk_bytes(100)));
  ASSERT_TRUE(given.finish());
  EXPECT_EQ(to_string(given.layout().value()), "i16x2");
  EXPECT_EQ(given.layout_origin(), "given");
  EXPECT_EQ(given.device(), "cpu");
  EXPECT_TRUE(given.take_warnings().empty());
}

TEST(Stream, ConcatenatedStreamsDecodeOneAfterTheOther) {
  const Bytes a = walk_bytes(1000, 1), b = walk_bytes(501, 2);
  const Bytes empty = compress({}, encode_on_cpu()).value();
  const Bytes both = join({empty, compress(a, encode_on_cpu("i32")).value(), empty,
                           compress(b, encode_on_cpu("u16x2")).value()});
  EXPECT_EQ(decompress(both, decode_on_cpu()).value(), join({a, b}));
  EXPECT_EQ(read_stream(source_of(both, {5})).value(), join({a, b}));
  EXPECT_EQ(inspect(both).value().streams, 4u);
}

TEST(Stream, ASinkThatFailsStopsTheWriterForGood) {
  for (int allowed = 0; allowed < 6; ++allowed) {
    int calls = 0;
    const Sink closed = [&](std::span<const std::byte>) -> Result<void> {
      if (calls++ < allowed) return {};
      return fail(Errc::io_error, "the pipe is closed");
    };
    EncodeOptions options = encode_on_cpu("i32", 2);
    options.chunk_bytes = 4096;
    options.level = 1;
    Writer writer(closed, options);
    const Bytes values = walk_bytes(5u << 20);
    Result<void> done = writer.write(values);
    if (done) done = writer.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::io_error);
    const int calls_before = calls;
    EXPECT_EQ(writer.write(values).error().code, Errc::io_error);
    EXPECT_EQ(writer.finish().error().code, Errc::io_error);
    EXPECT_EQ(calls, calls_before);
  }
}

TEST(Stream, ASinkOrSourceThatFailsStopsTheReader) {
  EncodeOptions options = encode_on_cpu("i32");
  options.chunk_bytes = 4096;
  const Bytes stream = compress(walk_bytes(100000), options).value();
  const Sink closed = [](std::span<const std::byte>) -> Result<void> {
    return fail(Errc::io_error, "the pipe is closed");
  };
  EXPECT_EQ(Reader(source_of(stream), decode_on_cpu()).run(closed).error().code, Errc::io_error);
  EXPECT_EQ(Reader(source_of(stream), decode_on_cpu()).salvage(closed).error().code,
            Errc::io_error);
  Source good = source_of(stream, {100});
  int left = 100;
  const Source broken = [&](std::span<std::byte> buffer) -> Result<std::size_t> {
    if (left-- == 0) return fail(Errc::io_error, "the disk is broken");
    return good(buffer);
  };
  EXPECT_EQ(read_stream(broken).error().code, Errc::io_error);
}

TEST(Stream, NothingIsWrittenAfterTheEnd) {
  Bytes stream;
  Writer writer(append_to(stream), encode_on_cpu());
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(writer.write(stream).error().code, Errc::invalid_argument);
  EXPECT_EQ(writer.flush().error().code, Errc::invalid_argument);
  EXPECT_EQ(stream.size(), 18u);
}

TEST(Stream, AWriterThatIsNotFinishedWritesNoEnd) {
  Bytes stream;
  {
    Writer writer(append_to(stream), encode_on_cpu("i32"));
    ASSERT_TRUE(writer.write(walk_bytes(100)));
  }
  EXPECT_TRUE(stream.empty());
}

TEST(Stream, OptionsThatCannotBeAreRefused) {
  const auto refused = [](auto change) {
    EncodeOptions options = encode_on_cpu("i32");
    change(options);
    const auto whole = compress(walk_bytes(10), options);
    EXPECT_FALSE(whole);
    if (!whole) {
      EXPECT_EQ(whole.error().code, Errc::invalid_argument);
    }
    Bytes stream;
    Writer writer(append_to(stream), options);
    EXPECT_FALSE(writer.write(walk_bytes(10)));
    EXPECT_FALSE(writer.finish());
    EXPECT_TRUE(stream.empty());
  };
  refused([](EncodeOptions& o) { o.level = 0; });
  refused([](EncodeOptions& o) { o.level = 10; });
  refused([](EncodeOptions& o) { o.order = -1; });
  refused([](EncodeOptions& o) { o.order = 9; });
  refused([](EncodeOptions& o) { o.chunk_bytes = (1ull << 28) + 1; });
  refused([](EncodeOptions& o) { o.coder = Coder::constant; });
  refused([](EncodeOptions& o) { o.coder = Coder::zstd, o.device_decodable = true; });
  refused([](EncodeOptions& o) { o.threads = -1; });
  refused([](EncodeOptions& o) { o.layout->columns.clear(); });
  refused([](EncodeOptions& o) { o.layout->columns[0].tuple = 65; });
}

bool cancel_at_once(std::uint64_t, void*) { return false; }

TEST(Stream, AProgressCallbackCanCancel) {
  EncodeOptions encode = encode_on_cpu("i32");
  encode.chunk_bytes = 4096;
  const Bytes values = walk_bytes(20000);
  const Bytes stream = compress(values, encode).value();
  encode.progress = cancel_at_once;
  DecodeOptions decode = decode_on_cpu();
  decode.progress = cancel_at_once;
  EXPECT_EQ(compress(values, encode).error().code, Errc::cancelled);
  EXPECT_EQ(write_stream(values, encode, {100}).error().code, Errc::cancelled);
  EXPECT_EQ(decompress(stream, decode).error().code, Errc::cancelled);
  EXPECT_EQ(read_stream(source_of(stream), decode).error().code, Errc::cancelled);
}

TEST(Stream, AnIndexIsWrittenFromTwoChunksOn) {
  EncodeOptions options = encode_on_cpu("u8");
  options.coder = Coder::raw;
  options.chunk_bytes = 100;
  const std::size_t one = compress(Bytes(100), options).value().size();
  const std::size_t two = compress(Bytes(101), options).value().size();
  constexpr std::size_t kEndBytes = 11, kLayoutBlock = 9, kHeader = 6;
  EXPECT_GT(two - one, 3u * 3);
  EXPECT_GT(one, 100 + kEndBytes + kLayoutBlock + kHeader);
  EXPECT_LE(one, 100u + 48);
}

TEST(Stream, CompressIntoNeedsRoom) {
  const Bytes values = walk_bytes(3 << 20);
  for (const bool limited : {false, true}) {
    EncodeOptions options = encode_on_cpu("i32");
    options.level = 1;
    options.chunk_bytes = 4096;
    if (limited) options.memory_limit = 4 << 20;  // several batches
    const Bytes stream = compress(values, options).value();
    Bytes out(stream.size() + 5, std::byte{0xaa});
    for (const std::size_t room : {std::size_t{0}, stream.size() / 2, stream.size() - 1})
      EXPECT_EQ(compress_into(values, std::span(out).first(room), options).error().code,
                Errc::output_too_small);
    EXPECT_EQ(compress_into(values, std::span(out).first(stream.size()), options).value(),
              stream.size());
    EXPECT_TRUE(starts_with(out, stream));
    EXPECT_EQ(compress_into(values, out, options).value(), stream.size());
    EXPECT_TRUE(starts_with(out, stream));
    EXPECT_EQ(out[stream.size()], std::byte{0xaa});
  }
  Bytes empty(compress_bound(0, {}));
  EXPECT_EQ(compress_into({}, empty, {}).value(), compress({}, {}).value().size());
  EXPECT_EQ(compress_into({}, {}, {}).error().code, Errc::output_too_small);
}

TEST(Stream, CompressLeavesLittleRoomUnused) {
  EncodeOptions options = encode_on_cpu("i32");
  options.level = 1;
  options.chunk_bytes = 64 << 10;
  const Bytes values = walk_bytes(12 << 20);
  for (const bool limited : {false, true}) {
    if (limited) options.memory_limit = 4 << 20;  // several batches
    const Bytes stream = compress(values, options).value();
    EXPECT_LE(stream.capacity(), stream.size() + stream.size() / 16) << limited;
  }
  // What comes first tells nothing of the rest.
  Bytes uneven = random_bytes(1 << 20);
  uneven.resize(24 << 20);
  const Bytes stream = compress(uneven, options).value();
  EXPECT_LT(stream.size(), 2u << 20);
  EXPECT_LE(stream.capacity(), 2 * stream.size() + 1);
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), uneven);
}

TEST(Stream, DecompressIntoNeedsRoom) {
  const Bytes values = walk_bytes(10000);
  const Bytes stream = compress(values, encode_on_cpu("i32")).value();
  Bytes out(values.size() + 5, std::byte{0xaa});
  EXPECT_EQ(decompress_into(stream, std::span(out).first(values.size() - 1), decode_on_cpu())
                .error()
                .code,
            Errc::output_too_small);
  EXPECT_EQ(decompress_into(stream, out, decode_on_cpu()).value(), values.size());
  EXPECT_TRUE(starts_with(out, values));
  EXPECT_EQ(out[values.size()], std::byte{0xaa});
}

}  // namespace
}  // namespace gdelta::test
