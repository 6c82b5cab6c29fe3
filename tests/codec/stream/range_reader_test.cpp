// One RangeReader for many ranges, of bytes and of records, in files of many chunks and many streams.
#include "codec/stream/stream_tools.h"
#include "golden/plain_encoder.h"
#include "held_memory.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

ReadAt reader_over(const Bytes& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::byte> buffer) -> Result<std::size_t> {
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min(buffer.size(), bytes.size() - offset);
    std::memcpy(buffer.data(), bytes.data() + offset, count);
    return count;
  };
}

RangeReader open(const Bytes& file, const DecodeOptions& options = decode_on_cpu()) {
  return RangeReader::open(reader_over(file), file.size(), options).value();
}

std::string report_of(const Error& error) {
  return std::string(errc_name(error.code)) +
         (error.chunk ? " chunk " + std::to_string(*error.chunk) : "") +
         (error.byte ? " byte " + std::to_string(*error.byte) : "");
}

/// A file, what it decodes to, and the same without what is no record.
struct MixedFile {
  Bytes bytes;
  Bytes values;
  Bytes records;
  std::vector<std::uint64_t> record_at{0};  // in `records`, and the end of the last
};

/// A stream of small chunks: records of two layouts, opaque ones between them, `chunks` in all.
void add_stream(MixedFile& file, std::size_t chunks, bool with_index, unsigned seed) {
  plain::StreamBuilder builder;
  const Layout layouts[] = {parse_record("u16x2").value(), parse_record("u8x3,i32").value()};
  std::size_t in_force = 2;
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t kind = random() % 8;  // more often than not what it was before
    if (kind == 0) {
      const Bytes values = random_bytes(1 + random() % 5, static_cast<unsigned>(random()));
      builder.opaque(values);
      file.values.insert(file.values.end(), values.begin(), values.end());
      continue;
    }
    const std::size_t which = in_force == 2 ? 0 : kind == 1 ? 1 - in_force : in_force;
    const Layout& layout = layouts[which];
    if (which != in_force) builder.layout(layout);
    in_force = which;
    const std::size_t records = 1 + random() % 3;
    const Bytes values =
        random_bytes(records * layout.record_bytes(), static_cast<unsigned>(random()));
    builder.chunk(values, std::vector<plain::Choice>(layout.columns.size()));
    file.values.insert(file.values.end(), values.begin(), values.end());
    file.records.insert(file.records.end(), values.begin(), values.end());
    for (std::size_t r = 0; r < records; ++r)
      file.record_at.push_back(file.record_at.back() + layout.record_bytes());
  }
  const Bytes stream = builder.finish(with_index);
  file.bytes.insert(file.bytes.end(), stream.begin(), stream.end());
}

void expect_ranges(const MixedFile& file, int rounds) {
  RangeReader reader = open(file.bytes);
  const FileTotals& totals = reader.totals();
  ASSERT_EQ(totals.decoded_bytes, file.values.size());
  ASSERT_EQ(totals.records, file.record_at.size() - 1);
  std::mt19937 random(3);
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin = random() % (totals.decoded_bytes + 1);
    const std::uint64_t end =
        std::min<std::uint64_t>(totals.decoded_bytes, begin + random() % (round % 5 ? 90 : 90000));
    Bytes part;
    ASSERT_TRUE(reader.read(begin, end, append_to(part)));
    ASSERT_TRUE(std::ranges::equal(part, std::span(file.values).subspan(begin, end - begin)))
        << begin << ':' << end;

    const std::uint64_t first = random() % (totals.records + 1);
    const std::uint64_t last =
        std::min<std::uint64_t>(totals.records, first + random() % (round % 5 ? 20 : 9000));
    part.clear();
    ASSERT_TRUE(reader.read_records(first, last, append_to(part)));
    ASSERT_TRUE(std::ranges::equal(
        part, std::span(file.records)
                  .subspan(file.record_at[first], file.record_at[last] - file.record_at[first])))
        << "records " << first << ':' << last;
  }
}

TEST(RangeReader, GivesEveryRangeOfBytesAndOfRecords) {
  for (const bool with_index : {true, false}) {
    SCOPED_TRACE(with_index);
    MixedFile file;
    add_stream(file, 40, with_index, 1);
    add_stream(file, 1, with_index, 5);
    add_stream(file, 30, with_index, 2);
    expect_ranges(file, 300);
  }
}

TEST(RangeReader, FindsItsWayInAnIndexOfManyEntries) {
  MixedFile file;
  add_stream(file, 20000, true, 4);
  add_stream(file, 9000, true, 5);
  expect_ranges(file, 60);
  std::uint64_t bytes_read = 0;
  const ReadAt counting = [&, read_at = reader_over(file.bytes)](std::uint64_t offset,
                                                                 std::span<std::byte> buffer) {
    bytes_read += buffer.size();
    return read_at(offset, buffer);
  };
  Bytes part;
  ASSERT_TRUE(read_range(counting, file.bytes.size(), 100000, 100001, append_to(part)));
  constexpr std::uint64_t kEntryBytes = 12;
  EXPECT_LT(bytes_read, 3 * kEntryBytes * 29000);  // to check them, to sum them up, to use them
}

