// Columns that are predicted linearly, with any coefficients: the device gives what was encoded.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "golden/golden_cases.h"
#include "golden/plain_encoder.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

/// Coefficients of all 16 bits, which have nothing to do with the values.
plain::LinearPlainModel wild_model(int tuple, int own, int source_taps, int shift, int reading) {
  plain::LinearPlainModel model = plain::linear_model(tuple, own, source_taps, shift, 16, reading);
  model.number = [](std::size_t run, std::size_t tap) {
    return static_cast<std::uint32_t>((run * 977 + tap * 131 + 5) * 0x9E3779B97F4A7C15 >> 40);
  };
  return model;
}

TestChunk predicted_chunk(const Layout& layout, Coder coder, std::uint64_t records,
                          const plain::LinearPlainModel& linear, ValueMap map = ValueMap::none) {
  Bytes values = plain::wandering_values(layout, records, 9, records);
  std::vector<plain::Choice> choices;
  for (const Column& column : layout.columns) {
    choices.push_back(plain::predicted(coder, column, linear));
    choices.back().model.front.map = map;
    if (coder == Coder::pack) choices.back().width = value_bits(column.type);
  }
  Bytes block = plain::encode_chunk(values, layout, choices);
  return {std::move(block), std::move(values)};
}

void expect_type(ValueType type, int tuple, bool big_endian) {
  const Layout layout{{{type, static_cast<std::uint8_t>(tuple), big_endian}}};
  std::vector<TestChunk> chunks;
  for (const std::uint64_t records : {1, 255, 257, 700})
    for (const int shift : {0, 7, 15}) {
      const int source_taps = tuple > 1 ? 3 : 0;
      chunks.push_back(predicted_chunk(layout, Coder::pack, records,
                                       wild_model(tuple, 5, source_taps, shift, shift == 7)));
    }
  chunks.push_back(
      predicted_chunk(layout, Coder::pack, 600, plain::linear_model(tuple, 32, 0, 12, 5)));
  chunks.push_back(
      predicted_chunk(layout, Coder::pack, 600, plain::linear_model(tuple, 0, 7, 9, 5)));
  chunks.push_back(
      predicted_chunk(layout, Coder::ans, 600, plain::linear_model(tuple, 3, 2, 9, 5)));
  expect_decoded(chunks, layout);
}

TEST(CudaLinearSmall, RestoresEveryWidth) {
  GDELTA_NEEDS_GPU();
  for (const ValueType type :
       {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::i32, ValueType::u64}) {
    expect_type(type, 1, false);
    expect_type(type, 3, true);
  }
}

// Too long for shared memory, or nearly so.
TEST(CudaLinearSmall, RestoresLongTuples) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {5, 9, 10, 64}) {
    const Layout layout{{{ValueType::i16, static_cast<std::uint8_t>(tuple), tuple == 10}}};
    expect_decoded({predicted_chunk(layout, Coder::pack, 300, wild_model(tuple, 3, 2, 9, 0)),
                    predicted_chunk(layout, Coder::pack, 258, wild_model(tuple, 0, 2, 9, 1))},
                   layout);
  }
}

TEST(CudaLinearSmall, RestoresMoreRunsThanAWarpHas) {
  GDELTA_NEEDS_GPU();
  const Layout layout{{{ValueType::i16, 2, false}}};
  expect_decoded({predicted_chunk(layout, Coder::pack, 70 * 256 + 9, wild_model(2, 9, 4, 11, 0))},
                 layout);
}

TEST(CudaLinearSmall, UndoesTheMapBehindIt) {
  GDELTA_NEEDS_GPU();
  for (const bool big_endian : {false, true})
    for (const int tuple : {1, 12}) {
      const Layout layout{{{ValueType::f32, static_cast<std::uint8_t>(tuple), big_endian}}};
      expect_decoded({predicted_chunk(layout, Coder::pack, 300, wild_model(tuple, 3, 2, 9, 1),
                                      ValueMap::ordered)},
                     layout);
    }
}

// Other columns of the record stay as they are.
TEST(CudaLinearSmall, RestoresColumnsOfARecord) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3,u16:be,u8x2,i16").value();
  Bytes values = plain::wandering_values(layout, 600, 9, 4);
  std::vector<plain::Choice> choices;
  for (const Column& column : layout.columns)
    choices.push_back(
        column.type == ValueType::u16
            ? plain::linked(Coder::pack, column, {1})
            : plain::predicted(Coder::pack, column, plain::linear_model(column.tuple, 4, 2, 9, 5)));
  Bytes block = plain::encode_chunk(values, layout, choices);
  expect_decoded({{std::move(block), std::move(values)}}, layout);
}

}  // namespace
}  // namespace gdelta::test
#endif
