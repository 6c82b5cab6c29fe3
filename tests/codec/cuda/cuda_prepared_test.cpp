// Calls, small ones and others, of chunks whose heads the host has read: the same values and verdicts as without, whatever happens to
// the stream behind the host's back.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>

#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/prepared_stream.h"

namespace gdelta::test {
namespace {

struct PreparedOutcome {
  std::vector<ChunkStatus> status;
  Bytes content;
};

PreparedOutcome decode(const Bytes& stream, const ChunkTable& table, bool verify = true,
                       std::size_t first = 0, std::size_t count = ~std::size_t{0},
                       std::size_t less = 0) {
  count = std::min<std::size_t>(count, table.num_chunks - first);
  RangeOnDevice range(stream, table, first, count, table.decoded_bytes - less, 0);
  range.decode.verify = verify;
  range.run();
  return {range.chunk_status(), range.out.to_host()};
}

/// Walks whose lanes differ, with an outlier now and then.
Bytes walks(const char* record, std::uint64_t records, std::uint64_t seed = 1) {
  const Layout layout = parse_record(record).value();
  std::mt19937_64 random(seed);
  Bytes values;
  std::vector<std::uint64_t> at(64);
  for (std::uint64_t r = 0; r < records; ++r) {
    std::size_t lane = 0;
    for (const Column& column : layout.columns) {
      const int bytes = value_bytes(column.type);
      for (int l = 0; l < column.tuple; ++l, ++lane) {
        at[lane] += (random() % 8 + lane) & 7;
        const bool is_outlier = random() % 150 == 0;
        put_value(values, is_outlier ? at[lane] ^ (1ull << (8 * bytes - 2)) : at[lane], bytes,
                  column.big_endian);
      }
    }
  }
  return values;
}

/// What is said of damage with prepared chunks is what is said without, but that every wrong head is corrupt: the host has
/// read it when it was right.
void expect_alike(const PreparedOutcome& prepared, const PreparedOutcome& plain,
                  const PreparedStream& stream, const std::string& what) {
  ASSERT_EQ(prepared.status.size(), plain.status.size()) << what;
  for (std::size_t i = 0; i < plain.status.size(); ++i) {
    const ChunkInfo& chunk = stream.info.chunks[i];
    std::int32_t code = plain.status[i].code;
    if (code == static_cast<int>(Errc::unsupported_feature)) code = static_cast<int>(Errc::corrupt);
    const bool has_block = chunk.byte + chunk.block_bytes <= stream.bytes.size();
    if (code == static_cast<int>(Errc::truncated) && has_block)
      code = static_cast<int>(Errc::corrupt);
    ASSERT_EQ(prepared.status[i].code, code) << what << ", chunk " << i;
    ASSERT_EQ(prepared.status[i].byte, plain.status[i].byte) << what << ", chunk " << i;
    if (code != static_cast<int>(Errc::ok)) continue;
    const auto begin = static_cast<std::ptrdiff_t>(chunk.decoded_at);
    const auto end = static_cast<std::ptrdiff_t>(chunk.decoded_at + chunk.decoded_bytes);
    ASSERT_TRUE(std::equal(prepared.content.begin() + begin, prepared.content.begin() + end,
                           plain.content.begin() + begin))
        << what << ", chunk " << i;
  }
}

void expect_values(const PreparedOutcome& outcome, const Bytes& values, const std::string& what) {
  for (const ChunkStatus& status : outcome.status)
    ASSERT_EQ(status.code, static_cast<int>(Errc::ok)) << what << ", byte " << status.byte;
  ASSERT_TRUE(outcome.content == values) << what;
}

TEST(CudaPreparedSmall, DecodesEveryWidthTupleAndOrder) {
  GDELTA_NEEDS_GPU();
  int raw = 0;
  for (const char* type : {"u8", "i16", "i24", "i32", "f32", "i64"}) {
    for (int tuple = 1; tuple <= 4; ++tuple) {
      for (const int order : {0, 1, 2, 5, 8}) {
        const std::string record = std::string(type) + "x" + std::to_string(tuple);
        // A whole page and a bit, and a last chunk of a few values.
        const Bytes values = walks(record.c_str(), 5003);
        const PreparedStream stream(record.c_str(), values, 4200ull * 8 * tuple, order);
        const std::string what = record + ", order " + std::to_string(order);
        // With bytes of that order nothing may shrink, and what does not shrink is raw.
        if (!stream.is_prepared() && order != 1) {
          ++raw;
          continue;
        }
        ASSERT_TRUE(stream.is_prepared()) << what;
        for (const bool verify : {false, true}) {
          for (const ChunkTable& table :
               {stream.table, stream.without_columns(), stream.without_tasks()})
            expect_values(decode(stream.bytes, table, verify), values, what);
        }
      }
    }
  }
  EXPECT_LE(raw, 8) << "of 120";
}

TEST(CudaPreparedSmall, DecodesEveryLengthOfAPage) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i16x3", "f64x2"}) {
    for (const std::uint64_t records : {40, 127, 128, 129, 255, 256, 511, 512, 513, 1365, 2047,
                                        2048, 4095, 4096, 4097, 8192, 8193}) {
      const Bytes values = walks(record, records);
      const PreparedStream stream(record, values, 1 << 20, 1);
      const std::string what = std::string(record) + ", records " + std::to_string(records);
      ASSERT_TRUE(stream.is_prepared()) << what;
      expect_values(decode(stream.bytes, stream.table), values, what);
    }
  }
}

