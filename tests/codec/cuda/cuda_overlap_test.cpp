// Kernels of a decode start before those before them are done: decodes that follow each other
// without the host, in the same scratch memory, and from a graph.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/prepared_stream.h"

namespace gdelta::test {
namespace {

/// Chunks of every path, in device memory with all that their decoding takes.
class DecodeCase {
 public:
  DecodeCase(const Layout& layout, std::vector<TestChunk> chunks)
      : chunks_(std::move(chunks)),
        info_(info_of(chunks_, layout, stream_, 6)),
        table_(make_chunk_table(info_).value()),
        device_stream_(stream_),
        device_table_(table_.bytes),
        out_(info_.decoded_bytes),
        status_(chunks_.size() * sizeof(ChunkStatus)),
        scratch_(device_decode_scratch_bytes(table_, 0, chunks_.size()).value()) {
    GDELTA_CUDA_OK(cudaStreamCreateWithFlags(&cuda_stream_, cudaStreamNonBlocking));
    GDELTA_CUDA_OK(cudaDeviceSynchronize());
  }
  ~DecodeCase() { static_cast<void>(cudaStreamDestroy(cuda_stream_)); }
  DecodeCase(const DecodeCase&) = delete;
  DecodeCase& operator=(const DecodeCase&) = delete;

  std::uint64_t num_chunks() const { return chunks_.size(); }
  cudaStream_t stream() const { return cuda_stream_; }

  /// Enqueues a range behind whatever is on the stream.
  void enqueue(std::uint64_t first, std::uint64_t count, bool verify) {
    const std::uint64_t at = info_.chunks[first].decoded_at;
    DeviceDecode decode;
    decode.table = &table_;
    decode.device_table = device_table_.data();
    decode.stream = device_stream_.data();
    decode.stream_bytes = stream_.size();
    decode.first_chunk = first;
    decode.num_chunks = count;
    decode.out = out_.data() + at;
    decode.out_bytes = out_.size() - at;
    decode.status = reinterpret_cast<ChunkStatus*>(status_.data()) + first;
    decode.scratch = scratch_.data();
    decode.scratch_bytes = scratch_.size();
    decode.verify = verify;
    const auto done = device_decode(decode, cuda_stream_);
    ASSERT_TRUE(done) << done.error().to_string();
  }

  void enqueue_spoiling() {
    for (const DeviceBytes* memory : {&out_, &status_, &scratch_})
      GDELTA_CUDA_OK(cudaMemsetAsync(memory->data(), 0xa5, memory->size(), cuda_stream_));
  }

  void expect_right(const char* what) const {
    GDELTA_CUDA_OK(cudaStreamSynchronize(cuda_stream_));
    std::vector<ChunkStatus> status(chunks_.size());
    std::memcpy(status.data(), status_.to_host().data(), status_.size());
    const Bytes out = out_.to_host();
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      ASSERT_EQ(status[i].code, static_cast<int>(Errc::ok)) << what << ' ' << i;
      const Bytes& values = chunks_[i].values;
      ASSERT_EQ(std::memcmp(out.data() + info_.chunks[i].decoded_at, values.data(), values.size()),
                0)
          << what << ' ' << i;
    }
  }

 private:
  Bytes stream_;
  std::vector<TestChunk> chunks_;
  StreamInfo info_;
  ChunkTable table_;
  DeviceBytes device_stream_, device_table_, out_, status_, scratch_;
  cudaStream_t cuda_stream_ = nullptr;
};

std::vector<TestChunk> mixed_chunks(const Layout& layout, int count, std::uint64_t records) {
  std::vector<TestChunk> chunks;
  for (int i = 0; i < count; ++i) {
    auto model = pack_model(i % 4, i % 3 == 0 ? 12 : 4);
    if (i % 4 == 1) model.section.coder = Coder::raw;
    if (i % 5 == 0) {
      model.front.num_strides = 2;
      model.front.strides[0] = {9, 1};
      model.front.strides[1] = {2, 2};
    }
    if (i % 7 == 3) {
      chunks.push_back(make_chunk(byte_layout(),
                                  make_values(byte_layout(), 90 + i, Pattern::random),
                                  pack_model(1, 32), true));
    } else {
      chunks.push_back(
          make_chunk(layout, make_values(layout, records + i, Pattern::smooth), model));
    }
  }
  return chunks;
}

void expect_ranges(DecodeCase& decode, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    decode.enqueue_spoiling();
    const std::uint64_t step = 1 + round % 7;
    for (std::uint64_t first = 0; first < decode.num_chunks(); first += step)
      decode.enqueue(first, std::min(step, decode.num_chunks() - first), round % 2 == 0);
  }
  decode.expect_right("ranges");
}