TEST(RangeReader, RefusesRecordsThatAreNotThere) {
  MixedFile file;
  add_stream(file, 40, true, 1);
  RangeReader reader = open(file.bytes);
  const std::uint64_t records = reader.totals().records;
  Bytes part;
  for (const auto& [begin, end] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, records + 1}, {records + 1, records + 1}, {2, 1}, {~0ull, ~0ull}})
    EXPECT_EQ(reader.read_records(begin, end, append_to(part)).error().code,
              Errc::invalid_argument);
  EXPECT_TRUE(reader.read_records(records, records, append_to(part)));
  EXPECT_TRUE(part.empty());
}

TEST(RangeReader, TellsTheErrorOfTheSinkAndGoesOn) {
  MixedFile file;
  add_stream(file, 40, true, 1);
  RangeReader reader = open(file.bytes);
  const Sink full = [](std::span<const std::byte>) -> Result<void> {
    return fail(Errc::io_error, "the disk is full");
  };
  EXPECT_EQ(reader.read(0, 10, full).error().code, Errc::io_error);
  Bytes part;
  ASSERT_TRUE(reader.read(3, 10, append_to(part)));
  EXPECT_TRUE(std::ranges::equal(part, std::span(file.values).subspan(3, 7)));
}

// ---- What is believed

Bytes raw_stream(bool with_index) {
  plain::StreamBuilder builder;
  builder.layout(byte_layout());
  for (unsigned i = 0; i < 4; ++i) builder.chunk(random_bytes(100, i), {plain::raw()});
  return builder.finish(with_index);
}

TEST(RangeReader, HandsOverTheChunksBeforeADamagedOneAndReportsIt) {
  for (const bool with_index : {true, false}) {
    const Bytes good = raw_stream(with_index);
    const Bytes values = decompress(good).value();
    const StreamInfo info = inspect(good).value();
    const std::uint64_t at = info.chunks[2].byte;
    for (std::uint64_t byte = at; byte < at + info.chunks[2].block_bytes; ++byte) {
      Bytes damaged = good;
      damaged[byte] ^= std::byte{1};
      Bytes part;
      const auto done = read_range(reader_over(damaged), damaged.size(), 50, 350, append_to(part),
                                   decode_on_cpu());
      ASSERT_FALSE(done) << byte - at;
      EXPECT_EQ(report_of(done.error()), report_of(decompress(damaged, decode_on_cpu()).error()));
      if (!part.empty()) {  // nothing if walking over the heads has found it
        EXPECT_EQ(part.size(), 150u);
        EXPECT_TRUE(std::ranges::equal(part, std::span(values).subspan(50, part.size())));
      }
    }
  }
}

TEST(RangeReader, ContentIsNotVerifiedWhereThatIsNotWanted) {
  Bytes damaged = raw_stream(true);
  const StreamInfo info = inspect(damaged).value();
  damaged[info.chunks[1].byte + info.chunks[1].block_bytes - 1] ^= std::byte{1};
  DecodeOptions options = decode_on_cpu();
  EXPECT_EQ(report_of(decompress_range(damaged, 150, 250, options).error()),
            "corrupt chunk 1 byte " +
                std::to_string(info.chunks[1].byte + info.chunks[1].block_bytes - 100));
  options.verify = false;
  const auto part = decompress_range(damaged, 150, 250, options);
  ASSERT_TRUE(part);
  EXPECT_EQ((*part)[49], random_bytes(100, 1)[99] ^ std::byte{1});
}

TEST(RangeReader, AFileThatGivesMoreThanItWasAskedForIsNotBelieved) {
  const Bytes file = raw_stream(true);
  const ReadAt too_much = [](std::uint64_t, std::span<std::byte> buffer) -> Result<std::size_t> {
    return buffer.size() + 1;
  };
  Bytes part;
  EXPECT_EQ(read_range(too_much, file.size(), 0, 1, append_to(part)).error().code,
            Errc::invalid_argument);
  for (const bool models : {true, false})
    EXPECT_EQ(inspect(too_much, file.size(), {.models = models, .memory_limit = kMiB}).error().code,
              Errc::invalid_argument);
  EXPECT_TRUE(part.empty());
}

TEST(RangeReader, AFileThatHasShrunkIsTruncated) {
  const Bytes file = raw_stream(true);
  Bytes shrunk = file;
  shrunk.resize(file.size() - 120);
  Bytes part;
  const auto done = read_range(reader_over(shrunk), file.size(), 0, 1, append_to(part));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::truncated);
}

// ---- Memory

