// Columns behind maps in a pass of their own: what comes back, whatever the exceptions, and that threads
// change no byte.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <bit>
#include <random>

#include "codec/chunk/decode_block.h"
#include "codec/plan/planned_values.h"
#include "stages/any_maps.h"

namespace gdelta::test {
namespace {

constexpr std::uint64_t kPiece = 4096;  // tuples that are mapped at once

LaneMapping mapping(ValueMap map, std::uint64_t step = 0, std::uint64_t offset = 0) {
  return {.map = static_cast<std::uint8_t>(map), .step = step, .offset = offset};
}
LaneMapping decimal(std::uint64_t digits) { return mapping(ValueMap::decimal, digits); }
LaneMapping scaled(double step) {
  return mapping(ValueMap::scaled, std::bit_cast<std::uint64_t>(step));
}
LaneMapping multiple(std::uint64_t step, std::uint64_t offset) {
  return mapping(ValueMap::multiple, step, offset);
}

ColumnBytes bytes_of_column(const Bytes& values, const Layout& layout) {
  return {.first = reinterpret_cast<const unsigned char*>(values.data()),
          .record_bytes = layout.record_bytes(),
          .records = values.size() / layout.record_bytes(),
          .column = layout.columns[0]};
}

/// Hundredths that wander, in all lanes, but for NaNs and the like at these places.
Bytes hundredths(const Layout& layout, std::uint64_t records,
                 const std::vector<std::uint64_t>& odd_places) {
  const Column& column = layout.columns[0];
  const int bytes = value_bytes(column.type);
  Draws draws(9);
  Bytes values;
  std::int64_t walk = 500;
  for (std::uint64_t place = 0; place < records * column.tuple; ++place) {
    walk += draws.around_zero(20);
    const double number = static_cast<double>(walk) / 100;
    std::uint64_t value = bytes == 8 ? std::bit_cast<std::uint64_t>(number)
                                     : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    if (std::find(odd_places.begin(), odd_places.end(), place) != odd_places.end())
      value = bytes == 8 ? 0x7ff8000000000000 + place : 0x7fc00000 + place;
    put_value(values, value, bytes, column.big_endian);
  }
  return values;
}

ChunkPlan plan_of(Coder coder, const ColumnMaps& maps) {
  ChunkPlan plan;
  plan.columns.resize(1);
  plan.columns[0].section.coder = coder;
  if (format::coder_traits(coder).parts == format::PartRule::pages)
    plan.columns[0].section.part_groups = 8;
  std::fill_n(plan.columns[0].front.orders, kMaxTuple, std::uint8_t{1});
  plan.maps = {maps};
  return plan;
}

/// Encoded and decoded by so many threads; the block is the same as by one.
void expect_round_trip(const Bytes& values, const Layout& layout, const ChunkPlan& plan,
                       std::optional<std::uint64_t> exceptions = {}) {
  const Bytes alone = encode_chunk(values, layout, false, plan);
  const auto parsed = format::parse_chunk_block(alone, 0, layout);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  if (exceptions) {
    EXPECT_EQ(parsed->columns[0].model.section.coder, plan.columns[0].section.coder);
    EXPECT_TRUE(format::maps_in_a_pass(parsed->columns[0].model.front));
    EXPECT_EQ(parsed->columns[0].exceptions, *exceptions);
  }
  for (const int threads : {1, 2, 7}) {
    Workers workers(threads);
    EXPECT_TRUE(encode_chunk(values, layout, false, plan, workers) == alone)
        << to_string(layout) << ", " << threads << " threads";
    Bytes out(values.size(), std::byte{0xa5});
    const auto error = decode_block(alone, 0, layout, out, true, workers);
    EXPECT_FALSE(error) << error->to_string();
    EXPECT_TRUE(out == values) << to_string(layout) << ", " << threads << " threads";
  }
}

/// As many threads as asked for, however few cores there are.
class ChunkMaps : public testing::Test {
 private:
  tbb::global_control allowed_{tbb::global_control::max_allowed_parallelism, 8};
};

TEST_F(ChunkMaps, RestoreExceptionsAtTheEdgesOfPieces) {
  for (const char* record : {"f32", "f64:be", "f32x3"}) {
    const Layout layout = layout_of(record);
    const std::uint64_t lanes = layout.columns[0].tuple;
    for (const std::uint64_t records :
         {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, 5 * kPiece + 1, 9 * kPiece - 1}) {
      std::vector<std::uint64_t> odd = {0, 1, records * lanes - 1};
      for (std::uint64_t piece = 1; piece * kPiece < records; ++piece)
        for (const std::uint64_t place :
             {piece * kPiece * lanes - 1, piece * kPiece * lanes, piece * kPiece * lanes + lanes})
          if (place < records * lanes - 1) odd.push_back(place);
      const Bytes values = hundredths(layout, records, odd);
      const ColumnMaps maps{.lanes = std::vector<LaneMapping>(lanes, decimal(2)), .steps = {}};
      for (const Coder coder : shrinking_coders())
        expect_round_trip(values, layout, plan_of(coder, maps), odd.size());
    }
  }
}

TEST_F(ChunkMaps, ListExceptionsInTheirOrder) {
  const Layout layout = layout_of("f64x4");
  std::vector<std::uint64_t> odd;
  for (std::uint64_t place = 3; place < 3 * kPiece * 4; place += 1009) odd.push_back(place);
  const Bytes values = hundredths(layout, 3 * kPiece, odd);
  const ColumnMaps maps{.lanes = std::vector<LaneMapping>(4, decimal(2)), .steps = {}};
  for (const int threads : {1, 5}) {
    Workers workers(threads);
    const MappedColumn mapped(bytes_of_column(values, layout), maps, workers);
    EXPECT_EQ(mapped.exceptions(), odd.size());
    EXPECT_EQ(mapped.exception_bytes(), odd.size() * 12);
    Bytes bytes;
    mapped.append_behind(bytes);
    ASSERT_EQ(bytes.size(), odd.size() * 12);
    const auto* at = reinterpret_cast<const format::Byte*>(bytes.data());
    for (std::size_t i = 0; i < odd.size(); ++i) {
      EXPECT_EQ(format::load_le(at + 4 * i, 4), odd[i]);
      EXPECT_EQ(format::load_le(at + 4 * odd.size() + 8 * i, 8), 0x7ff8000000000000 + odd[i]);
    }
  }
}

TEST_F(ChunkMaps, MakeIntegersOfTheSameWidth) {
  for (const auto& [record, type] : {std::pair{"f32:bex2", ValueType::i32},
                                     {"f64", ValueType::i64},
                                     {"u24:be", ValueType::i24},
                                     {"f16", ValueType::i16},
                                     {"u8x3", ValueType::i8}}) {
    const Layout layout = layout_of(record);
    const Bytes values = make_values(layout, 50, Pattern::smooth);
    ColumnMaps maps;
    maps.lanes.assign(layout.columns[0].tuple, LaneMapping{});
    const MappedColumn mapped(bytes_of_column(values, layout), maps, Workers::alone());
    EXPECT_EQ(mapped.column().column.type, type);
    EXPECT_FALSE(mapped.column().column.big_endian);
    EXPECT_EQ(mapped.column().records, 50u);
    EXPECT_EQ(mapped.exceptions(), 0u);
    for (int lane = 0; lane < layout.columns[0].tuple; ++lane) {
      std::uint64_t before = 0, after = 0;
      const int bytes = value_bytes(type);
      const unsigned char* from = bytes_of_column(values, layout).at(7, lane);
      for (int b = 0; b < bytes; ++b) {
        const int place = layout.columns[0].big_endian ? bytes - 1 - b : b;
        before |= std::uint64_t{from[place]} << (8 * b);
        after |= std::uint64_t{mapped.column().at(7, lane)[b]} << (8 * b);
      }
      EXPECT_EQ(after, before);
    }
  }
}

// Every map and steps over every type, with values that fit and with any.
TEST_F(ChunkMaps, RestoreEveryType) {
  for (int type = 0; type < kNumValueTypes; ++type) {
    for (const bool big_endian : {false, true}) {
      const auto value_type = static_cast<ValueType>(type);
      const Layout layout{{{value_type, 3, big_endian}}};
      std::vector<LaneMapping> choices = {LaneMapping{}};
      for (const LaneMapping& choice :
           {mapping(ValueMap::ordered), decimal(3), scaled(0.1), multiple(7, 3)})
        if (format::map_takes(static_cast<ValueMap>(choice.map), value_type))
          choices.push_back(choice);
      for (const Pattern pattern : kPatterns) {
        const Bytes values = make_values(layout, 5000, pattern);
        for (std::size_t first = 0; first < choices.size(); ++first) {
          ColumnMaps maps;
          for (std::size_t lane = 0; lane < 3; ++lane)
            maps.lanes.push_back(choices[(first + lane) % choices.size()]);
          maps.steps = {{2, 1, LaneStepKind::minus},
                        {1, 0, LaneStepKind::minus_half},
                        {0, 2, LaneStepKind::plus_half},
                        {2, 0, LaneStepKind::plus_half}};
          expect_round_trip(values, layout, plan_of(Coder::pack, maps));
        }
      }
    }
  }
}

TEST_F(ChunkMaps, OfAnyRowWithAnyFieldsAreUndone) {
  std::mt19937_64 random(11);
  for (int type = 0; type < kNumValueTypes; ++type)
    for (const int lanes : {1, 2, 5}) {
      const Layout layout{
          {{static_cast<ValueType>(type), static_cast<std::uint8_t>(lanes), lanes == 2}}};
      for (const Pattern pattern : kPatterns) {
        const Bytes values = make_values(layout, 400, pattern);
        for (int round = 0; round < 3 * (kNumValueMaps + kNumLaneMaps); ++round)
          expect_round_trip(
              values, layout,
              plan_of(Coder::pack, any_maps(random, bytes_of_column(values, layout))));
      }
    }
}

TEST_F(ChunkMaps, RestoreStepsAlone) {
  for (const char* record : {"i8x2", "u16:bex2", "i24x2", "f32x2", "u64x2"}) {
    const Layout layout = layout_of(record);
    const Bytes values = make_values(layout, 3 * kPiece + 1, Pattern::smooth);
    for (const Coder coder : shrinking_coders())
      expect_round_trip(
          values, layout,
          plan_of(coder, {.lanes = {},
                          .steps = {{1, 0, LaneStepKind::minus}, {0, 1, LaneStepKind::plus_half}}}),
          0);
  }
}

TEST_F(ChunkMaps, RestoreColumnsInsideRecords) {
  const Layout layout = layout_of("u8,f32:bex2,i16x2,f64");
  const std::uint64_t records = kPiece + 3;
  Draws draws(4);
  Bytes values;
  for (std::uint64_t i = 0; i < records; ++i) {
    put_value(values, static_cast<std::uint64_t>(draws.below(5)), 1, false);
    for (int lane = 0; lane < 2; ++lane)
      put_value(values,
                i % 500 == 0
                    ? 0x80000000
                    : std::bit_cast<std::uint32_t>(static_cast<float>(draws.around_zero(900)) / 10),
                4, true);
    for (int lane = 0; lane < 2; ++lane)
      put_value(values, static_cast<std::uint64_t>(200 * draws.around_zero(9) + 3), 2, false);
    put_value(values, std::bit_cast<std::uint64_t>(static_cast<double>(draws.below(99)) * 0.7), 8,
              false);
  }
  ChunkPlan plan = plan_of(Coder::pack, {});
  plan.columns.resize(4, plan.columns[0]);
  plan.maps = {{},
               {.lanes = {decimal(1), decimal(1)}, .steps = {{1, 0, LaneStepKind::minus}}},
               {.lanes = {multiple(200, 3), LaneMapping{}}, .steps = {}},
               {.lanes = {scaled(0.7)}, .steps = {}}};
  const Bytes block = encode_chunk(values, layout, false, plan);
  const auto parsed = format::parse_chunk_block(block, 0, layout).value();
  EXPECT_EQ(parsed.columns[1].exceptions, 2 * ((records + 499) / 500));
  EXPECT_EQ(parsed.columns[2].model.front.map, ValueMap::by_lane);
  EXPECT_EQ(parsed.columns[3].model.front.map, ValueMap::scaled);
  for (const int threads : {1, 3}) {
    Workers workers(threads);
    Bytes out(values.size());
    EXPECT_FALSE(decode_block(block, 0, layout, out, true, workers));
    EXPECT_TRUE(out == values);
    EXPECT_TRUE(encode_chunk(values, layout, false, plan, workers) == block);
  }
}

// What exceptions make larger than the values is stored in another way.
TEST_F(ChunkMaps, AreNotKeptWhereMostValuesAreExceptions) {
  const Layout layout = layout_of("f32");
  const Bytes values = make_values(layout, 3000, Pattern::random);
  const ChunkPlan plan = plan_of(Coder::pack, {.lanes = {decimal(2)}, .steps = {}});
  const Bytes block = encode_chunk(values, layout, false, plan);
  const auto parsed = format::parse_chunk_block(block, 0, layout).value();
  EXPECT_EQ(parsed.columns[0].model.section.coder, Coder::raw);
  expect_round_trip(values, layout, plan);
}

}  // namespace
}  // namespace gdelta::test
