// Pages that kernels of a caller's read into registers.
#include "gdelta/pages/page_reader.cuh"

#include "codec/cuda/cuda_cases.h"

namespace gdelta::test {
namespace {

/// Every tuple to where its record is, and how often each has been seen, once more if its run does not have it.
template <class Reader, class Value>
__global__ void __launch_bounds__(Reader::kThreads, Reader::kBlocks)
    collect_kernel(DevicePages pages, Value* out, unsigned* seen) {
  Reader::for_each_run(pages, [&](const typename Reader::Run& run) {
    run.for_each([&](std::uint64_t record, const Value(&tuple)[Reader::kTuple]) {
      for (int lane = 0; lane < Reader::kTuple; ++lane)
        out[record * Reader::kTuple + lane] = tuple[lane];
      const bool in_run = record >= run.first() && record - run.first() < run.count();
      atomicAdd(seen + record, in_run ? 1u : 2u);
    });
  });
}

/// A stream on the device, and what its reading takes.
class ReaderCase {
 public:
  ReaderCase(const std::vector<TestChunk>& chunks, const Layout& layout, std::size_t first = 0)
      : info_(info_of(chunks, layout, bytes_, 6)),
        table_(make_chunk_table(info_).value()),
        stream_(bytes_),
        device_table_(table_.bytes),
        scratch_(device_decode_scratch_bytes(table_, first, chunks.size() - first).value()),
        status_((chunks.size() - first) * sizeof(ChunkStatus)) {
    table_.kinds = kNoChunkKinds;
    table_.kinds.warp_pages = true;
    decode.table = &table_;
    decode.device_table = device_table_.data();
    decode.stream = stream_.data();
    decode.stream_bytes = bytes_.size();
    decode.first_chunk = first;
    decode.num_chunks = chunks.size() - first;
    decode.status = reinterpret_cast<ChunkStatus*>(status_.data());
    decode.scratch = scratch_.data();
    decode.scratch_bytes = scratch_.size();
  }

  std::vector<ChunkStatus> status() const {
    std::vector<ChunkStatus> status(decode.num_chunks);
    std::memcpy(status.data(), status_.to_host().data(), status_.size());
    return status;
  }
  ChunkTable& table() { return table_; }
  const StreamInfo& info() const { return info_; }

  DeviceDecode decode;

 private:
  Bytes bytes_;
  StreamInfo info_;
  ChunkTable table_;
  DeviceBytes stream_, device_table_, scratch_, status_;
};

/// What a reader gets of a column, tuple behind tuple; each record is to be seen once.
template <class Value, int Tuple, bool kVerify = true>
Bytes read_column(ReaderCase& reading, std::size_t column, std::uint64_t records) {
  using Reader = PageReader<Value, Tuple, kVerify>;
  const DeviceBytes out(records * Tuple * sizeof(Value)), seen(records * sizeof(unsigned), 0);
  reading.decode.verify = kVerify;
  const auto pages = device_open_pages(reading.decode, column, nullptr);
  EXPECT_TRUE(pages) << pages.error().to_string();
  if (!pages) return {};
  constexpr auto kKernel = collect_kernel<Reader, Value>;
  GDELTA_CUDA_OK(
      (launch_reader<Reader, kKernel>(*pages, nullptr, *pages, reinterpret_cast<Value*>(out.data()),
                                      reinterpret_cast<unsigned*>(seen.data()))));
  EXPECT_TRUE(device_close_pages(*pages, nullptr));
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  std::vector<unsigned> times(records);
  std::memcpy(times.data(), seen.to_host().data(), seen.size());
  EXPECT_EQ(times, std::vector<unsigned>(records, 1));
  return out.to_host();
}

void expect_ok(const ReaderCase& reading) {
  for (const ChunkStatus& status : reading.status())
    EXPECT_EQ(status.code, static_cast<int>(Errc::ok)) << status.byte;
}

/// Chunks of several lengths come back through a reader, all of them and all but the first.
template <class Value, int Tuple>
void expect_read(const char* record, Pattern pattern) {
  const Layout layout = parse_record(record).value();
  std::vector<TestChunk> chunks;
  Bytes values;
  for (const int records : {129, 4096 / Tuple, 9001}) {
    chunks.push_back(
        make_chunk(layout, make_values(layout, records, pattern), pack_model(2, 32 / Tuple)));
    values.insert(values.end(), chunks.back().values.begin(), chunks.back().values.end());
  }
  const std::uint64_t record_bytes = layout.record_bytes();
  ReaderCase all(chunks, layout);
  EXPECT_TRUE((read_column<Value, Tuple>(all, 0, values.size() / record_bytes) == values))
      << record;
  expect_ok(all);
  const Bytes behind(values.begin() + static_cast<std::ptrdiff_t>(129 * record_bytes),
                     values.end());
  ReaderCase some(chunks, layout, 1);
  EXPECT_TRUE((read_column<Value, Tuple, false>(some, 0, behind.size() / record_bytes) == behind))
      << record;
  expect_ok(some);
}

TEST(PageReaderCudaSmall, GivesEveryTupleOnce) {
  GDELTA_NEEDS_GPU();
  expect_read<float, 3>("f32x3", Pattern::smooth);
  expect_read<std::int32_t, 1>("i32", Pattern::extremes);
  expect_read<std::int16_t, 2>("i16x2", Pattern::smooth);
  expect_read<std::uint8_t, 1>("u8", Pattern::smooth);
  expect_read<double, 4>("f64x4", Pattern::smooth);
}

TEST(PageReaderCudaSmall, GivesValuesInTheByteOrderOfTheDevice) {
  GDELTA_NEEDS_GPU();
  Layout layout = parse_record("i32x2").value();
  const Bytes native = make_values(layout, 5000, Pattern::smooth);
  Bytes swapped = native;
  for (std::size_t at = 0; at < swapped.size(); at += 4)
    std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(at),
                 swapped.begin() + static_cast<std::ptrdiff_t>(at + 4));
  layout.columns[0].big_endian = true;
  ReaderCase reading({make_chunk(layout, swapped, pack_model(1, 16))}, layout);
  EXPECT_TRUE((read_column<std::int32_t, 2>(reading, 0, 5000) == native));
  expect_ok(reading);
}

TEST(PageReaderCudaSmall, ReadsOneColumnOfARecord) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("u16,f32x3,i64").value();
  const Bytes values = make_values(layout, 3000, Pattern::smooth);
  Bytes points;
  for (std::size_t at = 0; at < values.size(); at += layout.record_bytes())
    points.insert(points.end(), values.begin() + static_cast<std::ptrdiff_t>(at + 2),
                  values.begin() + static_cast<std::ptrdiff_t>(at + 14));
  ReaderCase reading({make_chunk(layout, values, pack_model(1, 8))}, layout);
  EXPECT_TRUE((read_column<float, 3>(reading, 1, 3000) == points));
  expect_ok(reading);
}

