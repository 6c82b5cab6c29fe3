// Chunks whose models a later version has made: what is told of them, and that the others are read.
#include <functional>

#include "codec/faults/fault_table.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

using faults::ModelFields;

/// Three chunks of numbers, the middle one with something in its second column that nobody knows.
struct LaterStream {
  Bytes stream;
  Bytes values;         // without the change
  std::uint64_t begin;  // of the chunk, in the values
  std::uint64_t end;

  explicit LaterStream(const std::function<void(ModelFields&)>& change, bool with_index = true) {
    faults::StreamFields fields = faults::wandering_stream(
        "i16x2,f32", 200,
        [](const Column& column) { return plain::linked(Coder::pack, column, {1}); });
    fields.has_index = with_index;
    fields.chunks.push_back(fields.chunks[1]);
    const Bytes good = faults::write(fields).bytes;
    values = decompress(good, decode_on_cpu()).value();
    const ChunkInfo chunk = inspect(good).value().chunks[1];
    begin = chunk.decoded_at;
    end = begin + chunk.decoded_bytes;
    change(fields.chunks[1].models[1]);
    stream = faults::write(fields).bytes;
  }
};

struct Stage {
  std::string name;
  std::function<void(ModelFields&)> change;
};

std::vector<Stage> stages() {
  const auto number = [](const char* stage, int of) { return stage + std::to_string(of); };
  return {
      {number("coder ", kNumCoders), [](auto& model) { model.coder = kNumCoders; }},
      {"coder 255", [](auto& model) { model.coder = 255; }},
      {number("value map ", kNumValueMaps), [](auto& model) { model.map = kNumValueMaps; }},
      {number("value map ", kNumValueMaps),
       [](auto& model) {
         model.map = 255;
         model.maps = {{kNumValueMaps}};
       }},
      {"value map 254", [](auto& model) { model.map = 254; }},
      {"value map 255",  // no lane has maps by lane
       [](auto& model) {
         model.map = 255;
         model.maps = {{255}};
       }},
      {number("lane map ", kNumLaneMaps), [](auto& model) { model.lane_map = kNumLaneMaps; }},
      {number("predictor ", kNumPredictors), [](auto& model) { model.predictor = kNumPredictors; }},
      {"a variant of value map decimal",
       [](auto& model) {
         model.map = static_cast<int>(ValueMap::decimal);
         model.maps = {{model.map, faults::bytes_of({23})}};
         model.exceptions = 0;
       }},
      {"a variant of value map decimal",
       [](auto& model) {
         model.map = 255;
         model.maps = {{static_cast<int>(ValueMap::decimal), faults::bytes_of({23})}};
         model.exceptions = 0;
       }},
      {"a variant of value map dictionary",
       [](auto& model) {
         model.map = static_cast<int>(ValueMap::dictionary);
         model.maps = {{model.map, faults::bytes_of({0x81, 0x80, 4})}};  // 65537 entries
       }},
      {"a variant of lane map differences",
       [](auto& model) {
         model.lane_map = static_cast<int>(LaneMap::differences);
         model.lane_map_fields = faults::bytes_of({65});
       }},
      {"a variant of predictor deltas", [](auto& model) { model.orders = 9; }},
      {"a variant of predictor linear",
       [](auto& model) {
         model.predictor = static_cast<int>(Predictor::linear);
         model.linear = faults::bytes_of({8, 0, 33});
       }},
      {"a variant of predictor linear",
       [](auto& model) {
         model.predictor = static_cast<int>(Predictor::linear);
         model.linear = faults::bytes_of({8, 0, 1, 0, 0, 0, 0, 17});  // bits of a coefficient
       }},
      {"a variant of coder pack", [](auto& model) { model.part_groups = 2049; }},
  };
}

TEST(UnknownStage, InspectNamesItAndGoesOn) {
  for (const Stage& stage : stages()) {
    for (const bool with_index : {false, true}) {
      const LaterStream later(stage.change, with_index);
      const auto info = inspect(later.stream);
      ASSERT_TRUE(info) << stage.name << ": " << info.error().message;
      EXPECT_EQ(info->decoded_bytes, later.values.size());
      ASSERT_EQ(info->chunks.size(), 3u);
      for (const ChunkInfo& chunk : info->chunks) {
        EXPECT_EQ(chunk.columns[0].unknown, "");
        EXPECT_EQ(chunk.columns[1].unknown, chunk.number == 1 ? stage.name : "");
        EXPECT_GT(chunk.columns[1].compressed_bytes, 0u);
      }
      EXPECT_TRUE(info->chunks[1].columns[1].orders.empty());
      EXPECT_EQ(info->chunks[2].columns[1].orders, std::vector<int>{1});
    }
  }
}

