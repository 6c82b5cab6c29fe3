// Columns with two strides that a block undoes together, behind pages of ans and pages that are too long for a warp: as those
// are of calls of so many chunks. The same values, errors and places as where there are few.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"

namespace gdelta::test {
namespace {

/// So many that no cluster of blocks shares a column.
std::size_t enough_chunks() {
  int processors = 0;
  GDELTA_CUDA_OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<std::size_t>(processors) + 3;
}

format::ColumnModel strided_model(Coder coder, std::uint32_t page_groups,
                                  std::initializer_list<std::uint32_t> strides) {
  auto model = pack_model(1, page_groups);
  model.section.coder = coder;
  for (const std::uint32_t stride : strides)
    model.front.strides[model.front.num_strides++] = {stride, 1};
  return model;
}

/// Of ans, and of pages that are too long for a warp, with one stride and with two; `longest` records in the first.
std::vector<TestChunk> strided_chunks(const Layout& layout, std::uint64_t longest) {
  const auto groups = static_cast<std::uint32_t>(100 / layout.columns[0].tuple);
  const format::ColumnModel models[] = {
      strided_model(Coder::ans, groups, {600, 49}), strided_model(Coder::ans, 9, {24}),
      strided_model(Coder::pack, 60, {12, 4}), strided_model(Coder::pack, 60, {5})};
  std::vector<TestChunk> chunks;
  const std::size_t count = enough_chunks();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t records = i == 0 ? longest : 2400 + 1152 * (i % 9) + 4 * (i % 3);
    chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::smooth, i),
                                models[i % std::size(models)]));
  }
  return chunks;
}

TEST(CudaStridePairsSmall, ValuesOfEveryWidthAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i32:be", "u8", "i16x2", "u24", "i24x4", "f64", "i32x5"}) {
    const Layout layout = parse_record(record).value();
    const bool is_long = layout.record_bytes() == 4;  // more than a round
    const std::vector<TestChunk> chunks = strided_chunks(layout, is_long ? 40'016 : 6'000);
    for (const std::size_t skew : {0, 5}) {  // at odd addresses links go one by one
      if (skew > 0 && !is_long) continue;
      expect_decoded(chunks, layout, 6, skew);
    }
  }
}

TEST(CudaStridePairsSmall, DamageIsReportedAsWhereChunksAreFew) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32").value();
  std::vector<TestChunk> chunks = strided_chunks(layout, 40'016);
  for (std::size_t i = 0; i < chunks.size(); i += i % 2 + 1) {
    Bytes& block = chunks[i].block;
    block[block.size() - 1 - i * 97 % (block.size() / 2)] ^= std::byte{0x10};
  }
  const DeviceOutcome many = decode_on_device(chunks, layout, 0, chunks.size(), 6, 0);
  ASSERT_EQ(many.status.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const DeviceOutcome alone = decode_on_device({chunks[i]}, layout, 0, 1, 6, 0);
    ASSERT_EQ(alone.status.size(), 1u);
    EXPECT_EQ(many.status[i].code, alone.status[0].code) << i;
    const bool ok = alone.status[0].code == static_cast<int>(Errc::ok);
    EXPECT_EQ(many.status[i].byte - (ok ? 0 : many.block_at[i]),
              alone.status[0].byte - (ok ? 0 : alone.block_at[0]))
        << i;
    EXPECT_TRUE(!ok || many.contents[i] == chunks[i].values) << i;
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