TEST(CudaPreparedSmall, DecodesColumnsBesideEachOther) {
  GDELTA_NEEDS_GPU();
  const char* const record = "i32x3,u16,f64:be";
  const Bytes values = walks(record, 9001);
  const PreparedStream stream(record, values, 60000, std::nullopt);
  ASSERT_TRUE(stream.is_prepared());
  ASSERT_GT(stream.table.num_chunks, 2u);
  for (const ChunkTable& table : {stream.table, stream.without_columns(), stream.without_tasks()})
    expect_values(decode(stream.bytes, table), values, record);
}

TEST(CudaPreparedSmall, DecodesARange) {
  GDELTA_NEEDS_GPU();
  const Bytes values = walks("i32x2", 20000);
  const PreparedStream stream("i32x2", values, 30000, 2);
  ASSERT_TRUE(stream.is_prepared());
  for (const ChunkTable& table : {stream.table, stream.without_columns(), stream.without_tasks()}) {
    const PreparedOutcome outcome = decode(stream.bytes, table, true, 2, 2);
    const ChunkInfo& first = stream.info.chunks[2];
    ASSERT_EQ(outcome.status.size(), 2u);
    for (const ChunkStatus& status : outcome.status) ASSERT_EQ(status.code, 0);
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first.decoded_at);
    ASSERT_TRUE(std::equal(begin, begin + 60000, outcome.content.begin()));
  }
}

TEST(CudaPreparedSmall, SaysOfDamageWhatIsSaidWithoutIt) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "u16x2,i32"}) {
    const Bytes values = walks(record, 700);
    const PreparedStream stream(record, values, values.size() / 2 / 8 * 8, 2);
    ASSERT_TRUE(stream.is_prepared());
    const ChunkTable plain = stream.unprepared();
    std::mt19937_64 random(3);
    const std::size_t begin = stream.info.chunks[0].byte;
    const std::size_t end = stream.info.chunks[1].byte + stream.info.chunks[1].block_bytes;
    std::size_t looks = 0, found = 0;
    for (std::size_t at = begin; at < end; at += 2 + random() % 7) {
      Bytes damaged = stream.bytes;
      damaged[at] ^= static_cast<std::byte>(1u << random() % 8);
      // Often elsewhere, too: the first check that fails is told, whichever page is decoded first.
      for (std::uint64_t more = random() % 4; more > 0; --more)
        damaged[begin + random() % (end - begin)] ^= static_cast<std::byte>(1u << random() % 8);
      const bool verify = random() % 4 != 0;
      const PreparedOutcome outcome = decode(damaged, stream.table, verify);
      const PreparedOutcome expected = decode(damaged, plain, verify);
      const std::string what = std::string(record) + ", byte " + std::to_string(at);
      expect_alike(outcome, expected, stream, what);
      for (const ChunkTable& table : {stream.without_columns(), stream.without_tasks()})
        expect_alike(decode(damaged, table, verify), expected, stream, what);
      ++looks;
      found += outcome.status[0].code != 0 || outcome.status[1].code != 0 ? 1 : 0;
    }
    EXPECT_GT(found, looks * 2 / 3);  // in payloads that are not verified damage may be missed
  }
}