TEST(UnknownStage, AKindOfCheckIsNamedAndInspectGoesOn) {
  faults::StreamFields fields = faults::wandering_stream(
      "i16x2,f32", 200,
      [](const Column& column) { return plain::linked(Coder::pack, column, {1}); });
  fields.chunks.push_back(fields.chunks[1]);
  fields.chunks[1].kinds = 7;
  const Bytes stream = faults::write(fields).bytes;
  const auto info = inspect(stream);
  ASSERT_TRUE(info) << info.error().message;
  ASSERT_EQ(info->chunks.size(), 3u);
  for (const ColumnInfo& column : info->chunks[1].columns) {
    EXPECT_EQ(column.unknown, "a check of kind 7");
    EXPECT_GT(column.compressed_bytes, 0u);
  }
  for (const ColumnInfo& column : info->chunks[2].columns) EXPECT_EQ(column.unknown, "");
  const auto values = decompress(stream, decode_on_cpu());
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, Errc::unsupported_feature);
  EXPECT_EQ(values.error().chunk, 1u);
}

TEST(UnknownStage, DecodersNameIt) {
  for (const Stage& stage : stages()) {
    const LaterStream later(stage.change);
    const auto values = decompress(later.stream, decode_on_cpu());
    ASSERT_FALSE(values);
    EXPECT_EQ(values.error().code, Errc::unsupported_feature);
    EXPECT_EQ(values.error().chunk, 1u);
    EXPECT_NE(values.error().message.find("column 2 uses " + stage.name + ","), std::string::npos)
        << values.error().message;
  }
}

TEST(UnknownStage, RangesOfOtherChunksAreRead) {
  for (const Stage& stage : stages()) {
    for (const bool with_index : {false, true}) {
      const LaterStream later(stage.change, with_index);
      const auto expect_range = [&](std::uint64_t begin, std::uint64_t end) {
        const auto values = decompress_range(later.stream, begin, end, decode_on_cpu());
        ASSERT_TRUE(values) << stage.name << ": " << values.error().message;
        EXPECT_TRUE(std::equal(values->begin(), values->end(),
                               later.values.begin() + static_cast<std::ptrdiff_t>(begin),
                               later.values.begin() + static_cast<std::ptrdiff_t>(end)));
      };
      expect_range(0, later.begin);
      expect_range(later.end, later.values.size());
      const auto touching =
          decompress_range(later.stream, later.end - 1, later.values.size(), decode_on_cpu());
      ASSERT_FALSE(touching);
      EXPECT_EQ(touching.error().code, Errc::unsupported_feature);
      EXPECT_EQ(touching.error().chunk, 1u);
    }
  }
}

// Whose chunks are all of a later version, the chunk that a range touches is the one that is named.
TEST(UnknownStage, ARangeNamesTheChunkThatItTouches) {
  faults::StreamFields fields = faults::raw_stream("i16x2", 300);
  for (auto& chunk : fields.chunks) chunk.models[0].coder = kNumCoders;
  for (const bool with_index : {false, true}) {
    fields.has_index = with_index;
    const Bytes stream = faults::write(fields).bytes;
    const StreamInfo info = inspect(stream).value();
    const auto touching =
        decompress_range(stream, info.decoded_bytes - 1, info.decoded_bytes, decode_on_cpu());
    ASSERT_FALSE(touching);
    EXPECT_EQ(touching.error().chunk, info.chunks.size() - 1);
  }
}

TEST(UnknownStage, MetadataBehindItIsFound) {
  for (const bool with_index : {false, true}) {
    LaterStream later([](auto& model) { model.coder = kNumCoders; }, with_index);
    EncodeOptions options = encode_on_cpu("i16");
    options.metadata = {{"unit", "m"}};
    const Bytes two = join({later.stream, compress(Bytes(100), options).value()});
    EXPECT_EQ(read_metadata(two).value(), options.metadata);
  }
}

// Their sum, modulo 2^64, is the length of the payload.
TEST(UnknownStage, SectionsThatCannotBeThereAreRefused) {
  faults::StreamFields fields = faults::raw_stream("i16x2,f32", 200);
  for (ModelFields& model : fields.chunks[1].models) {
    model.coder = kNumCoders;
    model.column_bytes.value += 1ull << 63;
  }
  const auto info = inspect(faults::write(fields).bytes);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unsupported_feature);
  EXPECT_EQ(info.error().chunk, 1u);
}

TEST(UnknownStage, WhatItWouldCostOtherwiseIsNotExplained) {
  const LaterStream later([](auto& model) { model.coder = kNumCoders; });
  const StreamInfo info = inspect(later.stream).value();
  const auto explained =
      explain_chunk(std::span(later.values)
                        .subspan(static_cast<std::size_t>(later.begin),
                                 static_cast<std::size_t>(later.end - later.begin)),
                    info.layouts[0], info.chunks[1]);
  ASSERT_FALSE(explained);
  EXPECT_EQ(explained.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace gdelta::test