TEST(PageReaderCudaSmall, SaysWhichChunkIsDamaged) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32").value();
  std::vector<TestChunk> chunks(
      3, make_chunk(layout, make_values(layout, 5000, Pattern::smooth), pack_model(1, 32)));
  chunks[1].block[chunks[1].block.size() - 20] ^= std::byte{4};
  ReaderCase reading(chunks, layout);
  read_column<std::int32_t, 1>(reading, 0, 15000);
  const auto status = reading.status();
  const auto decoded = decode_on_device(chunks, layout, 0, 3);
  for (int chunk = 0; chunk < 3; ++chunk) {
    EXPECT_EQ(status[chunk].code, decoded.status[chunk].code);
    EXPECT_EQ(status[chunk].byte, decoded.status[chunk].byte);
  }
  EXPECT_EQ(status[1].code, static_cast<int>(Errc::corrupt));
}

TEST(PageReaderCudaSmall, SaysWhichChunkHasNoPages) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32").value();
  const std::vector<TestChunk> chunks = {
      make_chunk(layout, make_values(layout, 5000, Pattern::random), pack_model(1, 32)),  // raw
      make_chunk(layout, make_values(layout, 5000, Pattern::smooth), pack_model(1, 32))};
  ReaderCase reading(chunks, layout);
  reading.table().kinds.placed = true;
  using Reader = PageReader<std::int32_t, 1>;
  const DeviceBytes out(10000 * sizeof(std::int32_t)), seen(10000 * sizeof(unsigned), 0);
  const auto pages = device_open_pages(reading.decode, 0, nullptr);
  ASSERT_TRUE(pages);
  constexpr auto kKernel = collect_kernel<Reader, std::int32_t>;
  GDELTA_CUDA_OK((launch_reader<Reader, kKernel>(*pages, nullptr, *pages,
                                                 reinterpret_cast<std::int32_t*>(out.data()),
                                                 reinterpret_cast<unsigned*>(seen.data()))));
  ASSERT_TRUE(device_close_pages(*pages, nullptr));
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  const auto status = reading.status();
  EXPECT_EQ(status[0].code, static_cast<int>(Errc::unsupported_feature));
  EXPECT_EQ(status[1].code, static_cast<int>(Errc::ok));
  const Bytes found = out.to_host();
  EXPECT_TRUE(std::equal(chunks[1].values.begin(), chunks[1].values.end(), found.begin() + 20000));
}

TEST(PageReaderCudaSmall, RefusesWhatItCannotRead) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32").value();
  ReaderCase reading(
      {make_chunk(layout, make_values(layout, 500, Pattern::smooth), pack_model(1, 32))}, layout);
  EXPECT_EQ(device_open_pages(reading.decode, 1, nullptr).error().code, Errc::invalid_argument);
  const auto pages = device_open_pages(reading.decode, 0, nullptr);
  ASSERT_TRUE(pages);
  const auto launch = [&](auto reader) {
    using Reader = decltype(reader);
    constexpr auto kKernel = collect_kernel<Reader, std::int32_t>;
    return launch_reader<Reader, kKernel>(*pages, nullptr, *pages,
                                          static_cast<std::int32_t*>(nullptr),
                                          static_cast<unsigned*>(nullptr));
  };
  EXPECT_EQ(launch(PageReader<std::int32_t, 2>()), cudaErrorInvalidValue);
  EXPECT_EQ(launch(PageReader<std::int32_t, 1, false>()), cudaErrorInvalidValue);
  reading.table().kinds.strides = true;
  EXPECT_EQ(device_open_pages(reading.decode, 0, nullptr).error().code, Errc::unsupported_feature);
}

}  // namespace
}  // namespace gdelta::test