TEST(CudaPreparedSmall, SaysOfLacksWhatIsSaidWithoutIt) {
  GDELTA_NEEDS_GPU();
  const Bytes values = walks("i32", 6000);
  const PreparedStream stream("i32", values, 8000, 1);
  ASSERT_TRUE(stream.is_prepared());
  const ChunkTable plain = stream.unprepared();
  const ChunkTable tasks = stream.without_columns(), heads = stream.without_tasks();
  for (const std::size_t less : {1, 7999, 8001, 23999}) {
    const PreparedOutcome expected = decode(stream.bytes, plain, true, 0, 3, less);
    for (const ChunkTable& table : {stream.table, tasks, heads})
      expect_alike(decode(stream.bytes, table, true, 0, 3, less), expected, stream,
                   "room less " + std::to_string(less));
  }
  for (const std::uint64_t left : {stream.info.chunks[1].byte, stream.info.chunks[1].byte + 20,
                                   stream.info.chunks[2].byte - 1, stream.info.chunks[2].byte}) {
    const Bytes cut = stream.cut_to(left).bytes;
    for (const ChunkTable& table : {stream.table, tasks, heads}) {
      const PreparedOutcome outcome = decode(cut, table);
      expect_alike(outcome, decode(cut, plain), stream.cut_to(left),
                   "cut at " + std::to_string(left));
      EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::ok));
      EXPECT_EQ(outcome.status[2].code, static_cast<int>(Errc::truncated));
    }
  }
}

TEST(CudaPreparedSmall, DecodesCallsBehindEachOtherInTheSameScratch) {
  GDELTA_NEEDS_GPU();
  const Bytes values = walks("i16x2", 20000);
  const PreparedStream stream("i16x2", values, 9000, 1);
  ASSERT_TRUE(stream.is_prepared());
  RangeOnDevice range(stream.bytes, stream.table, 0, stream.table.num_chunks, values.size(), 0);
  for (int call = 0; call < 50; ++call) {
    if (call % 7 == 3)
      GDELTA_CUDA_OK(cudaMemsetAsync(range.scratch.data(), 0xff, range.scratch.size(), nullptr));
    GDELTA_CUDA_OK(cudaMemsetAsync(range.out.data(), 0xa5, range.out.size(), nullptr));
    GDELTA_CUDA_OK(cudaMemsetAsync(range.status.data(), 0xa5, range.status.size(), nullptr));
    ASSERT_TRUE(device_decode(range.decode, nullptr));
  }
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  expect_values({range.chunk_status(), range.out.to_host()}, values, "calls in a row");
}

TEST(CudaPreparedSmall, PreparesWholeColumnsOfPagesAlone) {
  const char* const record = "i32,u8";
  const Bytes values = walks(record, 3000);
  const PreparedStream stream(record, values, 0, 1);
  ASSERT_TRUE(stream.is_prepared());
  const auto table_if = [&](const auto& change) {
    StreamInfo info = stream.info;
    change(info);
    return make_chunk_table(info).value();
  };
  const auto is_known_if = [&](const auto& change) {
    return table_if([&](StreamInfo& info) { change(info.chunks[0]); }).heads_at > 0;
  };
  EXPECT_TRUE(is_known_if([](ChunkInfo&) {}));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { chunk.head.clear(); }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { chunk.head.pop_back(); }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { chunk.head.emplace_back(); }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { chunk.head[9] ^= std::byte{1}; }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { chunk.head.back() ^= std::byte{1}; }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { ++chunk.block_bytes; }));
  EXPECT_FALSE(is_known_if([](ChunkInfo& chunk) { ++chunk.decoded_bytes; }));
  EXPECT_FALSE(table_if([&](StreamInfo& info) {
                 info = inspect(stream.bytes, {.models = false}).value();
               }).heads_at > 0);
  // Other columns than those, whose heads are known all the same.
  for (const Coder coder : {Coder::raw, Coder::ans}) {
    EncodeOptions options;
    options.layout = parse_record(record).value();
    options.level = 1;
    options.coder = coder;
    options.device = "cpu";
    const Bytes bytes = compress(values, options).value();
    const ChunkTable table = make_chunk_table(inspect(bytes).value()).value();
    EXPECT_TRUE(table.prepared_pages.empty());
    EXPECT_GT(table.heads_at, 0u);
  }
}

