// device_encode writes the stream that compress writes at level 1, and device_decode reads it on the
// same CUDA stream without the host.
#ifdef GDELTA_HAS_CUDA
#include <span>

#include "codec/cuda_cases.h"
#include "gdelta/codec.h"

namespace gdelta::test {
namespace {

struct DeviceRoundTrip {
  Bytes stream;
  Bytes decoded;
  std::vector<ChunkStatus> status;
};

DeviceRoundTrip encode_and_decode(const Bytes& values, const Column& column,
                                  std::uint64_t chunk_bytes, std::optional<int> order,
                                  std::size_t skew = 0) {
  DeviceRoundTrip result;
  DeviceEncode encode;
  encode.column = column;
  encode.values_bytes = values.size();
  encode.chunk_bytes = chunk_bytes;
  encode.order = order;
  const auto bound = device_encode_bound(encode);
  const auto scratch_bytes = device_encode_scratch_bytes(encode);
  const auto table = device_encode_table(encode);
  EXPECT_TRUE(bound && scratch_bytes && table);
  const DeviceBytes device_values(values.size() + skew), stream((*bound + 15) / 16 * 16),
      size(sizeof(std::uint64_t)), scratch(*scratch_bytes),
      device_table(chunk_table_bytes(table->layout, table->num_chunks)),
      status(table->num_chunks * sizeof(ChunkStatus)), out(values.size());
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

  const DeviceBytes decode_scratch(
      device_decode_scratch_bytes(*table, 0, table->num_chunks).value());
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

void expect_stream_of_cpu(const Bytes& values, const Column& column, std::uint64_t chunk_bytes,
                          std::optional<int> order, std::size_t skew = 0) {
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  options.chunk_bytes = chunk_bytes;
  options.order = order;
  options.device = "cpu";
  options.threads = 1;
  const auto by_cpu = compress(values, options);
  ASSERT_TRUE(by_cpu);
  const DeviceRoundTrip by_gpu = encode_and_decode(values, column, chunk_bytes, order, skew);
  const std::string what = to_string(*options.layout) + ", " + std::to_string(values.size()) +
                           " bytes, chunks of " + std::to_string(chunk_bytes) + ", order " +
                           std::to_string(order.value_or(-1));
  ASSERT_EQ(by_gpu.stream.size(), by_cpu->size()) << what;
  const auto differs = std::mismatch(by_cpu->begin(), by_cpu->end(), by_gpu.stream.begin());
  ASSERT_TRUE(differs.first == by_cpu->end())
      << what << ", byte " << differs.first - by_cpu->begin() << " of " << by_cpu->size();
  for (const ChunkStatus& status : by_gpu.status)
    ASSERT_EQ(status.code, static_cast<int>(Errc::ok)) << what;
  ASSERT_TRUE(by_gpu.decoded == values) << what;
}

void expect_types_and_shapes(bool big_endian, std::span<const Shape> shapes) {
  for (int type = 0; type < kNumValueTypes; ++type) {
    const Column column{static_cast<ValueType>(type), 3, big_endian};
    for (const Shape shape : shapes) {
      const Bytes values = make_values({{column}}, 1100, shape);
      expect_stream_of_cpu(values, column, 400 * column.bytes(), std::nullopt);
      expect_stream_of_cpu(values, column, 0, type % 9);
    }
  }
}

void expect_lengths(const Column& column) {
  for (const std::uint64_t records : {0, 1, 2, 127, 128, 129, 300, 1025}) {
    const Bytes values = make_values({{column}}, records, Shape::smooth);
    expect_stream_of_cpu(values, column, 0, std::nullopt, records % 4);
    expect_stream_of_cpu(values, column, 256 * column.bytes(), std::nullopt);
    expect_stream_of_cpu(values, column, 1, 1);
  }
}

// Few launches: these two run under the memory and race checkers as well.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForEveryType) {
  GDELTA_NEEDS_GPU();
  const Shape shapes[] = {Shape::smooth};
  expect_types_and_shapes(false, shapes);
}

TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  expect_lengths({ValueType::u8, 5, false});
  expect_lengths({ValueType::f64, 1, false});
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForEveryTypeAndShape) {
  GDELTA_NEEDS_GPU();
  for (const bool big_endian : {false, true}) expect_types_and_shapes(big_endian, kShapes);
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForLengthsAtEveryEdgeOfEveryTuple) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 2, 5, 64}) {
    for (const ValueType type : {ValueType::u8, ValueType::i24, ValueType::i32, ValueType::f64})
      expect_lengths({type, static_cast<std::uint8_t>(tuple), false});
  }
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForManyChunksAndEveryOrder) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32x3", "f32x2", "u16", "f64", "u8x7"}) {
    const Column column = parse_record(record).value().columns[0];
    for (const Shape shape : {Shape::smooth, Shape::random, Shape::equal, Shape::special_floats}) {
      const Bytes values = make_values({{column}}, 300001, shape);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      expect_stream_of_cpu(values, column, 3000, std::nullopt);
      for (int order = 0; order <= kMaxOrder; ++order)
        expect_stream_of_cpu(values, column, 100000, order);
    }
  }
}

TEST(DeviceEncodeCuda, RefusesWhatCannotBe) {
  GDELTA_NEEDS_GPU();
  DeviceEncode encode;
  encode.column = {ValueType::i32, 3, false};
  encode.values_bytes = 13;
  EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument);
  encode.values_bytes = 12;
  encode.order = 9;
  EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument);
  encode.order = 1;
  encode.chunk_bytes = kMaxChunkBytes + 1;
  EXPECT_EQ(device_encode_scratch_bytes(encode).error().code, Errc::invalid_argument);
  encode.chunk_bytes = 0;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::invalid_argument);
  const DeviceBytes memory(1 << 16);
  encode.values = encode.stream = encode.table = encode.scratch = memory.data();
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(memory.data());
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::output_too_small);
  encode.stream_room = 1 << 16;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::output_too_small);
  encode.scratch_bytes = 1 << 16;
  encode.stream = memory.data() + 1;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace gdelta::test
#endif
