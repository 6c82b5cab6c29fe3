// Maps of lanes, undone where values are stored or in a pass of their own: what the CPU encodes, the device
// decodes.
#ifdef GDELTA_HAS_CUDA
#include <bit>

#include "codec/cuda/cuda_cases.h"
#include "stages/any_maps.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

constexpr auto kOrdered = static_cast<std::uint8_t>(ValueMap::ordered);
constexpr auto kDecimal = static_cast<std::uint8_t>(ValueMap::decimal);
constexpr auto kScaled = static_cast<std::uint8_t>(ValueMap::scaled);
constexpr auto kMultiple = static_cast<std::uint8_t>(ValueMap::multiple);

/// Whole numbers of which lane l is `scale(l, number)`, and now and then anything.
template <class Float, class Scale>
Bytes scaled_values(const Column& column, std::uint64_t records, int exception_every, Scale scale) {
  Bytes bytes;
  std::uint64_t random = 7;
  std::int64_t number = 1000;
  for (std::uint64_t i = 0; i < records; ++i)
    for (int lane = 0; lane < column.tuple; ++lane) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      number += static_cast<std::int64_t>(random >> 60) - 7;
      const bool exception = exception_every > 0 && (random >> 32) % exception_every == 0;
      using Bits = std::conditional_t<sizeof(Float) == 8, std::uint64_t, std::uint32_t>;
      const Bits bits = exception ? static_cast<Bits>(random >> 7)
                                  : std::bit_cast<Bits>(static_cast<Float>(scale(lane, number)));
      for (std::size_t b = 0; b < sizeof bits; ++b) {
        const std::size_t from = column.big_endian ? sizeof bits - 1 - b : b;
        bytes.push_back(static_cast<std::byte>(bits >> 8 * from));
      }
    }
  return bytes;
}

template <class Float>
void expect_floats(ValueType type) {
  for (const Coder coder : device_coders()) {
    if (!format::codes_residuals(coder)) continue;
    for (const int tuple : {1, 3, 5})
      for (const bool big_endian : {false, true}) {
        const Layout layout{{{type, static_cast<std::uint8_t>(tuple), big_endian}}};
        auto model = pack_model(1, 2);
        model.section.coder = coder;
        std::vector<TestChunk> chunks;
        for (const std::uint64_t records : {1, 5, 700})
          for (const int exception_every : {0, 1, 40}) {
            ColumnMaps maps;
            for (int lane = 0; lane < tuple; ++lane)
              maps.lanes.push_back({.map = kDecimal, .step = static_cast<std::uint64_t>(lane)});
            chunks.push_back(
                mapped_chunk(layout,
                             scaled_values<Float>(layout.columns[0], records, exception_every,
                                                  [](int lane, std::int64_t k) {
                                                    double power = 1;
                                                    for (int i = 0; i < lane; ++i) power *= 10;
                                                    return static_cast<double>(k) / power;
                                                  }),
                             model, maps));
            for (LaneMapping& lane : maps.lanes)
              lane = {.map = kScaled, .step = std::bit_cast<std::uint64_t>(0.0012207)};
            maps.lanes.back() = {.map = kOrdered};
            chunks.push_back(mapped_chunk(
                layout,
                scaled_values<Float>(
                    layout.columns[0], records, exception_every,
                    [](int, std::int64_t k) { return static_cast<double>(k) * 0.0012207; }),
                model, maps));
            if (records < 100) continue;
            auto strided = model;
            strided.front.num_strides = 2;
            strided.front.strides[0] = {19, 1};
            strided.front.strides[1] = {2, 2};
            chunks.push_back(mapped_chunk(layout, chunks.back().values, strided, maps));
          }
        expect_decoded(chunks, layout);
      }
  }
}

TEST(CudaMapsSmall, RestoreFloatsAndTheirExceptions) {
  GDELTA_NEEDS_GPU();
  expect_floats<float>(ValueType::f32);
  expect_floats<double>(ValueType::f64);
}

// Pages with a state for each thread, whose tiles are whole but for the last; maps with fields and without.
TEST(CudaMapsSmall, RestoreALaneAloneInWholeTiles) {
  GDELTA_NEEDS_GPU();
  constexpr std::uint64_t kRecords = 5000;
  for (const Coder coder : device_coders()) {
    if (!format::codes_residuals(coder)) continue;
    for (const ValueType type : {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::i32,
                                 ValueType::u64, ValueType::f16, ValueType::f32, ValueType::f64})
      for (const bool big_endian : {false, true}) {
        const Layout layout{{{type, 1, big_endian}}};
        std::vector<TestChunk> chunks;
        for (const int order : {0, 1, 2}) {
          auto model = pack_model(order, 40);
          model.section.coder = coder;
          const Bytes values = make_values(layout, kRecords, Pattern::smooth);
          chunks.push_back(make_chunk(layout, values, model));
          if (is_float(type)) {
            auto ordered = model;
            ordered.front.map = ValueMap::ordered;
            chunks.push_back(make_chunk(layout, values, ordered));
          } else {
            const ColumnMaps multiples{.lanes = {{.map = kMultiple, .step = 3, .offset = 2}}};
            chunks.push_back(mapped_chunk(layout, values, model, multiples));
          }
          if (type != ValueType::f32) continue;
          const ColumnMaps decimals{.lanes = {{.map = kDecimal, .step = 2}}};
          for (const int exception_every : {0, 40})
            chunks.push_back(
                mapped_chunk(layout,
                             scaled_values<float>(
                                 layout.columns[0], kRecords, exception_every,
                                 [](int, std::int64_t k) { return static_cast<double>(k) / 100; }),
                             model, decimals));
        }
        expect_decoded(chunks, layout);
      }
  }
}

