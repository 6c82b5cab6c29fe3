// Pages of up to four lanes whose maps a warp undoes in its registers: every map and lane step, of every width, as
// they are stored alone and beside other columns; and what becomes of the checks of such pages.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/mapped_values.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/words/lane_maps.h"
#include "kernels/words/maps/scaled.h"

namespace gdelta::test {
namespace {

/// Every pair of lanes by every kind of step, and what encoders write.
std::vector<std::vector<LaneStep>> all_steps(int tuple) {
  std::vector<std::vector<LaneStep>> all{{}};
  if (tuple == 1) return all;
  std::vector<LaneStep> differences;
  for (int lane = tuple; lane-- > 1;)
    differences.push_back({static_cast<std::uint8_t>(lane), 0, LaneStepKind::minus});
  all.push_back(differences);
  all.push_back({{1, 0, LaneStepKind::minus}, {0, 1, LaneStepKind::plus_half}});
  std::vector<LaneStep> pairs;
  for (const auto kind : {LaneStepKind::minus, LaneStepKind::minus_half, LaneStepKind::plus_half})
    for (int target = 0; target < tuple; ++target)
      for (int source = 0; source < tuple; ++source) {
        if (target == source) continue;
        pairs.push_back(
            {static_cast<std::uint8_t>(target), static_cast<std::uint8_t>(source), kind});
        if (pairs.size() < LaneMaps::kMostSteps) continue;
        all.push_back(std::move(pairs));
        pairs.clear();
      }
  if (!pairs.empty()) all.push_back(pairs);
  return all;
}

format::ColumnModel mixed_orders(std::uint32_t page_groups) {
  auto model = pack_model(1, page_groups);
  model.front.orders[0] = 3;
  model.front.orders[2] = 0;
  return model;
}

/// The last column is not raw, which would be no test.
void expect_packed(const Bytes& block, const Layout& layout) {
  const auto parsed = format::parse_chunk_block(block, 0, layout);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->columns.back().model.section.coder, Coder::pack) << to_string(layout);
}

/// Chunks of a layout whose last column has maps; `turn` chooses them.
std::vector<TestChunk> mapped_chunks(const Layout& layout, unsigned turn) {
  const Column& column = layout.columns.back();
  std::vector<TestChunk> chunks;
  const auto add = [&](const ColumnMaps& maps, std::uint64_t records, unsigned exception_every,
                       const format::ColumnModel& model) {
    ChunkPlan plan;
    plan.columns.assign(layout.columns.size(), pack_model(1, 2));
    plan.columns.back() = model;
    plan.maps.resize(layout.columns.size());
    plan.maps.back() = maps;
    Bytes values = mapped_values(layout, maps, records, exception_every);
    Bytes block = encode_chunk(values, layout, false, plan);
    if (records > 100) expect_packed(block, layout);
    chunks.push_back({std::move(block), std::move(values)});
  };
  for (const auto& steps : all_steps(column.tuple)) {
    const ColumnMaps maps{.lanes = maps_in_turn(column, turn++), .steps = steps};
    add(maps, 300, 0, pack_model(1, 2));
  }
  const ColumnMaps maps{.lanes = maps_in_turn(column, turn),
                        .steps = all_steps(column.tuple).back()};
  for (const std::uint64_t records : {1, 255, 256, 257}) add(maps, records, 0, pack_model(2, 2));
  add(maps, 400, 30, pack_model(0, 2));
  add(maps, 1100, 0, mixed_orders(8));
  add(maps, 1100, 200, pack_model(1, 8));
  return chunks;
}

/// Decodes chunks as they are, held against their checks or not.
std::vector<ChunkStatus> statuses(const std::vector<TestChunk>& chunks, const Layout& layout,
                                  bool verify, Bytes& decoded,
                                  std::vector<std::uint64_t>& block_at) {
  Bytes stream;
  const StreamInfo info = info_of(chunks, layout, stream, 6);
  const auto table = make_chunk_table(info);
  EXPECT_TRUE(table);
  RangeOnDevice range(stream, *table, 0, chunks.size(), info.decoded_bytes, 0);
  range.decode.verify = verify;
  range.run();
  decoded = range.out.to_host();
  for (const ChunkInfo& chunk : info.chunks) block_at.push_back(chunk.byte);
  return range.chunk_status();
}

/// That they are right without being held against their checks, too.
void expect_decoded_unverified(const std::vector<TestChunk>& chunks, const Layout& layout) {
  Bytes decoded, expected;
  std::vector<std::uint64_t> block_at;
  const auto status = statuses(chunks, layout, false, decoded, block_at);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_EQ(status[i].code, static_cast<int>(Errc::ok)) << to_string(layout) << " chunk " << i;
    expected.insert(expected.end(), chunks[i].values.begin(), chunks[i].values.end());
  }
  ASSERT_TRUE(decoded == expected) << to_string(layout);
}

TEST(CudaTileMapsSmall, RestoreEveryWidthTupleAndMap) {
  GDELTA_NEEDS_GPU();
  unsigned turn = 0;
  for (const ValueType type : {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::i32,
                               ValueType::u64, ValueType::f32, ValueType::f64})
    for (std::uint8_t tuple = 1; tuple <= 4; ++tuple) {
      const bool big_endian = turn++ % 2 == 0;
      const Column column{type, tuple, big_endian};
      const Layout alone{{column}};
      const std::vector<TestChunk> chunks = mapped_chunks(alone, turn);
      expect_decoded(chunks, alone, 6, turn % 3);
      expect_decoded_unverified(chunks, alone);
    }
}

