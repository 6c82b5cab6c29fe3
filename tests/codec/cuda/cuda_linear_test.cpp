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

// Lanes that wait for the one before, and the one two before that: more of them than tiles are on their way, and more
// than are walked along in shared memory.
TEST(CudaLinearSmall, RestoresLongTuples) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {3, 5, 9, 10, 11, 64}) {
    const Layout layout{{{ValueType::i16, static_cast<std::uint8_t>(tuple), tuple == 10}}};
    expect_decoded({predicted_chunk(layout, Coder::pack, 300, wild_model(tuple, 3, 2, 9, 0)),
                    predicted_chunk(layout, Coder::pack, 258, wild_model(tuple, 0, 2, 9, 1))},
                   layout);
  }
}

// Every number of taps that kernels keep in registers, and some that they do not (kernels/linear/linear_taps.cuh).
TEST(CudaLinearSmall, RestoresAnyNumberOfTaps) {
  GDELTA_NEEDS_GPU();
  constexpr std::pair<int, int> kTaps[] = {{0, 0},  {1, 0}, {9, 0},  {17, 0}, {25, 0},
                                           {32, 0}, {8, 4}, {16, 8}, {24, 8}, {20, 12},
                                           {12, 6}, {1, 8}, {28, 4}, {0, 16}, {21, 9}};
  for (const ValueType type : {ValueType::i16, ValueType::u32, ValueType::i64}) {
    const Layout pairs{{{type, 2, false}}}, fours{{{type, 4, false}}};
    std::vector<TestChunk> of_pairs, of_fours;
    for (const auto& [own, source_taps] : kTaps) {
      of_pairs.push_back(
          predicted_chunk(pairs, Coder::pack, 9 * 256 + 40, wild_model(2, own, source_taps, 8, 0)));
      if (own + 2 * source_taps <= format::kMaxLinearTaps)
        of_fours.push_back(
            predicted_chunk(fours, Coder::pack, 300, wild_model(4, own, source_taps, 9, 1)));
    }
    expect_decoded(of_pairs, pairs);
    expect_decoded(of_fours, fours);
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

TEST(CudaLinearSmall, UndoesStepsOfLanesBehindIt) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {2, 4, 5, 12})
    for (const bool big_endian : {false, true}) {
      const Layout layout{{{ValueType::i16, static_cast<std::uint8_t>(tuple), big_endian}}};
      std::vector<TestChunk> chunks;
      for (const std::uint64_t records : {1, 300, 513}) {
        Bytes values = plain::wandering_values(layout, records, 9, 7);
        plain::Choice choice = plain::with_steps(
            plain::predicted(Coder::pack, layout.columns[0], wild_model(tuple, 16, 8, 8, 0)),
            {{1, 0, 0}, {0, 1, 2}});
        choice.width = 16;
        chunks.push_back({plain::encode_chunk(values, layout, {choice}), values});
        choice = plain::with_maps(choice, {plain::multiple(3, 1)});
        chunks.push_back({plain::encode_chunk(values, layout, {choice}), std::move(values)});
      }
      expect_decoded(chunks, layout);
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
