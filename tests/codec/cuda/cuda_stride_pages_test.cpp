// Columns that a block decodes and sums along strides, as those of many chunks are: the same values, errors and places as by
// a pass behind the pages.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/mapped_values.h"
#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/deltas/stride_undo_cuda.h"

namespace gdelta::test {
namespace {

/// So many that each column is a block's.
std::size_t many_chunks() {
  std::uint64_t enough = 0;
  GDELTA_CUDA_OK(cuda::enough_stride_columns(enough));
  return enough + 5;
}

ChunkKinds kinds_of(std::uint64_t stride_columns) {
  ChunkKinds kinds;
  kinds.stride_columns = stride_columns;
  return kinds;
}

format::ColumnModel strided_model(int order, std::uint32_t page_groups, std::uint32_t stride,
                                  int stride_order = 1) {
  auto model = pack_model(order, page_groups);
  model.front.num_strides = 1;
  model.front.strides[0] = {stride, static_cast<std::uint8_t>(stride_order)};
  return model;
}

/// Chunks whose strides are these in turn; so long that a stride is taken, and of any number of pages and values in the
/// last of them.
std::vector<TestChunk> strided_chunks(const Layout& layout,
                                      std::initializer_list<std::uint32_t> strides, ValueMap map) {
  const std::vector<std::uint32_t> all(strides);
  const std::size_t count = many_chunks();
  std::vector<TestChunk> chunks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t stride = all[i % all.size()];
    auto model = strided_model(1 + static_cast<int>(i % 2), 1 + i % 7, stride);
    model.front.map = map;
    const std::uint64_t records =
        std::max<std::uint64_t>(4 * stride + i % 3, i < 8 ? 900 + 777 * i : 1);
    const Pattern pattern = i % 4 == 3 ? Pattern::extremes : Pattern::smooth;
    chunks.push_back(make_chunk(layout, make_values(layout, records, pattern, i), model));
  }
  return chunks;
}

void expect_summed(const std::vector<TestChunk>& chunks, const Layout& layout, std::size_t skew) {
  const DeviceOutcome outcome =
      decode_on_device(chunks, layout, 0, chunks.size(), 6, skew, kinds_of(chunks.size()));
  ASSERT_EQ(outcome.status.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok)) << to_string(layout) << " " << i;
    ASSERT_TRUE(outcome.contents[i] == chunks[i].values) << to_string(layout) << " chunk " << i;
  }
}

TEST(CudaStridePagesSmall, ValuesOfEveryWidthAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16", "u16x2", "i16x3", "i16x4", "i32", "u32x2", "i32x3", "f32x4",
                             "i64", "f64x2", "u64x3", "i64x4", "u8", "u8x3", "i24x4", "u24"}) {
    const Layout layout = parse_record(record).value();
    expect_summed(strided_chunks(layout, {2, 3, 24, 31, 32, 33, 100, 128}, ValueMap::none), layout,
                  0);
  }
}

TEST(CudaStridePagesSmall, SumsAreMoreThanATileHas) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8", "i16", "u24", "i32", "i64"}) {
    const Layout layout = parse_record(record).value();
    const int bytes = value_bytes(layout.columns[0].type);
    const auto most = cuda::kStrideSumsBytes / static_cast<std::uint32_t>(bytes == 3 ? 4 : bytes);
    expect_summed(
        strided_chunks(layout, {255, 256, 257, 500, 511, most - 1, most, most + 1}, ValueMap::none),
        layout, 0);
  }
}

/// Columns of which all warps sum a page together, and those of which each warp sums pages of its own.
TEST(CudaStridePagesSmall, ColumnsOfFewAndOfManySumsFollowEachOther) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "u8", "i16x3"}) {
    const Layout layout = parse_record(record).value();
    std::vector<TestChunk> chunks;
    for (const int more : {0, 1, 2}) {  // so that blocks meet both in either order
      const auto next = more == 1 ? strided_chunks(layout, {501, 5, 1031, 101}, ValueMap::none)
                                  : strided_chunks(layout, {24, 301, 3, 7, 129}, ValueMap::none);
      chunks.insert(chunks.end(), next.begin(), next.end());
    }
    expect_summed(chunks, layout, 0);
  }
}

TEST(CudaStridePagesSmall, TwoStridesAreUndoneOneBehindTheOther) {
  GDELTA_NEEDS_GPU();
  constexpr std::uint32_t kPairs[][2] = {{3, 50}, {50, 3}, {300, 41}, {7, 7}, {128, 700}};
  for (const char* record : {"i32", "i16x2", "f64", "u24x4", "u8,i32"}) {
    const Layout layout = parse_record(record).value();
    std::vector<TestChunk> chunks;
    for (std::size_t i = 0; i < many_chunks(); ++i) {
      const auto& pair = kPairs[i % std::size(kPairs)];
      auto model = strided_model(1, 1 + i % 5, pair[0]);
      model.front.num_strides = 2;
      model.front.strides[1] = {pair[1], 1};
      // At first so many that four values lie and go together.
      const std::uint64_t records = 3000 + (i < std::size(kPairs) ? 4 * i : i);
      Bytes values = make_values(layout, records, Pattern::smooth, i);
      chunks.push_back(make_chunk(layout, std::move(values), model));
    }
    expect_summed(chunks, layout, 0);
  }
}

