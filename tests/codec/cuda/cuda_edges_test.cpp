// Shapes at which kernels take another turn, another block or another path: many pages, many columns,
// long strides, long tuples.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>

#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/cuda_cases.h"
#include "codec/cuda/encode_pipeline.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/codec.h"

namespace gdelta::test {
namespace {

/// Whether all columns of a chunk have pages.
bool is_packed(const TestChunk& chunk, const Layout& layout) {
  const auto parsed = format::parse_chunk_block(chunk.block, 0, layout);
  return parsed &&
         std::all_of(parsed->columns.begin(), parsed->columns.end(),
                     [](const auto& head) { return head.model.section.coder == Coder::pack; });
}

/// The device encodes a chunk to the bytes of the CPU, and decodes them. `packs`: the chunk is to have
/// pages, whose kernels a chunk that turns out raw would leave out.
void expect_round_trip(const Layout& layout, std::uint64_t records, Pattern pattern,
                       const format::ColumnModel& model, bool packs = true) {
  TestChunk chunk = make_chunk(layout, make_values(layout, records, pattern), model);
  const std::string what = to_string(layout) + ", " + std::to_string(records) + " records";
  ASSERT_TRUE(is_packed(chunk, layout) || !packs) << what;
  EncodeJob job;
  job.values = chunk.values;
  job.layout = &layout;
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), model);
  Workers workers(1);
  cuda::EncodePipeline pipeline(0, 64u << 20, workers);
  ProgressMeter progress;
  const auto done = pipeline.run(
      {&job, 1}, [&](const EncodeJob&, Work*) { return plan; }, progress);
  ASSERT_TRUE(done) << done.error().to_string();
  ASSERT_TRUE(job.block == chunk.block) << what;
  expect_decoded({std::move(chunk)}, layout);
}

TEST(CudaEdgesSmall, SectionsHaveMorePagesThanABlockHasThreads) {
  const Layout layout = parse_record("u8").value();
  GDELTA_NEEDS_GPU();
  expect_round_trip(layout, 128 * 600 + 5, Pattern::smooth, pack_model(2, 1));
  expect_round_trip(layout, 128 * 257, Pattern::alternating, pack_model(1, 1));
}

// Bytes that are copied begin and end everywhere among vectors, in the stream and where they go.
TEST(CudaEdgesSmall, RawSectionsHaveEveryLength) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("u8").value();
  std::vector<TestChunk> chunks;
  for (std::uint64_t records = 1; records <= 80; ++records) {
    for (const std::uint64_t more : {0, 5000})
      chunks.push_back(
          make_chunk(layout, make_values(layout, records + more, Pattern::random), {}));
  }
  for (const std::size_t skew : {0, 3, 8}) expect_decoded(chunks, layout, 6, skew);
}

TEST(CudaEdgesSmall, PagesHaveTheMostGroups) {
  GDELTA_NEEDS_GPU();
  expect_round_trip(parse_record("u8").value(), 128 * 2048 + 300, Pattern::smooth,
                    pack_model(2, 2048));
  expect_round_trip(parse_record("u16x64").value(), 128 * 32 + 130, Pattern::smooth,
                    pack_model(2, 32));
}

TEST(CudaEdgesSmall, RowsOfLongTuplesTakeMoreThanOneStage) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f64x64", "i64x17", "i32x33", "i24x43"})
    expect_round_trip(parse_record(record).value(), 300, Pattern::smooth, pack_model(3, 2));
}

TEST(CudaEdgesSmall, StridesHaveFewColumnsAndManyBlocksOfThem) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8", "i24", "u16x3", "i64"}) {
    const Layout layout = parse_record(record).value();
    for (const std::uint32_t stride : {2u, 85u, 86u, 255u, 256u, 257u, 600u, 2100u}) {
      auto model = pack_model(1, 4);
      model.front.num_strides = 1;
      model.front.strides[0] = {stride, static_cast<std::uint8_t>(1 + stride % 8)};
      expect_round_trip(layout, 4 * stride + stride / 2 + 3, Pattern::smooth, model,
                        value_bytes(layout.columns[0].type) > 1 && stride > 2);
    }
  }
}

/// As many chunks as give each one block: it takes tiles of whole rows, if one has room for some.
TEST(CudaEdgesSmall, StridesOfManyChunksHaveTilesOfWholeRows) {
  GDELTA_NEEDS_GPU();
  constexpr std::uint32_t kStrides[] = {3, 17, 300, 513, 700, 1025, 1440, 2048, 3001};
  for (const char* record : {"i32", "f64", "i32,u8"}) {
    const Layout layout = parse_record(record).value();
    std::vector<TestChunk> chunks;
    for (std::uint32_t i = 0; i < 135; ++i) {
      auto model = pack_model(1, 4);
      model.front.num_strides = 1;
      const std::uint32_t stride = kStrides[i % std::size(kStrides)];
      model.front.strides[0] = {stride, static_cast<std::uint8_t>(1 + i % 2)};
      const std::uint64_t records = i < 18 ? 9 * stride + i : 4 * stride + stride / 2 + i;
      chunks.push_back(make_chunk(layout, make_values(layout, records, Pattern::smooth, i), model));
    }
    expect_decoded(chunks, layout);
  }
}

