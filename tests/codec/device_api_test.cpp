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
