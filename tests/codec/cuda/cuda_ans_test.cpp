// Pages of ans, which the CPU encodes and the device decodes: widths, tuples, states, tables, tiles that
// end early, strides, odd addresses.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>
#include <bit>

#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/mapped_values.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/words/maps/scaled.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

format::ColumnModel ans_model(int order, std::uint32_t page_groups) {
  format::ColumnModel model = pack_model(order, page_groups);
  model.section.coder = Coder::ans;
  return model;
}

TEST(CudaAnsSmall, RestoresEveryTypeAndShape) {
  GDELTA_NEEDS_GPU();
  for (int type = 0; type < kNumValueTypes; ++type) {
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{static_cast<ValueType>(type), 2, big_endian}}};
      std::vector<TestChunk> chunks;
      for (const Pattern pattern : kPatterns) {
        for (const int order : {0, 1, 3, 8}) {
          auto model = ans_model(order, 3);
          chunks.push_back(make_chunk(layout, make_values(layout, 700, pattern), model));
          if (!is_float(layout.columns[0].type)) continue;
          model.front.map = ValueMap::ordered;
          chunks.push_back(make_chunk(layout, make_values(layout, 700, pattern), model));
        }
      }
      expect_decoded(chunks, layout);
    }
  }
}

// One to 32 states, tiles that are whole and that are not.
TEST(CudaAnsSmall, RestoresLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 2, 3, 4, 5, 33, 64}) {
    for (const ValueType type :
         {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::i32, ValueType::f64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      std::vector<TestChunk> chunks;
      for (const std::uint64_t records :
           {1, 7, 8, 9, 127, 128, 129, 255, 256, 257, 511, 513, 1024, 4095, 4096, 4097, 8448}) {
        if (records * tuple > 20000) continue;
        for (const std::uint32_t page_groups : {1u, 32u})
          chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::smooth),
                                      ans_model(static_cast<int>(records % 4), page_groups)));
      }
      expect_decoded(chunks, layout, 6 + static_cast<std::size_t>(tuple), 0);
    }
  }
}

// As long as encoders make them at the highest level, and as the format allows.
TEST(CudaAnsSmall, RestoresLongPages) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type : {ValueType::i16, ValueType::f64}) {
    const Layout layout{{{type, 1, false}}};
    std::vector<TestChunk> chunks;
    for (const std::uint32_t page_groups : {512u, 2048u})
      chunks.push_back(make_chunk(layout, make_values(layout, 66'000, Pattern::smooth),
                                  ans_model(1, page_groups)));
    expect_decoded(chunks, layout);
  }
}

// Tiles of a lane alone whose runs begin anywhere between vectors.
TEST(CudaAnsSmall, RestoresValuesToAnyAddress) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type :
       {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::i32, ValueType::f64}) {
    const Layout layout{{{type, 1, false}}};
    const std::vector<TestChunk> chunks = {
        make_chunk(layout, make_values(layout, 9000, Pattern::smooth), ans_model(1, 34)),
        make_chunk(layout, make_values(layout, 4400, Pattern::smooth), ans_model(2, 64))};
    for (const std::size_t skew : {1, 2, 3, 4, 6, 8, 12, 15})
      expect_decoded(chunks, layout, 6, skew);
  }
}

// Loud and quiet stretches, so that there are several tables and selectors among them.
TEST(CudaAnsSmall, RestoresTablesBySpan) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 3}) {
    const Layout layout{{{ValueType::i32, static_cast<std::uint8_t>(tuple), false}}};
    for (const std::size_t skew : {0, 4, 5}) {
      std::vector<TestChunk> chunks;
      for (const std::uint64_t period : {32, 64, 100, 256, 1000}) {
        Bytes values(std::size_t{20000} * 4 * tuple);
        std::uint32_t seed = 12345;
        for (std::size_t i = 0; i < values.size() / 4; ++i) {
          seed = seed * 1664525 + 1013904223;
          const std::uint32_t value = seed >> (i / tuple / period % 3 == 0 ? 30 : 14);
          std::memcpy(values.data() + 4 * i, &value, 4);
        }
        chunks.push_back(make_chunk(layout, values, ans_model(0, 40)));
      }
      expect_decoded(chunks, layout, 7, skew);
    }
  }
}

// A lane of a tile takes more bytes than a ring holds, and lanes that take few follow it.
TEST(CudaAnsSmall, RestoresOffsetsLongerThanARing) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 2}) {
    const Layout layout{{{ValueType::u64, static_cast<std::uint8_t>(tuple), false}}};
    std::vector<TestChunk> chunks;
    for (const int bits : {33, 45, 52, 63}) {
      Bytes values;
      std::uint64_t seed = 12345;
      for (std::size_t i = 0; i < std::size_t{6000} * tuple; ++i) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        put_value(values, seed >> (i / 600 % 3 == 2 ? 62 : 64 - bits), 8, false);
      }
      chunks.push_back(make_chunk(layout, values, ans_model(0, 40 / tuple)));
    }
    expect_decoded(chunks, layout);
  }
}

