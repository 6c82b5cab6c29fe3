// For samples that read a compressed column in their own kernels: a column that the GPU has encoded, and how long
// work takes.
#pragma once

#include <gdelta/device.h>
#include <gdelta/pages/page_reader.cuh>

#include <cstdio>
#include <string>
#include <vector>

#include "sample_device.h"

namespace sample {

template <class T>
T value_of(gdelta::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A column in device memory, plain and compressed. `Value` as the record says: int32_t for "i32x2".
template <class Value>
class CompressedColumn {
 public:
  CompressedColumn(const std::string& record, const std::vector<Value>& values)
      : values_(values), stream_(0), table_bytes_(0), scratch_(0), status_(0) {
    gdelta::DeviceEncode encode;
    encode.layout = value_of(gdelta::parse_record(record));
    encode.values = values_.data();
    encode.maps = false;  // what pages are read without
    encode.values_bytes = values.size() * sizeof(Value);
    encode.stream_room = value_of(gdelta::device_encode_bound(encode));
    encode.scratch_bytes = value_of(gdelta::device_encode_scratch_bytes(encode));
    table_ = value_of(gdelta::device_encode_table(encode));
    stream_ = DeviceArray<std::byte>(encode.stream_room + 16);
    table_bytes_ =
        DeviceArray<std::byte>(gdelta::chunk_table_bytes(table_.layout, table_.num_chunks));
    const DeviceArray<std::byte> encode_scratch(encode.scratch_bytes);
    const DeviceArray<std::uint64_t> stream_bytes(1);
    encode.stream = stream_.data();
    encode.table = table_bytes_.data();
    encode.scratch = encode_scratch.data();
    encode.stream_bytes = stream_bytes.data();
    value_of(gdelta::device_encode(encode, nullptr));
    stream_size_ = stream_bytes.at(0);
    scratch_ = DeviceArray<std::byte>(
        value_of(gdelta::device_decode_scratch_bytes(table_, 0, table_.num_chunks)));
    status_ = DeviceArray<gdelta::ChunkStatus>(table_.num_chunks);
  }

  std::uint64_t value_bytes() const { return table_.decoded_bytes; }
  std::uint64_t stream_bytes() const { return stream_size_; }
  const std::byte* stream() const { return stream_.data(); }

  /// Enqueues that a kernel reads all pages: read(pages).
  template <class Read>
  void read_pages(const Read& read) {
    const gdelta::DevicePages pages =
        value_of(gdelta::device_open_pages(decode(nullptr), 0, nullptr));
    check(read(pages));
    value_of(gdelta::device_close_pages(pages, nullptr));
  }
  /// Enqueues that all is decoded to memory, contents verified.
  void decode_to(void* out) { value_of(gdelta::device_decode(decode(out), nullptr)); }
  /// Whether what was enqueued last found every chunk whole.
  bool is_whole() const {
    bool whole = true;
    for (const gdelta::ChunkStatus& status : status_.values()) whole &= status.code == 0;
    return whole;
  }

 private:
  gdelta::DeviceDecode decode(void* out) const {
    gdelta::DeviceDecode decode;
    decode.table = &table_;
    decode.device_table = table_bytes_.data();
    decode.stream = stream_.data();
    decode.stream_bytes = stream_size_;
    decode.num_chunks = table_.num_chunks;
    decode.out = out;
    decode.out_bytes = table_.decoded_bytes;
    decode.status = status_.data();
    decode.scratch = scratch_.data();
    decode.scratch_bytes = scratch_.count();
    return decode;
  }

  DeviceArray<Value> values_;
  gdelta::ChunkTable table_;
  DeviceArray<std::byte> stream_, table_bytes_, scratch_;
  DeviceArray<gdelta::ChunkStatus> status_;
  std::uint64_t stream_size_ = 0;
};

/// Seconds of what `enqueue()` puts on the default stream: the median of 11 runs behind one that does not count.
template <class Enqueue>
double seconds_of(const Enqueue& enqueue) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> milliseconds;
  for (int run = 0; run < 12; ++run) {
    check(cudaEventRecord(begin));
    enqueue();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float took = 0;
    check(cudaEventElapsedTime(&took, begin, end));
    if (run > 0) milliseconds.push_back(took);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds[milliseconds.size() / 2] * 1e-3;
}

inline void print_speed(const char* what, std::uint64_t bytes, double seconds) {
  std::printf("%-44s %8.3f ms %8.1f GB/s of values\n", what, seconds * 1e3,
              static_cast<double>(bytes) / seconds / 1e9);
}

/// Reads all bytes, 16 at a time, and nothing else: what a reader cannot be faster than.
static __global__ void read_bytes_kernel(const uint4* bytes, std::uint64_t count, unsigned* sink) {
  unsigned all = 0;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    const uint4 four = bytes[i];
    all ^= four.x ^ four.y ^ four.z ^ four.w;
  }
  if (all == 0x9e3779b9u) *sink = all;  // so that the loads stay
}
/// Prints how long `read()` takes, beside decoding all to memory and reading the compressed bytes alone.
template <class Value, class Read>
void print_speeds(CompressedColumn<Value>& column, const char* what, const Read& read) {
  const std::uint64_t bytes = column.value_bytes();
  print_speed(what, bytes, seconds_of(read));
  const DeviceArray<std::byte> out(bytes);
  print_speed("only decoded to memory, contents verified", bytes,
              seconds_of([&] { column.decode_to(out.data()); }));
  const DeviceArray<unsigned> sink(1);
  print_speed("only the compressed bytes read", bytes, seconds_of([&] {
                launch(read_bytes_kernel, 132 * 16, 256,
                       reinterpret_cast<const uint4*>(column.stream()), column.stream_bytes() / 16,
                       sink.data());
              }));
}

}  // namespace sample