TEST(CudaOverlapSmall, DecodesRangesBehindEachOtherInTheSameScratch) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3,u16,f64x5").value();
  DecodeCase decode(layout, mixed_chunks(layout, 12, 400));
  expect_ranges(decode, 2);
}

TEST(CudaOverlap, DecodesRangesBehindEachOtherInTheSameScratch) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i32x3,u16,f64x5", "u8,i16x2,i24,f32x4,u64"}) {
    const Layout layout = parse_record(record).value();
    DecodeCase decode(layout, mixed_chunks(layout, 40, 20000));
    expect_ranges(decode, 28);
  }
}

// More items than a round of the sums takes.
TEST(CudaOverlap, DecodesManyChunks) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("u16,u8").value();
  for (const int count : {1, 2, 2729, 2730, 2731, 8191, 8192, 8193, 20000}) {
    std::vector<TestChunk> chunks = mixed_chunks(layout, std::min(count, 600), 300);
    for (std::size_t i = 0; chunks.size() < static_cast<std::size_t>(count); ++i)
      chunks.push_back(chunks[i]);
    DecodeCase decode(layout, std::move(chunks));
    decode.enqueue_spoiling();
    decode.enqueue(0, decode.num_chunks(), true);
    decode.expect_right("many");
  }
}

TEST(CudaOverlapSmall, DecodesFromAGraph) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x3,u16,f64x5").value();
  DecodeCase decode(layout, mixed_chunks(layout, 12, 400));
  decode.enqueue(0, decode.num_chunks(), true);  // what is asked of the driver once is asked here
  decode.expect_right("before");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  GDELTA_CUDA_OK(cudaStreamBeginCapture(decode.stream(), cudaStreamCaptureModeGlobal));
  decode.enqueue_spoiling();
  decode.enqueue(0, 5, true);
  decode.enqueue(5, decode.num_chunks() - 5, false);
  GDELTA_CUDA_OK(cudaStreamEndCapture(decode.stream(), &graph));
  GDELTA_CUDA_OK(cudaGraphInstantiate(&ready, graph, 0));
  for (int run = 0; run < 3; ++run) GDELTA_CUDA_OK(cudaGraphLaunch(ready, decode.stream()));
  decode.expect_right("graph");
  GDELTA_CUDA_OK(cudaGraphExecDestroy(ready));
  GDELTA_CUDA_OK(cudaGraphDestroy(graph));
}

// A recorded call has no number of its own, so what it clears must not depend on one.
TEST(CudaOverlapSmall, DecodesPreparedChunksFromAGraph) {
  GDELTA_NEEDS_GPU();
  const Bytes values = make_values(parse_record("i32").value(), 5000, Pattern::smooth);
  const PreparedStream prepared("i32", values, 0, std::nullopt);
  ASSERT_TRUE(prepared.is_prepared());
  const Bytes& stream = prepared.bytes;
  const ChunkTable& table = prepared.table;
  const RangeOnDevice range(stream, table, 0, table.num_chunks, values.size(), 0);
  cudaStream_t cuda_stream = nullptr;
  GDELTA_CUDA_OK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
  ASSERT_TRUE(device_decode(range.decode, cuda_stream));
  GDELTA_CUDA_OK(cudaStreamSynchronize(cuda_stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  GDELTA_CUDA_OK(cudaStreamBeginCapture(cuda_stream, cudaStreamCaptureModeGlobal));
  ASSERT_TRUE(device_decode(range.decode, cuda_stream));
  GDELTA_CUDA_OK(cudaStreamEndCapture(cuda_stream, &graph));
  GDELTA_CUDA_OK(cudaGraphInstantiate(&ready, graph, 0));
  const std::size_t in_payload = stream.size() / 2;
  for (int run = 0; run < 6; ++run) {
    const bool is_damaged = run % 3 == 1;
    const std::byte byte = is_damaged ? ~stream[in_payload] : stream[in_payload];
    GDELTA_CUDA_OK(cudaMemcpy(range.stream.data() + in_payload, &byte, 1, cudaMemcpyHostToDevice));
    GDELTA_CUDA_OK(cudaGraphLaunch(ready, cuda_stream));
    GDELTA_CUDA_OK(cudaStreamSynchronize(cuda_stream));
    EXPECT_EQ(range.chunk_status()[0].code, static_cast<int>(is_damaged ? Errc::corrupt : Errc::ok))
        << run;
    if (!is_damaged) {
      EXPECT_TRUE(range.out.to_host() == values) << run;
    }
  }
  GDELTA_CUDA_OK(cudaGraphExecDestroy(ready));
  GDELTA_CUDA_OK(cudaGraphDestroy(graph));
  GDELTA_CUDA_OK(cudaStreamDestroy(cuda_stream));
}

}  // namespace
}  // namespace gdelta::test
#endif
