// Chunks decoded through the device API, for tests.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "gdelta/device.h"

namespace gdelta::test {

/// Skips the test with its reason if there is no GPU.
#define GDELTA_NEEDS_GPU()                                                    \
  if (int count = 0; cudaGetDeviceCount(&count) != cudaSuccess || count == 0) \
  GTEST_SKIP() << "this machine has no CUDA device"

inline void expect_cuda(cudaError_t error, const char* call) {
  ASSERT_EQ(error, cudaSuccess) << call << ": " << cudaGetErrorString(error);
}
#define GDELTA_CUDA_OK(call) ::gdelta::test::expect_cuda((call), #call)

/// Device memory of exactly so many bytes, so that a memory checker sees a step beyond it.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes, int fill = 0xa5) : bytes_(bytes) {
    GDELTA_CUDA_OK(cudaMalloc(&data_, bytes == 0 ? 1 : bytes));
    GDELTA_CUDA_OK(cudaMemset(data_, fill, bytes));
  }
  explicit DeviceBytes(const Bytes& from) : DeviceBytes((from.size() + 15) / 16 * 16) {
    GDELTA_CUDA_OK(cudaMemcpy(data_, from.data(), from.size(), cudaMemcpyHostToDevice));
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { static_cast<void>(cudaFree(data_)); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t size() const { return bytes_; }
  Bytes to_host() const {
    Bytes host(bytes_);
    GDELTA_CUDA_OK(cudaMemcpy(host.data(), data_, bytes_, cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

struct TestChunk {
  Bytes block;
  Bytes values;  // what it decodes to
  bool opaque = false;
  std::uint64_t lengths = 0;  // of segments; 0: it does not say them
};

struct DeviceOutcome {
  std::vector<ChunkStatus> status;
  std::vector<Bytes> contents;
  std::vector<std::uint64_t> block_at;
};

inline StreamInfo info_of(const std::vector<TestChunk>& chunks, const Layout& layout, Bytes& stream,
                          std::size_t first_at) {
  StreamInfo info;
  info.layouts = {layout};
  stream.assign(first_at, std::byte{0x5a});
  for (const TestChunk& chunk : chunks) {
    ChunkInfo place;
    place.byte = stream.size();
    place.block_bytes = chunk.block.size();
    place.decoded_at = info.decoded_bytes;
    place.decoded_bytes = chunk.values.size();
    place.opaque = chunk.opaque;
    place.segments = chunk.lengths;
    if (chunk.lengths > 0) place.records = chunk.values.size() / layout.record_bytes();
    info.decoded_bytes += chunk.values.size();
    info.chunks.push_back(place);
    stream.insert(stream.end(), chunk.block.begin(), chunk.block.end());
  }
  return info;
}

/// Chunks [first, first + count) of a stream, with device memory for what decoding them takes and gives.
/// `skew`: bytes before the output.
struct RangeOnDevice {
  RangeOnDevice(const Bytes& bytes, const ChunkTable& chunks, std::size_t first, std::size_t count,
                std::uint64_t out_bytes, std::size_t skew)
      : stream(bytes),
        table(chunks.bytes),
        out(out_bytes + skew),
        scratch(device_decode_scratch_bytes(chunks, first, count).value()),
        status(count * sizeof(ChunkStatus)) {
    decode.table = &chunks;
    decode.device_table = table.data();
    decode.stream = stream.data();
    decode.stream_bytes = bytes.size();
    decode.first_chunk = first;
    decode.num_chunks = count;
    decode.out = out.data() + skew;
    decode.out_bytes = out_bytes;
    decode.status = reinterpret_cast<ChunkStatus*>(status.data());
    decode.scratch = scratch.data();
    decode.scratch_bytes = scratch.size();
  }
  void run() const {
    const auto done = device_decode(decode, nullptr);
    EXPECT_TRUE(done) << done.error().to_string();
    GDELTA_CUDA_OK(cudaDeviceSynchronize());
  }
  std::vector<ChunkStatus> chunk_status() const {
    std::vector<ChunkStatus> all(decode.num_chunks);
    std::memcpy(all.data(), status.to_host().data(), status.size());
    return all;
  }

  DeviceBytes stream, table, out, scratch, status;
  DeviceDecode decode;
};

/// The chunks of `info`, whose blocks these are, with their heads, as far as those are right.
inline StreamInfo with_heads(StreamInfo info, const std::vector<TestChunk>& chunks) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Bytes& block = chunks[i].block;
    const auto parsed =
        format::parse_chunk_block(block, 0, chunks[i].opaque ? byte_layout() : info.layouts[0]);
    if (parsed)
      info.chunks[i].head.assign(
          block.begin(), block.begin() + static_cast<std::ptrdiff_t>(parsed->frame.payload_at()));
  }
  return info;
}

/// Decodes chunks [first, first + count) as neighbours in one stream. `first_at`: bytes before the
/// first block; `skew`: bytes before the output; `kinds`: what the table says the chunks may have; `with_tasks`: those that the
/// host has made are taken, if there are such.
inline DeviceOutcome decode_by_info(const StreamInfo& info, const Bytes& stream,
                                    const std::vector<TestChunk>& chunks, std::size_t first,
                                    std::size_t count, std::size_t skew, const ChunkKinds& kinds,
                                    bool with_tasks) {
  DeviceOutcome outcome;
  auto table = make_chunk_table(info);
  EXPECT_TRUE(table) << table.error().to_string();
  if (!table) return outcome;
  table->kinds = kinds;
  if (!with_tasks) table->ready = {};
  std::uint64_t out_bytes = 0;
  for (std::size_t i = first; i < first + count; ++i) out_bytes += chunks[i].values.size();
  RangeOnDevice range(stream, *table, first, count, out_bytes, skew);
  range.run();
  outcome.status = range.chunk_status();
  const Bytes decoded = range.out.to_host();
  auto at = decoded.begin() + static_cast<std::ptrdiff_t>(skew);
  for (std::size_t i = first; i < first + count; ++i) {
    const auto size = static_cast<std::ptrdiff_t>(chunks[i].values.size());
    outcome.contents.emplace_back(at, at + size);
    outcome.block_at.push_back(info.chunks[i].byte);
    at += size;
  }
  return outcome;
}

/// The same, and once more with heads that the host has read, if all are right, and tasks that it has made of them; of few chunks
/// also with tasks that kernels make. That must make no difference.
inline DeviceOutcome decode_on_device(const std::vector<TestChunk>& chunks, const Layout& layout,
                                      std::size_t first, std::size_t count,
                                      std::size_t first_at = 6, std::size_t skew = 0,
                                      const ChunkKinds& kinds = {}) {
  Bytes stream;
  const StreamInfo info = info_of(chunks, layout, stream, first_at);
  DeviceOutcome outcome = decode_by_info(info, stream, chunks, first, count, skew, kinds, false);
  const StreamInfo known = with_heads(info, chunks);
  const ChunkTable table = make_chunk_table(known).value();
  if (table.heads_at == 0) return outcome;
  const bool ready = table.ready.at > 0;
  constexpr std::size_t kFewChunks = 4;
  for (const bool with_tasks : {false, true}) {
    if (with_tasks ? !ready : ready && chunks.size() > kFewChunks) continue;
    const std::string how = with_tasks ? "ready task, chunk " : "known head, chunk ";
    const DeviceOutcome again =
        decode_by_info(known, stream, chunks, first, count, skew, kinds, with_tasks);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(again.status[i].code, outcome.status[i].code) << how << i;
      EXPECT_EQ(again.status[i].byte, outcome.status[i].byte) << how << i;
      if (outcome.status[i].code != 0) continue;
      EXPECT_TRUE(again.contents[i] == outcome.contents[i]) << how << i;
    }
  }
  return outcome;
}

/// Every chunk is right and comes back.
inline void expect_decoded(const std::vector<TestChunk>& chunks, const Layout& layout,
                           std::size_t first_at = 6, std::size_t skew = 0) {
  const DeviceOutcome outcome = decode_on_device(chunks, layout, 0, chunks.size(), first_at, skew);
  ASSERT_EQ(outcome.status.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_EQ(outcome.status[i].code, static_cast<int>(Errc::ok))
        << to_string(layout) << " chunk " << i << " of " << chunks[i].values.size()
        << " bytes, byte " << outcome.status[i].byte - outcome.block_at[i] << " of its block";
    ASSERT_TRUE(outcome.contents[i] == chunks[i].values) << to_string(layout) << " chunk " << i;
  }
}

inline Column column_of(const char* record) { return parse_record(record).value().columns[0]; }

/// As f64 or f32, as the column has it.
inline void put_float(Bytes& bytes, const Column& column, double value) {
  const std::uint64_t bits = column.type == ValueType::f64
                                 ? std::bit_cast<std::uint64_t>(value)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  put_value(bytes, bits, value_bytes(column.type), column.big_endian);
}

inline format::ColumnModel pack_model(int order, std::uint32_t page_groups = 1) {
  format::ColumnModel model;
  model.section.coder = Coder::pack;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(order));
  model.section.part_groups = page_groups;
  return model;
}

inline TestChunk make_chunk(const Layout& layout, Bytes values, const format::ColumnModel& model,
                            bool opaque = false) {
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), model);
  TestChunk chunk;
  chunk.block = encode_chunk(values, layout, opaque, plan);
  chunk.values = std::move(values);
  chunk.opaque = opaque;
  return chunk;
}

/// All columns have the same maps.
inline TestChunk mapped_chunk(const Layout& layout, Bytes values, const format::ColumnModel& model,
                              const ColumnMaps& maps) {
  ChunkPlan plan;
  plan.columns.assign(layout.columns.size(), model);
  plan.maps.assign(layout.columns.size(), maps);
  Bytes block = encode_chunk(values, layout, false, plan);
  return {std::move(block), std::move(values)};
}

}  // namespace gdelta::test