TEST(CudaTileMapsSmall, RestoreDecimalsWhateverTheirWordsAndDigits) {
  GDELTA_NEEDS_GPU();
  constexpr std::int32_t kMost = DecimalMap::kMostShort;
  for (const std::uint8_t tuple : {1, 3}) {
    const Layout layout{{{ValueType::f32, tuple, false}}};
    std::vector<TestChunk> chunks;
    const auto add = [&](std::uint64_t digits, std::int32_t first, std::int32_t step) {
      const LaneMapping decimal{.map = number_of(ValueMap::decimal), .step = digits};
      Bytes values;
      for (std::int32_t i = 0; i < 600; ++i) {
        const auto word = static_cast<std::uint32_t>(first + i * step);
        format::append_le(values, 4, value_of(decimal, 4, word));
      }
      ColumnMaps maps;
      maps.lanes.assign(tuple, decimal);
      chunks.push_back(mapped_chunk(layout, values, pack_model(1, 2), maps));
      expect_packed(chunks.back().block, layout);
    };
    add(0, kMost - 300, 1);  // some of them longer, rounded
    add(0, -kMost - 300, 1);
    add(0, 1 << 30, 1 << 7);
    add(3, -300, 1);
    add(10, -300, 1);
    add(12, -300, 1);
    expect_decoded(chunks, layout);
    expect_decoded_unverified(chunks, layout);
  }
}

TEST(CudaTileMapsSmall, RestoreColumnsBesideOthers) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type : {ValueType::u16, ValueType::f32, ValueType::u64}) {
    const Layout layout{{{ValueType::u8, 3, false}, {type, 2, false}}};
    expect_decoded(mapped_chunks(layout, 1), layout);
  }
}

void store_u32(Bytes& block, std::uint64_t at, std::uint32_t value) {
  format::store_le(reinterpret_cast<unsigned char*>(block.data()) + at, 4, value);
}

/// The chunk with another check of its second page.
TestChunk with_other_check(TestChunk chunk, const format::ParsedChunk& parsed) {
  const std::uint64_t at = parsed.frame.head_at + parsed.columns[0].part_checks_at() + 4;
  chunk.block[at] ^= std::byte{4};
  const std::uint64_t check_at = parsed.frame.check_at();
  store_u32(chunk.block, check_at, format::block_check(std::span(chunk.block).first(check_at)));
  return chunk;
}

TEST(CudaTileMapsSmall, HoldPagesAgainstTheirChecks) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::f32, 2, false}}};
  ColumnMaps maps;
  maps.lanes.assign(2, {.map = number_of(ValueMap::decimal), .step = 2});
  maps.steps = {{1, 0, LaneStepKind::minus}};
  for (const unsigned exception_every : {0u, 50u}) {
    const TestChunk good = mapped_chunk(layout, mapped_values(layout, maps, 700, exception_every),
                                        pack_model(1, 2), maps);
    const auto parsed = format::parse_chunk_block(good.block, 0, layout);
    ASSERT_TRUE(parsed);
    const format::ColumnHead& head = parsed->columns[0];
    ASSERT_EQ(head.exceptions > 0, exception_every > 0);
    const TestChunk bad = with_other_check(good, *parsed);
    const std::uint64_t ends_at = parsed->frame.head_at + head.part_ends_at;
    const std::uint64_t page_at =
        parsed->frame.payload_at() + head.section_at +
        format::load_le(reinterpret_cast<const unsigned char*>(good.block.data()) + ends_at, 4);
    for (const bool verify : {true, false}) {
      Bytes decoded;
      std::vector<std::uint64_t> block_at;
      const auto status = statuses({good, bad, good}, layout, verify, decoded, block_at);
      for (const std::size_t i : {0, 2}) EXPECT_EQ(status[i].code, static_cast<int>(Errc::ok));
      EXPECT_EQ(status[1].code, static_cast<int>(verify ? Errc::corrupt : Errc::ok));
      EXPECT_EQ(status[1].byte, verify ? block_at[1] + page_at : 0);
      Bytes expected;
      for (int i = 0; i < 3; ++i)
        expected.insert(expected.end(), good.values.begin(), good.values.end());
      EXPECT_TRUE(decoded == expected) << verify << ' ' << exception_every;
    }
  }
}

TEST(CudaTileMapsSmall, ReportPagesThatBreakARule) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::i32, 3, false}}};
  ColumnMaps maps;
  maps.steps = {{1, 0, LaneStepKind::minus}, {2, 1, LaneStepKind::minus_half}};
  const TestChunk good =
      mapped_chunk(layout, mapped_values(layout, maps, 700, 0), pack_model(1, 2), maps);
  const auto parsed = format::parse_chunk_block(good.block, 0, layout);
  ASSERT_TRUE(parsed);
  TestChunk bad = good;
  const std::uint64_t section_at = parsed->frame.payload_at() + parsed->columns[0].section_at;
  // The first group's descriptor, behind the states of three lanes.
  bad.block[section_at + 12] = bad.block[section_at + 13] = std::byte{0xff};
  Bytes decoded;
  std::vector<std::uint64_t> block_at;
  const auto status = statuses({good, bad, good}, layout, true, decoded, block_at);
  EXPECT_EQ(status[0].code, static_cast<int>(Errc::ok));
  EXPECT_EQ(status[1].code, static_cast<int>(Errc::corrupt));
  EXPECT_EQ(status[1].byte, block_at[1] + section_at);
  EXPECT_EQ(status[2].code, static_cast<int>(Errc::ok));
}

}  // namespace
}  // namespace gdelta::test
#endif
