// Records of several columns, which are decoded each by itself and then joined.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>
#include <cstddef>

#include "codec/cuda/container/join_records_cuda.h"
#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/device_layout.h"

namespace gdelta::test {
namespace {

/// As many columns as are joined, of 1 to 8 bytes.
std::string many_columns() {
  std::string record;
  const char* const types[] = {"u8", "i16", "i24", "f32", "i64"};
  for (std::uint32_t c = 0; c < cuda::kMostJoinedColumns; ++c)
    record += (c > 0 ? "," : "") + std::string(types[c % std::size(types)]);
  return record;
}

/// Records of two bytes, of an odd number of them, of so many that a block has no whole number of them at a time, and the longest.
std::vector<std::string> joined_records() {
  return {"u8,u8",
          "u8,i24,u16",
          "i16,i32",
          "f32,f32,f32,u32",
          "i32x3,u16,u8x2",
          "i64,u8",
          "i64x2,i64x2",
          "u16x64,i24x43,u8",
          "u8x64,u8x64,u8x64,u8x64,u8x45",
          many_columns(),
          "f64x64,f64x64,f64x64,f64x63,f32x2"};
}

/// Columns of a chunk are packed, but for the last, which is raw.
TestChunk records_chunk(const Layout& layout, std::uint64_t records) {
  Bytes values = make_values(layout, records, Pattern::smooth);
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), pack_model(1, 8));
  plan.columns.back() = {};
  TestChunk chunk;
  chunk.block = encode_chunk(values, layout, false, plan);
  chunk.values = std::move(values);
  return chunk;
}

TEST(CudaRecordsSmall, WhichColumnsAreDecodedByThemselves) {
  const auto are_apart = [](const std::string& record, bool in_segments = false) {
    return cuda::make_device_layout(parse_record(record).value(), in_segments).apart;
  };
  for (const std::string& record : joined_records()) {
    EXPECT_TRUE(are_apart(record)) << record;
    EXPECT_FALSE(are_apart(record, true)) << record;
  }
  EXPECT_FALSE(are_apart("i32"));
  EXPECT_FALSE(are_apart("u8x3"));
  EXPECT_FALSE(are_apart("i64x4,i32x8"));  // whole sectors
  EXPECT_TRUE(are_apart("i64x4,i32x4"));
  EXPECT_FALSE(are_apart(many_columns() + ",u8"));
  EXPECT_FALSE(are_apart("f64x64,f64x64,f64x64,f64x63,f32x2,u8"));
}

TEST(CudaRecordsSmall, ColumnsAreJoinedWhateverTheRecord) {
  GDELTA_NEEDS_GPU();
  for (const std::string& record : joined_records()) {
    const Layout layout = parse_record(record).value();
    const std::uint64_t of_block = (32 << 10) / layout.record_bytes();  // at a time, about
    std::vector<TestChunk> chunks;
    chunks.push_back(records_chunk(layout, 17));
    // Whose end is no multiple of anything.
    chunks.push_back(
        make_chunk(byte_layout(), make_values(byte_layout(), 13, Pattern::random), {}, true));
    chunks.push_back(records_chunk(layout, 2 * of_block + 5));
    chunks.push_back(records_chunk(layout, 1));
    for (const std::size_t skew : {0, 1, 6}) expect_decoded(chunks, layout, 6, skew);
  }
}

TEST(CudaRecordsSmall, AChunkWithoutRoomIsNotJoined) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3,u16,u8x2").value();
  const std::vector<TestChunk> chunks = {records_chunk(layout, 3000), records_chunk(layout, 700)};
  Bytes stream;
  const StreamInfo info = info_of(chunks, layout, stream, 0);
  for (const StreamInfo& known : {info, with_heads(info, chunks)}) {
    const ChunkTable table = make_chunk_table(known).value();
    const RangeOnDevice range(stream, table, 0, 2, known.decoded_bytes - 1, 0);
    range.run();
    const auto status = range.chunk_status();
    EXPECT_EQ(status[0].code, static_cast<int>(Errc::ok));
    EXPECT_EQ(status[1].code, static_cast<int>(Errc::output_too_small));
    const Bytes out = range.out.to_host();
    const auto rest = out.begin() + static_cast<std::ptrdiff_t>(chunks[0].values.size());
    EXPECT_TRUE(std::equal(out.begin(), rest, chunks[0].values.begin()));
    EXPECT_TRUE(std::all_of(rest, out.end(), [](std::byte b) { return b == std::byte{0xa5}; }));
  }
}

TEST(CudaRecordsSmall, NeighboursOfADamagedChunkAreRight) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3,u16,u8x2").value();
  std::vector<TestChunk> chunks(3, records_chunk(layout, 3000));
  chunks[1].block[chunks[1].block.size() - 9000] ^= std::byte{4};
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, 3);
  EXPECT_EQ(outcome.status[1].code, static_cast<int>(Errc::corrupt));
  for (const std::size_t i : {0, 2}) {
    EXPECT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok));
    EXPECT_TRUE(outcome.contents[i] == chunks[i].values);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
