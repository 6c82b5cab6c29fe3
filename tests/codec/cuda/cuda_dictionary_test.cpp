// Columns with dictionaries: what the CPU encodes, the device decodes, and it refuses what the CPU does.
#ifdef GDELTA_HAS_CUDA
#include "codec/chunk/dictionary_cases.h"
#include "codec/cuda/cuda_cases.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

TestChunk test_chunk(LookedUpChunk chunk) {
  return {std::move(chunk.block), std::move(chunk.values)};
}

TEST(CudaMapsSmall, LookUpLanesOfEveryType) {
  GDELTA_NEEDS_GPU();
  for (const Coder coder : device_coders()) {
    if (!format::codes_residuals(coder)) continue;
    for (const ValueType type : {ValueType::u8, ValueType::i16, ValueType::u24, ValueType::i32,
                                 ValueType::f16, ValueType::f32, ValueType::u64, ValueType::f64})
      for (const bool big_endian : {false, true}) {
        const Layout layout{{{type, 3, big_endian}}};
        std::vector<TestChunk> chunks;
        for (const std::uint64_t records : {8, 700, 2500})
          for (const std::int64_t distinct : {1, 60, 5000})
            chunks.push_back(test_chunk(
                looked_up_chunk(layout, records, distinct, {true, records < 1000, true}, coder)));
        expect_decoded(chunks, layout);
      }
  }
}

// More entries than the threads of a block expand at once.
TEST(CudaMapsSmall, LookUpInLongTables) {
  GDELTA_NEEDS_GPU();
  for (const auto& [type, records] : {std::pair{ValueType::u32, 10000}, {ValueType::f64, 17000}}) {
    const Layout layout{{{type, 1, false}}};
    const auto of_most = static_cast<std::uint64_t>(records);
    std::vector<TestChunk> chunks;
    for (const std::int64_t distinct : {records / 8, 1025, 1026})
      chunks.push_back(test_chunk(looked_up_chunk(layout, of_most, distinct, {true}, Coder::pack)));
    expect_decoded(chunks, layout);
  }
}

TEST(CudaMapsSmall, LeaveTablesThatACoderHasMadeToTheHost) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::f64, 2, false}}};
  std::vector<TestChunk> chunks;
  for (const std::vector<Coder>& coders : {table_coders(), {}})
    chunks.push_back(test_chunk(
        looked_up_chunk(layout, 1500, 100, {true, true}, Coder::pack, Workers::alone(), coders)));
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 2);
  EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::needs_host));
  EXPECT_EQ(outcome.status[1].code, static_cast<int>(Errc::ok));
  EXPECT_TRUE(outcome.contents[1] == chunks[1].values);
}

TEST(CudaMapsSmall, RefuseIndicesBeyondTheirTable) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u32, 2, false}}};
  const DictionaryOfWords words(layout, 700);
  std::vector<TestChunk> chunks;
  for (const auto& [record, lane, index] :
       {std::tuple{5, 0, 9}, {0, 0, 10}, {699, 0, 10}, {300, 1, 10}})
    chunks.push_back(test_chunk(words.with_index(static_cast<std::uint64_t>(record), lane,
                                                 static_cast<std::uint64_t>(index))));
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, chunks.size());
  ASSERT_EQ(outcome.status.size(), chunks.size());
  EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::ok));
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::corrupt)) << i;
    EXPECT_EQ(outcome.status[i].byte,
              outcome.block_at[i] + words.table_at({chunks[i].block, {}}, i == 3 ? 1 : 0))
        << i;
  }
}

// Of columns that are looked up where their values are stored, in whole tiles and at the end of a page.
TEST(CudaMapsSmall, RefuseIndicesOfLanesAlone) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u32, 1, false}}};
  constexpr std::uint64_t kRecords = 20011;
  for (const Coder coder : {Coder::pack, Coder::ans}) {
    const DictionaryOfWords words(layout, kRecords, coder);
    for (const std::uint64_t record : {std::uint64_t{0}, std::uint64_t{5003}, kRecords - 1}) {
      const std::vector<TestChunk> chunks{test_chunk(words.with_index(record, 0, 9)),
                                          test_chunk(words.with_index(record, 0, 10))};
      const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 2);
      EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::ok));
      EXPECT_TRUE(outcome.contents[0] == chunks[0].values);
      EXPECT_EQ(outcome.status[1].code, static_cast<int>(Errc::corrupt)) << record;
      EXPECT_EQ(outcome.status[1].byte,
                outcome.block_at[1] + words.table_at({chunks[1].block, {}}, 0));
    }
  }
}