void expect_steps(Coder coder, ValueType type) {
  for (const int tuple : {2, 4, 9})
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), big_endian}}};
      const auto last = static_cast<std::uint8_t>(tuple - 1);
      ColumnMaps maps;
      maps.steps = {{last, 0, LaneStepKind::minus},
                    {0, last, LaneStepKind::plus_half},
                    {1, 0, LaneStepKind::minus_half},
                    {last, static_cast<std::uint8_t>(last / 2), LaneStepKind::minus}};
      ColumnMaps multiples = maps;
      multiples.lanes.assign(static_cast<std::size_t>(tuple),
                             {.map = kMultiple, .step = 3, .offset = 2});
      multiples.lanes[0] = {};
      std::vector<TestChunk> chunks;
      for (const Pattern pattern : {Pattern::smooth, Pattern::random})
        for (const std::uint64_t records : {1, 257}) {
          auto model = pack_model(2, 2);
          model.section.coder = coder;
          ColumnMaps many = maps;  // more than are undone where values are stored
          while (many.steps.size() < 11) many.steps.push_back(maps.steps[many.steps.size() % 4]);
          for (const ColumnMaps& steps : {maps, many})
            chunks.push_back(
                mapped_chunk(layout, make_values(layout, records, pattern), model, steps));
          chunks.push_back(
              mapped_chunk(layout, make_values(layout, records, pattern), model, multiples));
          if (records < 100) continue;
          model.front.num_strides = 1;
          model.front.strides[0] = {17, 2};
          chunks.push_back(
              mapped_chunk(layout, make_values(layout, records, pattern), model, multiples));
        }
      expect_decoded(chunks, layout);
    }
}

TEST(CudaMapsSmall, RestoreLanesLessOtherLanes) {
  GDELTA_NEEDS_GPU();
  for (const Coder coder : device_coders()) {
    if (!format::codes_residuals(coder)) continue;
    for (const ValueType type :
         {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::i32, ValueType::u64})
      expect_steps(coder, type);
  }
}

TEST(CudaMapsSmall, OfAnyRowWithAnyFieldsAreUndone) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(12);
  for (const Coder coder : device_coders()) {
    if (!format::codes_residuals(coder)) continue;
    auto model = pack_model(1, 1);
    model.section.coder = coder;
    for (int type = 0; type < kNumValueTypes; ++type) {
      const Layout layout{
          {{static_cast<ValueType>(type), static_cast<std::uint8_t>(2 + type % 4), type % 3 == 0}}};
      const Bytes values = make_values(layout, 150, Pattern::smooth);
      std::vector<TestChunk> chunks;
      for (int round = 0; round < kNumValueMaps + kNumLaneMaps; ++round) {
        ColumnMaps maps = any_maps(random, {reinterpret_cast<const unsigned char*>(values.data()),
                                            layout.record_bytes(), 150, layout.columns[0]});
        maps.table_coders.clear();  // those are the host's
        chunks.push_back(mapped_chunk(layout, values, model, maps));
      }
      expect_decoded(chunks, layout);
    }
  }
}

TEST(CudaMapsSmall, RefuseExceptionsOutOfPlace) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::f32, 1, false}}};
  ColumnMaps maps;
  maps.lanes = {{.map = kDecimal, .step = 0}};
  const Bytes values =
      scaled_values<float>(layout.columns[0], 600, 20, [](int, std::int64_t k) { return k; });
  const TestChunk good = mapped_chunk(layout, values, pack_model(1, 2), maps);
  const auto parsed = format::parse_chunk_block(good.block, 0, layout);
  ASSERT_TRUE(parsed);
  const format::ColumnHead& head = parsed->columns[0];
  ASSERT_GE(head.exceptions, 3u);
  const std::uint64_t at = parsed->frame.payload_at() + head.section_at + head.section_bytes;
  const auto with_place = [&](std::uint64_t number, std::uint32_t place) {
    TestChunk bad = good;
    for (std::uint64_t b = 0; b < 4; ++b)
      bad.block[at + 4 * number + b] = static_cast<std::byte>(place >> 8 * b);
    return bad;
  };
  const std::vector<TestChunk> chunks = {good, with_place(0, 600), with_place(0, ~0u),
                                         with_place(2, 0), with_place(head.exceptions - 1, 600)};
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, chunks.size());
  ASSERT_EQ(outcome.status.size(), chunks.size());
  EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::ok));
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::corrupt)) << i;
    EXPECT_EQ(outcome.status[i].byte, outcome.block_at[i] + at) << i;
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