TEST(CudaAnsSmall, RestoresMapsOfALaneInWholeTiles) {
  GDELTA_NEEDS_GPU();
  constexpr std::int64_t kMostShort = DecimalMap::kMostShort;
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{type, 1, big_endian}}};
      const int bytes = value_bytes(type);
      std::vector<TestChunk> chunks;
      const auto add = [&](const LaneMapping& mapping, std::int64_t first) {
        Bytes values;
        std::uint32_t random = 1;
        for (std::int64_t i = 0; i < 5200; ++i) {  // twenty tiles, and a part of one
          random = random * 1664525 + 1013904223;
          const std::int64_t word = first + i / 256 * 17 + (random >> 26);
          put_value(values, value_of(mapping, bytes, static_cast<std::uint64_t>(word)), bytes,
                    big_endian);
        }
        chunks.push_back(
            mapped_chunk(layout, values, ans_model(1, 48), ColumnMaps{.lanes = {mapping}}));
        const auto parsed = format::parse_chunk_block(chunks.back().block, 0, layout);
        ASSERT_TRUE(parsed.has_value());
        EXPECT_EQ(parsed->columns[0].model.section.coder, Coder::ans);
      };
      for (const std::uint64_t digits : {0, 3, 10, 12})
        for (const std::int64_t first : {std::int64_t{-300}, kMostShort - 200, -kMostShort - 200})
          add({.map = number_of(ValueMap::decimal), .step = digits}, first);
      add({.map = number_of(ValueMap::scaled), .step = std::bit_cast<std::uint64_t>(0.125)}, -300);
      expect_decoded(chunks, layout);
    }
}

/// Offsets of few bits and of many stand side by side in whole tiles, up to all bits of the type; all residuals are
/// loud, or so few of them that a bin has all values; of some the symbols say nearly all. Chunks begin at multiples of 16
/// bytes.
void restore_offsets_of_every_width(int tuple, std::initializer_list<int> all_orders) {
  for (const ValueType type :
       {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::u32, ValueType::i64}) {
    const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
    std::vector<TestChunk> chunks;
    for (const int most : {3, 8, 9, 13, 17, 23, 24, 31, 32, 40, 64}) {
      const int width = 8 * value_bytes(type), loudest = std::min(most, width);
      const std::uint64_t lowest = std::uint64_t{1} << (width - 1);  // of numbers with a sign
      for (const int order : all_orders) {
        for (const int share_loud : {1, 3, 400}) {
          Bytes values;
          std::uint64_t seed = 12345;
          for (int i = 0; i < 4896; ++i) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            const int stretch = share_loud == 3 ? i / 300 % 3 : i % share_loud;
            const int bits = stretch == 0   ? loudest
                             : stretch == 1 ? std::countl_zero(seed | 1) % (loudest + 1)
                                            : i / 8 % (loudest + 1);
            std::uint64_t value = bits == 0 ? 0 : seed << 8 >> (64 - bits);
            if (stretch != 0 && share_loud == 400) value = lowest + (seed >> 62);
            put_value(values, value, value_bytes(type), false);
          }
          auto model = ans_model(order, 40);
          if (tuple > 1 && order == 3) model.front.orders[1] = 1;
          chunks.push_back(make_chunk(layout, values, model));
        }
      }
    }
    expect_decoded(chunks, layout);
  }
}

TEST(CudaAnsSmall, RestoresOffsetsOfEveryWidthInWholeTiles) {
  GDELTA_NEEDS_GPU();
  restore_offsets_of_every_width(1, {0, 1, 2, 3});
}

TEST(CudaAnsSmall, RestoresOffsetsOfEveryWidthInWholeTilesOfTuples) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {2, 3, 4}) restore_offsets_of_every_width(tuple, {0, 3});
}

TEST(CudaAnsSmall, RestoresStrides) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type : {ValueType::u8, ValueType::i24, ValueType::f32, ValueType::u64}) {
    for (const int tuple : {1, 3, 6}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), true}}};
      std::vector<TestChunk> chunks;
      for (const std::uint32_t stride : {2u, 33u, 200u}) {
        auto model = ans_model(1, 2);
        model.front.num_strides = 1;
        model.front.strides[0] = {stride, 1};
        for (const Pattern pattern : kPatterns)
          chunks.push_back(make_chunk(layout, make_values(layout, 900, pattern), model));
      }
      expect_decoded(chunks, layout);
    }
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