/// Values of which each is the one behind the last in its table, over and over, so that what sums would go on with behind the last
/// record is beyond every table.
TestChunk rising_chunk(const Layout& layout, std::uint64_t records, Coder coder) {
  const Column& column = layout.columns[0];
  constexpr std::uint64_t kEntries = 11;
  Bytes values;
  for (std::uint64_t i = 0; i < records * column.tuple; ++i)
    put_value(values, 1000 + (kEntries - records % kEntries + i / column.tuple) % kEntries,
              value_bytes(column.type), column.big_endian);
  ChunkPlan plan;
  plan.columns = {short_pages(coder, 2)};
  ColumnMaps& maps = plan.maps.emplace_back();
  for (int lane = 0; lane < column.tuple; ++lane) {
    maps.lanes.push_back({.map = static_cast<std::uint8_t>(ValueMap::dictionary)});
    std::vector<std::uint64_t>& table = maps.tables.emplace_back();
    for (std::uint64_t value = 0; value < kEntries; ++value) table.push_back(1000 + value);
  }
  Bytes block = encode_chunk(values, layout, false, plan);
  return {std::move(block), std::move(values)};
}

TEST(CudaMapsSmall, LookNothingUpBehindTheLastRecord) {
  GDELTA_NEEDS_GPU();
  for (const Coder coder : {Coder::pack, Coder::ans})
    for (const ValueType type : {ValueType::u32, ValueType::i64})
      for (const std::uint8_t tuple : {1, 2, 4}) {
        const Layout layout{{{type, tuple, false}}};
        std::vector<TestChunk> chunks;
        for (const std::uint64_t records : {89, 700, 9001})
          chunks.push_back(rising_chunk(layout, records, coder));
        expect_decoded(chunks, layout);
      }
}

// Values that are looked up where they are stored are held against their checks there.
TEST(CudaMapsSmall, CompareWhatIsLookedUpWithItsChecks) {
  GDELTA_NEEDS_GPU();
  for (const Coder coder : {Coder::pack, Coder::ans}) {
    const Layout layout{{{ValueType::u32, 1, false}}};
    const DictionaryOfWords words(layout, 9001, coder);
    LookedUpChunk chunk = words.with_index(0, 0, 9);
    chunk.block[words.table_at(chunk, 0)] ^=
        std::byte{1};  // the first value, from which the others go on
    const auto error = words.error_of(chunk);
    ASSERT_TRUE(error);
    const DeviceOutcome outcome = decode_on_device({test_chunk(chunk)}, layout, 0, 1);
    EXPECT_EQ(outcome.status[0].code, static_cast<int>(error->code));
    EXPECT_EQ(outcome.status[0].byte, outcome.block_at[0] + error->byte.value());
  }
}

// What is undone where values are stored does not end there, if a lane's are looked up behind it.
TEST(CudaMapsSmall, LookUpLanesBesideOnesWithOtherMaps) {
  GDELTA_NEEDS_GPU();
  for (const Coder coder : {Coder::pack, Coder::ans})
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{ValueType::u32, 3, big_endian}}};
      std::vector<TestChunk> chunks;
      for (const std::uint64_t records : {1, 300, 3000}) {
        Draws draws(static_cast<unsigned>(records));
        const auto below = [&](std::int64_t most) {
          return static_cast<std::uint64_t>(draws.below(most));
        };
        Bytes values;
        for (std::uint64_t i = 0; i < records; ++i)
          for (const std::uint64_t value :
               {below(9) * 1'000'003, 3 * below(1000) + 1, 3 * below(1000) + 1})
            put_value(values, value, 4, big_endian);
        ChunkPlan plan;
        plan.columns = {short_pages(coder, 1)};
        ColumnMaps& maps = plan.maps.emplace_back();
        maps.tables.resize(3);
        for (std::uint64_t value = 0; value < 9; ++value)
          maps.tables[0].push_back(value * 1'000'003);
        const LaneMapping multiple{
            .map = static_cast<std::uint8_t>(ValueMap::multiple), .step = 3, .offset = 1};
        maps.lanes = {{.map = static_cast<std::uint8_t>(ValueMap::dictionary)}, multiple, multiple};
        maps.steps = {{2, 1, LaneStepKind::minus}};
        Bytes block = encode_chunk(values, layout, false, plan);
        chunks.push_back({std::move(block), std::move(values)});
      }
      expect_decoded(chunks, layout);
    }
}

// Long enough for threads to look up several values at once.
TEST(CudaMapsSmall, RefuseIndicesOfLongColumns) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u32, 2, false}}};
  constexpr std::uint64_t kRecords = 540000;
  const DictionaryOfWords words(layout, kRecords);
  for (const std::uint64_t index : {DictionaryOfWords::kValues - 1, DictionaryOfWords::kValues}) {
    const std::vector<TestChunk> chunks{test_chunk(words.with_index(kRecords / 2, 1, index))};
    const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 1);
    if (index < DictionaryOfWords::kValues) {
      EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::ok));
      EXPECT_TRUE(outcome.contents[0] == chunks[0].values);
      continue;
    }
    EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::corrupt));
    EXPECT_EQ(outcome.status[0].byte,
              outcome.block_at[0] + words.table_at({chunks[0].block, {}}, 1));
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
