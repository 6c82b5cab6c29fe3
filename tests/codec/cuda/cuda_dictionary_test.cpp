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

}  // namespace
}  // namespace gdelta::test
#endif
