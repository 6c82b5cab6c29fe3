// What the CPU encodes, the device decodes: type × order × tuple × length × coder, strides, mixed
// records, odd addresses.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

TEST(CudaDecodeSmall, RestoresEveryTypeOrderAndShape) {
  GDELTA_NEEDS_GPU();
  for (int type = 0; type < kNumValueTypes; ++type) {
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{static_cast<ValueType>(type), 3, big_endian}}};
      std::vector<TestChunk> chunks;
      for (const Pattern pattern : kPatterns) {
        for (int order = 0; order <= kMaxOrder; ++order) {
          auto model = pack_model(order, 3);
          chunks.push_back(make_chunk(layout, make_values(layout, 300, pattern), model));
          if (!is_float(layout.columns[0].type)) continue;
          model.front.map = ValueMap::ordered;
          chunks.push_back(make_chunk(layout, make_values(layout, 300, pattern), model));
        }
      }
      expect_decoded(chunks, layout);
    }
  }
}

TEST(CudaDecodeSmall, RestoresLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 2, 3, 4, 5, 7, 8, 16, 31, 64}) {
    for (const ValueType type :
         {ValueType::u8, ValueType::i16, ValueType::i24, ValueType::i32, ValueType::f64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      std::vector<TestChunk> chunks;
      for (const std::uint64_t records :
           {1, 2, 3, 4, 7, 8, 9, 127, 128, 129, 255, 256, 257, 383, 384, 385, 700}) {
        for (const std::uint32_t page_groups : {1u, 2u, 5u})
          chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::smooth),
                                      pack_model(static_cast<int>(records % 9), page_groups)));
        auto raw = pack_model(0);
        raw.section.coder = Coder::raw;
        chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::random), raw));
        chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::equal), raw));
        chunks.push_back(
            make_chunk(layout, make_values(layout, records, Pattern::equal), pack_model(1)));
      }
      expect_decoded(chunks, layout);
    }
  }
}

TEST(CudaDecodeSmall, RestoresOrdersThatDifferByLane) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {2, 3, 4, 9}) {
    for (const ValueType type : {ValueType::i16, ValueType::i32, ValueType::i64}) {
      const Layout layout{{{type, static_cast<std::uint8_t>(tuple), false}}};
      std::vector<TestChunk> chunks;
      for (int shift = 0; shift < 9; ++shift) {
        auto model = pack_model(0, 2);
        for (int lane = 0; lane < tuple; ++lane)
          model.front.orders[lane] = static_cast<std::uint8_t>((lane * 5 + shift) % 9);
        chunks.push_back(make_chunk(layout, make_values(layout, 777, Pattern::smooth), model));
      }
      expect_decoded(chunks, layout);
    }
  }
}

TEST(CudaDecodeSmall, RestoresStridesOfAnyOrder) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type :
       {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::f32, ValueType::u64}) {
    for (const int tuple : {1, 3}) {
      for (const bool big_endian : {false, true}) {
        const Layout layout{{{type, static_cast<std::uint8_t>(tuple), big_endian}}};
        std::vector<TestChunk> chunks;
        for (const std::uint32_t stride : {2u, 5u, 33u, 200u, 700u}) {
          auto model = pack_model(2, 2);
          if (is_float(type)) model.front.map = ValueMap::ordered;
          model.front.num_strides = 1;
          model.front.strides[0] = {stride, static_cast<std::uint8_t>(1 + stride % 3)};
          for (const Pattern pattern : kPatterns) {
            chunks.push_back(
                make_chunk(layout, make_values(layout, 4 * stride + 3, pattern), model));
          }
          model.front.num_strides = 2;
          model.front.strides[1] = {2, 8};
          for (const Pattern pattern : kPatterns) {
            chunks.push_back(
                make_chunk(layout, make_values(layout, 4 * stride + 3, pattern), model));
          }
        }
        expect_decoded(chunks, layout);
      }
    }
  }
}

TEST(CudaDecodeSmall, RestoresMixedRecords) {
  GDELTA_NEEDS_GPU();
  for (const char* record :
       {"i32x3,u16,u8x2,f64,i24:bex5,f32,f16,bf16:be,u64", "u8,i32x3", "f64x2,f64,i32x4,i32x4"}) {
    const auto layout = parse_record(record);
    ASSERT_TRUE(layout);
    std::vector<TestChunk> chunks;
    for (const std::uint64_t records : {1, 2, 127, 128, 500}) {
      for (const Pattern pattern : kPatterns) {
        for (const Coder coder : device_coders()) {
          auto model = pack_model(3, 2);
          model.section.coder = coder;
          if (records >= 16) {
            model.front.num_strides = 1;
            model.front.strides[0] = {4, 1};
          }
          chunks.push_back(make_chunk(*layout, make_values(*layout, records, pattern), model));
        }
      }
    }
    expect_decoded(chunks, *layout);
  }
}

