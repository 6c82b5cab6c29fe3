// What the device API answers before it touches a device, in builds with and without CUDA.
#include "gdelta/device.h"

#include <gtest/gtest.h>

namespace gdelta::test {
namespace {

#ifdef GDELTA_HAS_CUDA
constexpr Errc kRefusal = Errc::invalid_argument;
#else
constexpr Errc kRefusal = Errc::unsupported_backend;
#endif

TEST(DeviceApi, RefusesADecodeWithoutTable) {
  const auto done = device_decode({}, nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, kRefusal);
}

TEST(DeviceApi, RefusesChunksOutsideTheTable) {
  const auto bytes = device_decode_scratch_bytes({}, 0, 1);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, kRefusal);
}

#ifdef GDELTA_HAS_CUDA
StreamInfo info_with(const std::vector<const char*>& records) {
  StreamInfo info;
  for (const char* record : records) {
    ChunkInfo chunk;
    chunk.layout = info.layouts.size();
    chunk.decoded_bytes = 1000;
    chunk.decoded_at = 1000 * info.layouts.size();
    info.layouts.push_back(parse_record(record).value());
    info.chunks.push_back(chunk);
  }
  return info;
}

TEST(DeviceApi, MakesATableOfChunksOfOneLayout) {
  const auto table = make_chunk_table(info_with({"i32x3", "i32x3"}));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->num_chunks, 2u);
  EXPECT_EQ(table->decoded_bytes, 2000u);
  EXPECT_EQ(table->bytes.size(), chunk_table_bytes(table->layout, 2));
  EXPECT_GT(device_decode_scratch_bytes(*table, 0, 2).value(), 0u);
}

// ---- Kinds, as a text of the letters of those that may occur

std::string text_of(const ChunkKinds& kinds) {
  return std::string(kinds.placed ? "p" : "") + (kinds.page_coders != 0 ? "b" : "") +
         (kinds.strides ? "s" : "") + (kinds.stride_pairs ? "t" : "") + (kinds.linear ? "l" : "") +
         (kinds.opaque ? "o" : "");
}

ColumnInfo column_info_of(Coder coder, std::uint64_t page_groups = 0, bool strides = false) {
  ColumnInfo column;
  column.coder = coder;
  column.page_groups = page_groups;
  if (strides) column.strides = {{7, 1}};
  return column;
}

/// Of a stream with one chunk of these columns, before or behind one of packed columns.
std::string kinds_with(const char* record, const std::vector<ColumnInfo>& columns,
                       bool opaque = false) {
  StreamInfo info = info_with({record, record});
  info.chunks[1].layout = 0;
  info.chunks[0].columns.assign(info.layouts[0].columns.size(), column_info_of(Coder::pack, 8));
  info.chunks[1].columns = columns;
  info.chunks[1].opaque = opaque;
  const std::string kinds = text_of(make_chunk_table(info).value().kinds);
  std::swap(info.chunks[0], info.chunks[1]);
  EXPECT_EQ(text_of(make_chunk_table(info).value().kinds), kinds);
  return kinds;
}

TEST(DeviceApi, KnowsFromModelsWhatKindsOfColumnsThereAre) {
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::pack, 32)}), "");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::pack, 33)}), "b");
  EXPECT_EQ(kinds_with("i32x3", {column_info_of(Coder::pack, 10)}), "");
  EXPECT_EQ(kinds_with("i32x3", {column_info_of(Coder::pack, 11)}), "b");
  EXPECT_EQ(kinds_with("i32x5", {column_info_of(Coder::pack, 8)}), "");
  EXPECT_EQ(kinds_with("i32x5", {column_info_of(Coder::pack, 9)}), "b");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::pack, 32, true)}), "s");
  ColumnInfo twice = column_info_of(Coder::pack, 32, true);
  twice.strides.push_back({2, 1});
  EXPECT_EQ(kinds_with("i32", {twice}), "st");
  ColumnInfo predicted = column_info_of(Coder::pack, 32);
  predicted.predictor = Predictor::linear;
  EXPECT_EQ(kinds_with("i32", {predicted}), "l");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::raw)}), "p");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::constant)}), "p");
  EXPECT_EQ(kinds_with("i32,u8",
                       {column_info_of(Coder::constant), column_info_of(Coder::pack, 64, true)}),
            "pbs");
  EXPECT_EQ(kinds_with("i32,u8", {column_info_of(Coder::pack, 32)}, true), "o");
  EXPECT_EQ(kinds_with("i32,u8", {column_info_of(Coder::raw)}, true), "po");
}

