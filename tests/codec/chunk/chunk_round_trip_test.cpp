// Whatever is encoded comes back: type × order × tuple × coder × length, with values at the edges.
#include <gtest/gtest.h>

#include <bit>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/chunk/decode_block.h"
#include "codec/plan/planner.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

// Encodes by `plan`, decodes, compares; returns the block.
Bytes round_trip(const Bytes& values, const Layout& layout, const ChunkPlan& plan) {
  const Bytes block = encode_chunk(values, layout, false, plan);
  Bytes out(values.size(), std::byte{0xa5});
  const auto error = decode_block(block, 0, layout, out, true);
  EXPECT_FALSE(error) << error->to_string();
  EXPECT_TRUE(out == values) << to_string(layout) << ' ' << values.size() << " bytes";
  return block;
}

ChunkPlan plan_of(const Layout& layout, const format::ColumnModel& model) {
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), model);
  return plan;
}

bool has_pages(Coder coder) { return format::coder_traits(coder).parts == format::PartRule::pages; }

format::ColumnModel model_of(Coder coder, int order) {
  format::ColumnModel model;
  model.section.coder = coder;
  if (has_pages(coder)) model.section.part_groups = 1;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(order));
  return model;
}

/// Not so with tables, which are made of the values (dictionary_test.cpp).
bool takes_any_value(ValueMap map) { return !format::map_traits(map).has_table; }

/// By that map in all lanes, whatever it makes of the values.
ChunkPlan mapped_plan(const Layout& layout, format::ColumnModel model, ValueMap map) {
  if (!format::has_fields(map)) {
    model.front.map = map;
    return plan_of(layout, model);
  }
  ChunkPlan plan = plan_of(layout, model);
  const std::uint64_t step = map == ValueMap::decimal  ? 2
                             : map == ValueMap::scaled ? std::bit_cast<std::uint64_t>(0.25)
                                                       : 3;
  plan.maps.resize(layout.columns.size());
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    plan.maps[c].lanes.assign(layout.columns[c].tuple,
                              {.map = static_cast<std::uint8_t>(map), .step = step, .offset = 1});
  return plan;
}

// Tests that take the coders which shrink a walk leave out none of these.
TEST(ChunkRoundTrip, MostCodersShrinkAWalk) {
  const std::vector<Coder> coders = shrinking_coders();
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::ans, Coder::lzma, Coder::adaptive})
    EXPECT_NE(std::find(coders.begin(), coders.end(), coder), coders.end()) << coder_name(coder);
}

/// A test for each coder.
class CoderRoundTrip : public testing::TestWithParam<Coder> {};
/// A test for each that gets what orders and maps leave.
class FrontRoundTrip : public testing::TestWithParam<Coder> {};

const auto kNameOfCoder = [](const auto& info) { return std::string(coder_name(info.param)); };
INSTANTIATE_TEST_SUITE_P(Coders, CoderRoundTrip, testing::ValuesIn(asked_coders()), kNameOfCoder);
INSTANTIATE_TEST_SUITE_P(Coders, FrontRoundTrip, testing::ValuesIn(front_coders()), kNameOfCoder);

TEST_P(FrontRoundTrip, RestoresEveryTypeOrderAndShape) {
  const Coder coder = GetParam();
  for (int type = 0; type < kNumValueTypes; ++type) {
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{static_cast<ValueType>(type), 3, big_endian}}};
      for (const Pattern pattern : kPatterns) {
        const Bytes values = make_values(layout, 300, pattern);
        for (int order = 0; order <= kMaxOrder; ++order) {
          auto model = model_of(coder, order);
          model.section.arrangement = order % 2 == 0   ? format::Arrangement::values
                                      : order % 4 == 1 ? format::Arrangement::planes
                                                       : format::Arrangement::plane_frames;
          if (!has_pages(coder)) model.section.part_groups = order % 3;
          for (int number = 0; number < kNumValueMaps; ++number) {
            const auto map = static_cast<ValueMap>(number);
            if (format::map_takes(map, layout.columns[0].type) && takes_any_value(map))
              round_trip(values, layout, mapped_plan(layout, model, map));
          }
        }
      }
    }
  }
}

TEST_P(CoderRoundTrip, RestoresLengthsAtEveryEdge) {
  const Coder coder = GetParam();
  for (const int tuple : {1, 2, 3, 4, 5, 7, 8, 16, 31, 64}) {
    for (const ValueType type : {ValueType::u8, ValueType::i24, ValueType::i32, ValueType::f64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      for (const std::uint64_t records :
           {1, 2, 3, 4, 7, 8, 9, 127, 128, 129, 255, 256, 257, 383, 384, 385}) {
        auto model = model_of(coder, static_cast<int>(records % 9));
        model.section.part_groups = has_pages(coder) || records > 256 ? 2 : 0;
        round_trip(make_values(layout, records, Pattern::smooth), layout, plan_of(layout, model));
      }
    }
  }
}

TEST(ChunkRoundTrip, RestoresStridesOfAnyOrder) {
  for (const ValueType type :
       {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::f32, ValueType::u64}) {
    for (const int tuple : {1, 3}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      for (const std::uint32_t stride : {2u, 5u, 33u, 200u}) {
        for (const Coder coder : front_coders()) {
          auto model = model_of(coder, 2);
          model.front.num_strides = 2;
          model.front.strides[0] = {stride, 1};
          model.front.strides[1] = {2, 8};
          for (const Pattern pattern : kPatterns)
            round_trip(make_values(layout, 4 * stride + 3, pattern), layout,
                       plan_of(layout, model));
        }
      }
    }
  }
}

TEST(ChunkRoundTrip, RestoresMixedRecords) {
  const auto layout = parse_record("i32x3,u16,u8x2,f64,i24:bex5,f32,f16,bf16:be,u64");
  ASSERT_TRUE(layout);
  for (const std::uint64_t records : {1, 2, 127, 128, 500}) {
    for (const Pattern pattern : kPatterns) {
      const Bytes values = make_values(*layout, records, pattern);
      for (const Coder coder : asked_coders()) {
        auto model = model_of(coder, 3);
        if (records >= 16) {
          model.front.num_strides = 1;
          model.front.strides[0] = {4, 1};
        }
        round_trip(values, *layout, plan_of(*layout, model));
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::test