TEST(CudaEdgesSmall, ColumnsAndChunksAreMoreThanBlocks) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("u8,u16").value();
  auto strided = pack_model(1);
  strided.front.num_strides = 1;
  strided.front.strides[0] = {2, 1};
  std::vector<TestChunk> chunks;
  for (int i = 0; i < 600; ++i) {
    const Bytes values =
        make_values(layout, 9 + i % 5, i % 3 == 0 ? Pattern::random : Pattern::smooth, i);
    chunks.push_back(make_chunk(layout, values, strided));
  }
  expect_decoded(chunks, layout);
}

/// A table whose entry of one chunk is not true. What that chunk gets, and that others are right.
struct TableFault {
  const char* what = "";
  std::uint64_t block_at = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t decoded_at = 0;
  std::uint64_t decoded_bytes = 0;
  Errc expected = Errc::corrupt;
};

void expect_fault(const TableFault& fault, const std::vector<TestChunk>& chunks,
                  const Layout& layout, std::size_t which) {
  Bytes stream;
  auto table = make_chunk_table(info_of(chunks, layout, stream, 6));
  ASSERT_TRUE(table);
  cuda::TableChunk entry;
  std::byte* const at = table->bytes.data() + cuda::table_chunks_at(1) + which * sizeof entry;
  std::memcpy(&entry, at, sizeof entry);
  entry.block_at += fault.block_at;
  entry.block_bytes += fault.block_bytes;
  entry.decoded_at += fault.decoded_at;
  entry.decoded_bytes += fault.decoded_bytes;
  std::memcpy(at, &entry, sizeof entry);
  const DeviceBytes device_stream(stream), device_table(table->bytes), out(table->decoded_bytes),
      scratch(device_decode_scratch_bytes(*table, 0, chunks.size()).value()),
      status(chunks.size() * sizeof(ChunkStatus));
  DeviceDecode decode;
  decode.table = &*table;
  decode.device_table = device_table.data();
  decode.stream = device_stream.data();
  decode.stream_bytes = stream.size();
  decode.num_chunks = chunks.size();
  decode.out = out.data();
  decode.out_bytes = out.size();
  decode.status = reinterpret_cast<ChunkStatus*>(status.data());
  decode.scratch = scratch.data();
  decode.scratch_bytes = scratch.size();
  const auto done = device_decode(decode, nullptr);
  ASSERT_TRUE(done) << fault.what << ": " << done.error().to_string();
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  std::vector<ChunkStatus> found(chunks.size());
  std::memcpy(found.data(), status.to_host().data(), status.size());
  const Bytes decoded = out.to_host();
  auto content = decoded.begin();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Errc expected = i == which ? fault.expected : Errc::ok;
    EXPECT_EQ(found[i].code, static_cast<int>(expected)) << fault.what << ", chunk " << i;
    const auto end = content + static_cast<std::ptrdiff_t>(chunks[i].values.size());
    if (i != which) {
      EXPECT_TRUE(std::equal(content, end, chunks[i].values.begin())) << fault.what << i;
    } else {
      EXPECT_TRUE(std::all_of(content, end, [](auto byte) { return byte == std::byte{0xa5}; }))
          << fault.what << ": written all the same";
    }
    content = end;
  }
}

TEST(CudaTableSmall, AnEntryThatIsNotTrueIsRefusedAndHarmsNoOtherChunk) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3").value();
  std::vector<TestChunk> chunks;
  for (int i = 0; i < 4; ++i)
    chunks.push_back(
        make_chunk(layout, make_values(layout, 140, Pattern::smooth, i), pack_model(1)));
  constexpr std::uint64_t kMost = ~std::uint64_t{0}, kFar = std::uint64_t{1} << 40;
  const TableFault faults[] = {
      {.what = "block far behind the stream", .block_at = kFar, .expected = Errc::truncated},
      {.what = "block at the end of memory", .block_at = kMost - 2000, .expected = Errc::truncated},
      {.what = "block longer than the stream", .block_bytes = kFar, .expected = Errc::truncated},
      {.what = "block whose length overflows",
       .block_bytes = kMost - 2000,
       .expected = Errc::truncated},
      {.what = "content far behind the output",
       .decoded_at = kFar,
       .expected = Errc::output_too_small},
      {.what = "content before the output",
       .decoded_at = kMost - 100'000,
       .expected = Errc::output_too_small},
      {.what = "content longer than the output",
       .decoded_bytes = kFar,
       .expected = Errc::output_too_small},
      {.what = "content whose length overflows",
       .decoded_bytes = kMost - 1680 - 1680,
       .expected = Errc::output_too_small},
      {.what = "content of another length", .decoded_bytes = kMost, .expected = Errc::corrupt},
  };
  for (const TableFault& fault : faults) {
    for (const std::size_t which : {1, 3}) expect_fault(fault, chunks, layout, which);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