TEST(RangeReader, HoldsNoMoreForAFileOfManyChunks) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes block = plain::encode_chunk(Bytes(1), byte_layout(), {plain::raw()}, true);
  for (const bool with_index : {true, false}) {
    Bytes file(format::kStreamHeader.begin(), format::kStreamHeader.end());
    Bytes index;
    constexpr std::size_t kChunks = 200000;
    for (std::size_t i = 0; i < kChunks; ++i) {
      file.insert(file.end(), block.begin(), block.end());
      format::append_index_entry(index, format::chunk_entry(block));
    }
    format::append_end_block(file, with_index ? kChunks : 0, index);
    DecodeOptions options = decode_on_cpu();
    options.memory_limit = kMiB;
    std::uint64_t bytes = 0;
    const std::uint64_t peak = peak_of([&] {
      auto reader = RangeReader::open(reader_over(file), file.size(), options);
      return reader.value().read(0, kChunks, [&](std::span<const std::byte> part) -> Result<void> {
        bytes += part.size();
        return {};
      });
    });
    EXPECT_EQ(bytes, kChunks);
    EXPECT_LT(peak, 4 * kMiB) << with_index;
    EXPECT_LT(peak_of([&] {
                return visit_chunks(reader_over(file), file.size(),
                                    [](const ChunkInfo&, const Layout&) { return Result<void>(); });
              }),
              2 * kMiB);
  }
}

TEST(RangeReader, HoldsABatchWithinTheMemoryLimit) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  plain::StreamBuilder builder;
  builder.layout(byte_layout());
  const Bytes noise = random_bytes(kMiB);
  for (int i = 0; i < 12; ++i) builder.chunk(noise, {plain::raw()});
  const Bytes file = builder.finish();
  for (const std::uint64_t limit : {3 * kMiB, 6 * kMiB}) {
    DecodeOptions options = decode_on_cpu();
    options.memory_limit = limit;
    std::uint64_t bytes = 0;
    const std::uint64_t peak = peak_of([&] {
      return read_range(
                 reader_over(file), file.size(), 0, 12 * kMiB,
                 [&](std::span<const std::byte> part) -> Result<void> {
                   bytes += part.size();
                   return {};
                 },
                 options)
          .has_value();
    });
    EXPECT_EQ(bytes, 12 * kMiB);
    EXPECT_LT(peak, 2 * limit);
  }
}

TEST(RangeReader, DoesNotKeepWhatTheNextChunkNeedsInAnotherPlace) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  plain::StreamBuilder builder;
  builder.layout(byte_layout())
      .chunk(random_bytes(39 * kMiB / 10), {plain::raw()})
      .chunk(Bytes(79 * kMiB / 10), {plain::constant()});
  const Bytes file = builder.finish();
  DecodeOptions options = decode_on_cpu();
  options.memory_limit = 8 * kMiB;
  const Sink nowhere = [](std::span<const std::byte>) { return Result<void>(); };
  bool done = false;
  const std::uint64_t peak = peak_of([&] {
    done = read_range(reader_over(file), file.size(), 0, 118 * kMiB / 10 - 1, nowhere, options)
               .has_value();
    return done;
  });
  EXPECT_TRUE(done);
  EXPECT_LE(peak, 9 * kMiB);
}

TEST(RangeReader, CountsTheCopiesThatDecodingMakes) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  plain::StreamBuilder builder;
  builder.layout(byte_layout());
  plain::Choice strided =
      plain::with_stride(plain::linked(Coder::zstd, byte_layout().columns[0], {1}), 2, 1);
  builder.chunk(Bytes(4 * kMiB), {strided}).chunk(Bytes(4 * kMiB), {strided});
  const Bytes file = builder.finish();
  for (const std::uint64_t limit : {6 * kMiB, 13 * kMiB, 17 * kMiB}) {
    DecodeOptions options = decode_on_cpu();
    options.memory_limit = limit;
    const Sink nowhere = [](std::span<const std::byte>) { return Result<void>(); };
    std::optional<Errc> refused;
    const std::uint64_t peak = peak_of([&] {
      const auto done = read_range(reader_over(file), file.size(), 0, 8 * kMiB, nowhere, options);
      if (!done) refused = done.error().code;
      return 0;
    });
    EXPECT_LE(peak, limit + kMiB);
    EXPECT_EQ(refused.has_value(), limit < 12 * kMiB);
    if (refused) {
      EXPECT_EQ(*refused, Errc::memory_limit);
    }
  }
}

TEST(RangeReader, MoreStreamsThanCheckpointsAreWalkedOver) {
  plain::StreamBuilder builder;
  builder.opaque(Bytes(1, std::byte{7}));
  const Bytes stream = builder.finish();
  constexpr std::size_t kStreams = (1 << 17) + 1;
  Bytes file;
  for (std::size_t i = 0; i < kStreams; ++i) file.insert(file.end(), stream.begin(), stream.end());
  RangeReader reader = open(file);
  EXPECT_EQ(reader.totals().streams, kStreams);
  Bytes part;
  ASSERT_TRUE(reader.read(kStreams - 2, kStreams, append_to(part)));
  EXPECT_EQ(part, Bytes(2, std::byte{7}));
}

}  // namespace
}  // namespace gdelta::test