// A byte of head for each column: heads end everywhere in the words that threads load.
TEST(CudaDecodeSmall, RestoresHeadsOfAnyLength) {
  GDELTA_NEEDS_GPU();
  for (std::size_t columns = 380; columns < 1600; columns += 61) {
    const Layout layout{std::vector<Column>(columns, {ValueType::u8, 1, false})};
    expect_decoded({make_chunk(layout, make_values(layout, 3, Pattern::equal), pack_model(0))},
                   layout);
  }
}

TEST(CudaDecodeSmall, RestoresOpaqueChunksBetweenOthers) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::i32, 3, false}}};
  std::vector<TestChunk> chunks;
  for (int i = 0; i < 20; ++i) {
    if (i % 3 == 0) {
      chunks.push_back(make_chunk(byte_layout(),
                                  make_values(byte_layout(), 44 + i, Pattern::random),
                                  pack_model(1, 32), true));
    } else {
      chunks.push_back(
          make_chunk(layout, make_values(layout, 500 + i, Pattern::smooth), pack_model(2, 10)));
    }
  }
  expect_decoded(chunks, layout);
}

TEST(CudaDecodeSmall, DecodesFromAndToEveryAddress) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type : {ValueType::i8, ValueType::i16, ValueType::i32, ValueType::i64}) {
    const Layout layout{{{type, 2, false}}};
    std::vector<TestChunk> chunks;
    for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::extremes})
      chunks.push_back(make_chunk(layout, make_values(layout, 600, pattern), pack_model(2, 4)));
    for (std::size_t at = 0; at < 17; ++at) expect_decoded(chunks, layout, at, 0);
    for (const std::size_t skew : {1, 2, 3, 4, 6, 8, 12, 15})
      expect_decoded(chunks, layout, 6, skew);
  }
}

TEST(CudaDecodeSmall, DecodesARangeOfChunks) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u16, 1, false}}};
  std::vector<TestChunk> chunks;
  for (int i = 0; i < 9; ++i)
    chunks.push_back(
        make_chunk(layout, make_values(layout, 300 + i, Pattern::smooth), pack_model(i)));
  for (std::size_t first = 0; first < 9; ++first) {
    for (std::size_t count = 1; first + count <= 9; ++count) {
      const DeviceOutcome outcome = decode_on_device(chunks, layout, first, count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(outcome.status[i].code, 0);
        EXPECT_TRUE(outcome.contents[i] == chunks[first + i].values);
      }
    }
  }
}

TEST(CudaDecodeSmall, LeavesZstdToTheHost) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::u16, 2, false}, {ValueType::i32, 1, false}}};
  auto zstd = pack_model(1);
  zstd.section.coder = Coder::zstd;
  const std::vector<TestChunk> chunks = {
      make_chunk(layout, make_values(layout, 900, Pattern::repeated), zstd),
      make_chunk(layout, make_values(layout, 900, Pattern::smooth), pack_model(1))};
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 2);
  EXPECT_EQ(outcome.status[0].code, static_cast<int>(Errc::needs_host));
  EXPECT_EQ(outcome.status[1].code, static_cast<int>(Errc::ok));
  EXPECT_TRUE(outcome.contents[1] == chunks[1].values);
}

TEST(CudaDecode, RestoresChunksOfMegabytes) {
  GDELTA_NEEDS_GPU();
  for (const char* record :
       {"i32x3", "i16x2", "i32", "f64x2", "u8x3", "i24x2", "f32x16", "f64x9"}) {
    const auto layout = parse_record(record);
    ASSERT_TRUE(layout);
    const Column& column = layout->columns[0];
    std::vector<TestChunk> chunks;
    for (const std::uint64_t bytes : {1048576, 3000000, 8000}) {
      for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::extremes}) {
        auto model = pack_model(2, column.tuple <= 4 ? 32 / column.tuple : 8);
        chunks.push_back(make_chunk(
            *layout, make_values(*layout, bytes / layout->record_bytes(), pattern), model));
        model.front.num_strides = 1;
        model.front.strides[0] = {7, 1};
        chunks.push_back(make_chunk(
            *layout, make_values(*layout, bytes / layout->record_bytes(), pattern), model));
      }
    }
    expect_decoded(chunks, *layout);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