TEST(DeviceApi, CountsNoColumnsOfChunksThatTheHostDecodes) {
  EXPECT_EQ(kinds_with("i32,u8", {column_info_of(Coder::raw), column_info_of(Coder::zstd)}), "");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::zstd, 0, true)}, true), "");
}

TEST(DeviceApi, AllowsEveryKindWhereModelsAreUnknown) {
  EXPECT_EQ(kinds_with("i32", {}), "pbstlo");
  EXPECT_EQ(kinds_with("i32,u8", {column_info_of(Coder::pack, 32)}), "pbstlo");
  EXPECT_EQ(kinds_with("i32", {column_info_of(Coder::pack)}), "b");  // how long are its pages?
  EXPECT_EQ(kinds_with("i32x2", {column_info_of(Coder::pack, 1ull << 63)}), "b");
}

TEST(DeviceApi, KnowsTheKindsOfAStreamFromInspect) {
  std::vector<std::byte> values(40000);
  for (std::size_t i = 0; i < values.size(); i += 4) values[i] = static_cast<std::byte>(i * i / 97);
  EncodeOptions options;
  options.layout = parse_record("i32").value();
  options.level = 1;
  options.device = "cpu";
  const auto stream = compress(values, options).value();
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 1u);
  ASSERT_EQ(info.chunks[0].columns.size(), 1u);
  EXPECT_EQ(info.chunks[0].columns[0].coder, Coder::pack);
  EXPECT_EQ(info.chunks[0].columns[0].page_groups, 32u);
  EXPECT_EQ(text_of(make_chunk_table(info).value().kinds), "");
  EXPECT_TRUE(make_chunk_table(info).value().kinds.warp_pages);
  options.coder = Coder::ans;
  const ChunkTable of_ans =
      make_chunk_table(inspect(compress(values, options).value()).value()).value();
  EXPECT_EQ(text_of(of_ans.kinds), "b");
  EXPECT_FALSE(of_ans.kinds.warp_pages);
}

TEST(DeviceApi, KnowsWhatTheDeviceEncoderLeaves) {
  DeviceEncode encode;
  encode.layout = {{{ValueType::i32, 3, false}}};
  encode.values_bytes = 12000;
  EXPECT_EQ(text_of(device_encode_table(encode).value().kinds), "p");
  encode.layout = {{{ValueType::i32, 5, false}}};
  EXPECT_EQ(text_of(device_encode_table(encode).value().kinds), "p");
}

TEST(DeviceApi, RefusesATableOfAChunkWhoseLayoutIsNotListed) {
  const auto expect_refused = [](const StreamInfo& info) {
    const auto table = make_chunk_table(info);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, Errc::invalid_argument);
  };
  StreamInfo info = info_with({"i32x3", "i32x3"});
  info.chunks[1].layout = 2;
  expect_refused(info);
  std::swap(info.chunks[0], info.chunks[1]);
  expect_refused(info);
  info.layouts.clear();
  expect_refused(info);
  for (ChunkInfo& chunk : info.chunks) chunk.opaque = true;  // those have none in it
  EXPECT_TRUE(make_chunk_table(info));
}

TEST(DeviceApi, RefusesATableOfSeveralLayouts) {
  const auto table = make_chunk_table(info_with({"i32x3", "u16"}));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Errc::unsupported_feature);
}

TEST(DeviceApi, RefusesScratchThatIsTooSmallOrNowhere) {
  const auto table = make_chunk_table(info_with({"i32x3"})).value();
  alignas(256) static unsigned char memory[256];  // never reached
  DeviceDecode decode;
  decode.table = &table;
  decode.num_chunks = 1;
  const auto null_pointers = device_decode(decode, nullptr);
  ASSERT_FALSE(null_pointers);
  EXPECT_EQ(null_pointers.error().code, Errc::invalid_argument);
  decode.device_table = decode.stream = decode.out = decode.scratch = memory;
  decode.status = reinterpret_cast<ChunkStatus*>(memory);
  decode.scratch_bytes = 1;
  const auto small = device_decode(decode, nullptr);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, Errc::output_too_small);
}
#endif

}  // namespace
}  // namespace gdelta::test
