// Streams written and read through the device API, for tests.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "codec/cuda/cuda_cases.h"
#include "gdelta/codec.h"

namespace gdelta::test {

struct DeviceRoundTrip {
  Bytes stream;
  Bytes decoded;
  std::vector<ChunkStatus> status;
};

inline DeviceRoundTrip encode_and_decode(const Bytes& values, const Layout& layout,
                                         std::uint64_t chunk_bytes, std::optional<int> order,
                                         std::size_t skew = 0,
                                         std::optional<Coder> coder = std::nullopt,
                                         bool maps = true, std::uint64_t stride = 0,
                                         std::uint64_t other_stride = 0) {
  DeviceRoundTrip result;
  DeviceEncode encode;
  encode.layout = layout;
  encode.values_bytes = values.size();
  encode.chunk_bytes = chunk_bytes;
  encode.order = order;
  encode.stride = stride;
  encode.other_stride = other_stride;
  encode.coder = coder;
  encode.maps = maps;
  const auto bound = device_encode_bound(encode);
  const auto scratch_bytes = device_encode_scratch_bytes(encode);
  const auto table = device_encode_table(encode);
  EXPECT_TRUE(bound && scratch_bytes && table);
  const DeviceBytes device_values(values.size() + skew), stream((*bound + 15) / 16 * 16),
      size(sizeof(std::uint64_t)), scratch(*scratch_bytes),
      device_table(chunk_table_bytes(table->layout, table->num_chunks)),
      status(table->num_chunks * sizeof(ChunkStatus)), out(values.size());
  // All memory is filled before the stream is used: it does not wait for what fills it.
  const DeviceBytes decode_scratch(
      device_decode_scratch_bytes(*table, 0, table->num_chunks).value());
  GDELTA_CUDA_OK(cudaMemcpy(device_values.data() + skew, values.data(), values.size(),
                            cudaMemcpyHostToDevice));
  encode.values = device_values.data() + skew;
  encode.stream = stream.data();
  encode.stream_room = *bound;
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(size.data());
  encode.table = device_table.data();
  encode.scratch = scratch.data();
  encode.scratch_bytes = scratch.size();
  cudaStream_t cuda_stream = nullptr;
  GDELTA_CUDA_OK(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking));
  GDELTA_CUDA_OK(cudaDeviceSynchronize());
  const auto encoded = device_encode(encode, cuda_stream);
  EXPECT_TRUE(encoded) << encoded.error().to_string();

  DeviceDecode decode;
  decode.table = &*table;
  decode.device_table = device_table.data();
  decode.stream = stream.data();
  decode.stream_bytes = *bound;
  decode.num_chunks = table->num_chunks;
  decode.out = out.data();
  decode.out_bytes = values.size();
  decode.status = reinterpret_cast<ChunkStatus*>(status.data());
  decode.scratch = decode_scratch.data();
  decode.scratch_bytes = decode_scratch.size();
  const auto decoded = device_decode(decode, cuda_stream);
  EXPECT_TRUE(decoded) << decoded.error().to_string();
  GDELTA_CUDA_OK(cudaStreamSynchronize(cuda_stream));
  GDELTA_CUDA_OK(cudaStreamDestroy(cuda_stream));

  std::uint64_t stream_bytes = 0;
  std::memcpy(&stream_bytes, size.to_host().data(), sizeof stream_bytes);
  EXPECT_LE(stream_bytes, *bound);
  result.stream = stream.to_host();
  result.stream.resize(std::min<std::uint64_t>(stream_bytes, result.stream.size()));
  result.decoded = out.to_host();
  result.status.resize(table->num_chunks);
  if (!result.status.empty())
    std::memcpy(result.status.data(), status.to_host().data(), status.size());
  return result;
}

/// Of a column alone.
template <class... Asked>
DeviceRoundTrip encode_and_decode(const Bytes& values, const Column& column,
                                  const Asked&... asked) {
  return encode_and_decode(values, Layout{{column}}, asked...);
}

using Words = std::vector<std::string>;

/// The maps of the chunks of what compress writes at level 1.
inline Words maps_at_level_1(const Bytes& values, const Column& column,
                             std::uint64_t chunk_bytes = 0) {
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  options.chunk_bytes = chunk_bytes;
  options.device = "cpu";
  Words maps;
  const auto info = inspect(compress(values, options).value());
  for (const ChunkInfo& chunk : info.value().chunks) maps.push_back(chunk.columns[0].map_words);
  return maps;
}

/// The device writes what compress writes at level 1, and reads it.
inline void expect_stream_of_cpu(const Bytes& values, const Layout& layout,
                                 std::uint64_t chunk_bytes, std::optional<int> order,
                                 std::size_t skew = 0, std::optional<Coder> coder = std::nullopt,
                                 bool maps = true, std::uint64_t stride = 0) {
  EncodeOptions options;
  options.layout = layout;
  options.level = 1;
  options.chunk_bytes = chunk_bytes;
  options.order = order;
  options.stride = stride;
  options.coder = coder;
  options.maps = maps;
  options.device = "cpu";
  options.threads = 1;
  const auto by_cpu = compress(values, options);
  ASSERT_TRUE(by_cpu);
  const DeviceRoundTrip by_gpu =
      encode_and_decode(values, layout, chunk_bytes, order, skew, coder, maps, stride);
  const std::string what = to_string(*options.layout) + ", " + std::to_string(values.size()) +
                           " bytes, chunks of " + std::to_string(chunk_bytes) + ", order " +
                           std::to_string(order.value_or(-1)) + ", stride " +
                           std::to_string(stride);
  ASSERT_EQ(by_gpu.stream.size(), by_cpu->size()) << what;
  const auto differs = std::mismatch(by_cpu->begin(), by_cpu->end(), by_gpu.stream.begin());
  ASSERT_TRUE(differs.first == by_cpu->end())
      << what << ", byte " << differs.first - by_cpu->begin() << " of " << by_cpu->size();
  for (const ChunkStatus& status : by_gpu.status)
    ASSERT_EQ(status.code, static_cast<int>(Errc::ok)) << what;
  ASSERT_TRUE(by_gpu.decoded == values) << what;
}

/// Of a column alone.
template <class... Asked>
void expect_stream_of_cpu(const Bytes& values, const Column& column, const Asked&... asked) {
  expect_stream_of_cpu(values, Layout{{column}}, asked...);
}

}  // namespace gdelta::test