TEST(CudaStridePagesSmall, MapsAndByteOrderAreUndone) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64x2", "f16x4"})
    expect_summed(strided_chunks(parse_record(record).value(), {2, 40, 300}, ValueMap::ordered),
                  parse_record(record).value(), 0);
  for (const char* record : {"i32:be", "u16:be"})
    expect_summed(strided_chunks(parse_record(record).value(), {2, 40, 300}, ValueMap::none),
                  parse_record(record).value(), 0);
}

/// With and without exceptions, which are put in behind.
TEST(CudaStridePagesSmall, MapsOfLanesAreUndone) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f32x3", "f64x2", "i16x4", "i32x3", "i64:be", "u8,f32x2"}) {
    const Layout layout = parse_record(record).value();
    const std::size_t count = many_chunks();
    std::vector<TestChunk> chunks;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<ColumnMaps> maps(layout.columns.size());
      maps.back().lanes = maps_in_turn(layout.columns.back(), static_cast<unsigned>(i));
      Bytes values = mapped_values(layout, maps.back(), 1100 + i, i % 3 == 0 ? 40 : 0);
      const std::uint32_t stride = i % 2 == 0 ? 30 : 250;
      ChunkPlan plan;
      plan.columns.assign(layout.columns.size(), strided_model(1, 3, stride));
      plan.maps = maps;
      Bytes block = encode_chunk(values, layout, false, plan);
      chunks.push_back({std::move(block), std::move(values)});
    }
    expect_summed(chunks, layout, 0);
  }
}

TEST(CudaStridePagesSmall, ColumnsLieAnywhereBesideOthers) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8,i32x2", "i64,u16,i32", "u8,u16x3,u8x5"}) {
    const Layout layout = parse_record(record).value();
    for (const std::size_t skew : {0, 1, 4})
      expect_summed(strided_chunks(layout, {5, 77}, ValueMap::none), layout, skew);
  }
}

/// Chunks of other models, which other kernels decode, are right beside them.
TEST(CudaStridePagesSmall, OtherChunksAreAmongThem) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x2").value();
  std::vector<TestChunk> chunks = strided_chunks(layout, {7, 50}, ValueMap::none);
  auto two = strided_model(1, 2, 9);
  two.front.num_strides = 2;
  two.front.strides[1] = {3, 2};
  const format::ColumnModel models[] = {pack_model(2, 3), strided_model(1, 2, 9, 2), two,
                                        strided_model(1, 40, 9)};
  for (std::size_t i = 0; i < chunks.size(); i += 3)
    chunks[i] = make_chunk(layout, make_values(layout, 300 + i, Pattern::smooth, i),
                           models[i / 3 % std::size(models)]);
  chunks[1] = make_chunk(layout, make_values(layout, 300, Pattern::random), pack_model(1));
  const Layout bytes = byte_layout();
  chunks[4] =
      make_chunk(bytes, make_values(bytes, 3000, Pattern::repeated), strided_model(1, 2, 8), true);
  expect_summed(chunks, layout, 0);
}

/// What is damaged gets the verdict and the byte that it gets by a pass, and no other chunk does.
TEST(CudaStridePagesSmall, DamageIsReportedAsByAPass) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32").value();
  std::vector<TestChunk> chunks = strided_chunks(layout, {7, 500}, ValueMap::none);
  for (std::size_t i = 0; i < chunks.size(); i += 2) {
    Bytes& block = chunks[i].block;
    block[block.size() - 1 - i * 7 % (block.size() / 2)] ^= std::byte{0x10};
  }
  const DeviceOutcome by_pass =
      decode_on_device(chunks, layout, 0, chunks.size(), 6, 0, kinds_of(0));
  const DeviceOutcome by_blocks =
      decode_on_device(chunks, layout, 0, chunks.size(), 6, 0, kinds_of(chunks.size()));
  ASSERT_EQ(by_blocks.status.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_EQ(by_blocks.status[i].code, by_pass.status[i].code) << i;
    ASSERT_EQ(by_blocks.status[i].byte, by_pass.status[i].byte) << i;
    const Errc expected = i % 2 == 0 ? Errc::corrupt : Errc::ok;
    ASSERT_EQ(by_blocks.status[i].code, static_cast<int>(expected)) << i;
    if (i % 2 == 1) {
      EXPECT_TRUE(by_blocks.contents[i] == chunks[i].values) << i;
    }
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