TEST(CudaPreparedSmall, TakesNoOtherStreamForItsOwn) {
  GDELTA_NEEDS_GPU();
  const Bytes values = walks("i32", 3000);
  const PreparedStream stream("i32", values, 12000, 1);
  ASSERT_TRUE(stream.is_prepared());
  const auto expect_refused = [&](const PreparedStream& other) {
    ChunkTable table = stream.table;  // but for where chunks are
    table.decoded_bytes = table.largest_chunk = other.table.decoded_bytes;
    const auto places = chunk_table_bytes(table.layout, table.num_chunks);
    std::copy_n(other.table.bytes.begin(), places, table.bytes.begin());
    table.prepared_pages.clear();
    for (const ReadyTasks& ready : {stream.table.ready, ReadyTasks{}}) {
      table.ready = ready;
      const PreparedOutcome outcome = decode(other.bytes, table);
      ASSERT_EQ(outcome.status[0].code, static_cast<int>(Errc::corrupt));
      EXPECT_EQ(outcome.status[0].byte, other.info.chunks[0].byte);
    }
    if (other.bytes.size() != stream.bytes.size()) return;
    table.prepared_pages = stream.table.prepared_pages;
    const PreparedOutcome small = decode(other.bytes, table);
    ASSERT_EQ(small.status[0].code, static_cast<int>(Errc::corrupt));
    EXPECT_EQ(small.status[0].byte, other.info.chunks[0].byte);
  };
  Bytes changed = values;
  changed[0] ^= std::byte{1};
  const PreparedStream alike("i32", changed, 12000, 1);
  ASSERT_EQ(stream.bytes.size(), alike.bytes.size());
  expect_refused(alike);
  // Shorter and longer ones, with more and fewer bytes to a record's place.
  for (const std::size_t records : {40, 2999, 2985, 3000})
    expect_refused(PreparedStream("i32", walks("i32", records, 2), 12000, 1));
}

// What is said of places is not what heads say, in a stream that is all right.
TEST(CudaPreparedSmall, RefusesATableOfSeveralPieces) {
  GDELTA_NEEDS_GPU();
  const Bytes values = walks("i32", 6000);
  const PreparedStream stream("i32", values, 12000, 1);
  ASSERT_EQ(stream.table.num_chunks, 2u);
  for (const ChunkTable& table : {stream.without_columns(), stream.without_tasks()}) {
    const auto status_with = [&](const auto& change) {
      ChunkTable changed = table;
      cuda::TableChunk chunk;
      std::byte* const at = changed.bytes.data() + cuda::table_chunks_at(1);
      std::memcpy(&chunk, at, sizeof chunk);
      change(chunk);
      std::memcpy(at, &chunk, sizeof chunk);
      return decode(stream.bytes, changed).status[0].code;
    };
    constexpr int kCorrupt = static_cast<int>(Errc::corrupt);
    EXPECT_EQ(status_with([](cuda::TableChunk&) {}), static_cast<int>(Errc::ok));
    EXPECT_EQ(status_with([](cuda::TableChunk& chunk) { --chunk.block_bytes; }), kCorrupt);
    EXPECT_EQ(status_with([](cuda::TableChunk& chunk) { chunk.block_bytes = 20; }), kCorrupt);
    EXPECT_EQ(status_with([](cuda::TableChunk& chunk) { chunk.decoded_bytes -= 4; }), kCorrupt);
    EXPECT_EQ(status_with([](cuda::TableChunk& chunk) { ++chunk.block_at; }), kCorrupt);
    EXPECT_EQ(status_with([](cuda::TableChunk& chunk) { chunk.block_at += 16; }), kCorrupt);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
