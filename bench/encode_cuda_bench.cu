// gdelta.bench.codec.encode_cuda: device_encode from device memory to device memory, beside a copy.
//
// usage: encode_cuda_bench [MIB [WHAT]]     prints CSV; MIB of values a case (1024), of encode or encode_ans alone
// Values are random walks of an order, 4 to 12 bits a residual with 1 % outliers. GB are 10^9 bytes
// of values; the median of ten runs after two. Every stream is decoded on the device and its
// contents verified; ratios are of the streams that were timed.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "gdelta/device.h"

namespace gdelta {
namespace {

using bench::device_array;

constexpr int kWarmups = 2, kRuns = 10;

template <class Launch>
double median_seconds(const Launch& launch) {
  return bench::median_seconds(kWarmups, kRuns, launch);
}

/// A stretch of walks: each lane sums `order` times.
void fill_walks(std::byte* out, std::uint64_t records, Column column, int order,
                std::uint64_t seed) {
  const int bytes = value_bytes(column.type);
  std::mt19937_64 random(seed);
  for (int lane = 0; lane < column.tuple; ++lane) {
    std::uint64_t sums[8] = {};
    int width = 4;
    for (std::uint64_t i = 0; i < records; ++i) {
      if (i % 128 == 0) width = 4 + static_cast<int>(random() % 9);
      const std::uint64_t bits = random();
      const int used = (bits >> 48) < 655 ? width + 4 : width;
      const std::uint64_t z = bits & ((1ull << used) - 1);
      std::uint64_t value = (z >> 1) ^ (0 - (z & 1));
      for (int k = 0; k < order; ++k) value = sums[k] += value;
      std::memcpy(out + (i * column.tuple + lane) * bytes, &value, bytes);
    }
  }
}

std::vector<std::byte> random_walks(Column column, std::uint64_t records, int order) {
  constexpr std::uint64_t kStretch = 1 << 18;
  std::vector<std::byte> values(records * column.bytes());
  const std::uint64_t stretches = (records + kStretch - 1) / kStretch;
  const unsigned num_threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < num_threads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t s = t; s < stretches; s += num_threads)
        fill_walks(values.data() + s * kStretch * column.bytes(),
                   std::min(kStretch, records - s * kStretch), column, order, s + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return values;
}

struct Case {
  const char* record;
  int walk_order;
  int asked_order;  // -1: the device picks
  std::uint64_t chunk_bytes;
  Coder coder = Coder::pack;

  const char* name() const { return coder == Coder::ans ? "encode_ans" : "encode"; }
};

/// Whether the device reads its own stream back, contents verified.
bool decodes(const DeviceEncode& encode, const ChunkTable& table, std::uint64_t stream_bytes) {
  const std::uint64_t scratch_bytes =
      device_decode_scratch_bytes(table, 0, table.num_chunks).value();
  std::byte* const out = device_array<std::byte>(encode.values_bytes);
  std::byte* const scratch = device_array<std::byte>(scratch_bytes);
  std::byte* const status = device_array<std::byte>(table.num_chunks * sizeof(ChunkStatus));
  DeviceDecode decode;
  decode.table = &table;
  decode.device_table = encode.table;
  decode.stream = encode.stream;
  decode.stream_bytes = stream_bytes;
  decode.num_chunks = table.num_chunks;
  decode.out = out;
  decode.out_bytes = encode.values_bytes;
  decode.status = reinterpret_cast<ChunkStatus*>(status);
  decode.scratch = scratch;
  decode.scratch_bytes = scratch_bytes;
  bool right = device_decode(decode, nullptr).has_value();
  std::vector<ChunkStatus> host(table.num_chunks);
  GDELTA_CHECK(
      cudaMemcpy(host.data(), status, host.size() * sizeof(ChunkStatus), cudaMemcpyDeviceToHost));
  for (const ChunkStatus& chunk : host) right &= chunk.code == static_cast<int>(Errc::ok);
  for (std::byte* memory : {out, scratch, status}) GDELTA_CHECK(cudaFree(memory));
  return right;
}

void bench_encode(const Case& what, std::uint64_t total) {
  const Column column = parse_record(what.record).value().columns[0];
  const std::uint64_t records = total / column.bytes();
  const std::vector<std::byte> values = random_walks(column, records, what.walk_order);
  DeviceEncode encode;
  encode.column = column;
  encode.values_bytes = values.size();
  encode.chunk_bytes = what.chunk_bytes;
  if (what.asked_order >= 0) encode.order = what.asked_order;
  if (what.coder != Coder::pack) encode.coder = what.coder;
  const ChunkTable table = device_encode_table(encode).value();
  encode.stream_room = device_encode_bound(encode).value();
  encode.scratch_bytes = device_encode_scratch_bytes(encode).value();
  std::byte* const device_values = device_array<std::byte>(values.size());
  std::byte* const stream = device_array<std::byte>(encode.stream_room + 16);
  std::byte* const scratch = device_array<std::byte>(encode.scratch_bytes);
  std::byte* const device_table =
      device_array<std::byte>(chunk_table_bytes(table.layout, table.num_chunks));
  std::byte* const size = device_array<std::byte>(sizeof(std::uint64_t));
  GDELTA_CHECK(cudaMemcpy(device_values, values.data(), values.size(), cudaMemcpyHostToDevice));
  encode.values = device_values;
  encode.stream = stream;
  encode.scratch = scratch;
  encode.table = device_table;
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(size);
  const double copy = median_seconds([&] {
    GDELTA_CHECK(cudaMemcpyAsync(stream, device_values, values.size(), cudaMemcpyDeviceToDevice));
  });
  const double seconds = median_seconds([&] {
    if (!device_encode(encode, nullptr)) std::exit(1);
  });
  std::uint64_t stream_bytes = 0;
  GDELTA_CHECK(cudaMemcpy(&stream_bytes, size, sizeof stream_bytes, cudaMemcpyDeviceToHost));
  const bool right = decodes(encode, table, stream_bytes);
  const double bytes = static_cast<double>(values.size());
  std::printf("%s,%s,%d,%d,%llu,%.0f,%.2f,%.1f,%.1f,%.3f,%s\n", what.name(), what.record,
              what.walk_order, what.asked_order, static_cast<unsigned long long>(what.chunk_bytes),
              bytes, bytes / static_cast<double>(stream_bytes), bytes / seconds / 1e9,
              bytes / copy / 1e9, copy / seconds, right ? "ok" : "WRONG");
  std::fflush(stdout);
  for (std::byte* memory : {device_values, stream, scratch, device_table, size})
    GDELTA_CHECK(cudaFree(memory));
}

}  // namespace
}  // namespace gdelta

int main(int argc, char** argv) {
  using gdelta::Case;
  using gdelta::Coder;
  const std::uint64_t total = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024) << 20;
  const std::uint64_t mib = 1ull << 20;
  std::printf(
      "what,record,walk_order,asked_order,chunk_bytes,bytes,ratio,gb_s,copy_gb_s,of_copy,right\n");
  for (const Case& what :
       {Case{"i32x3", 2, 2, mib}, Case{"i32x3", 2, -1, mib}, Case{"i32", 1, 1, mib},
        Case{"i32", 1, -1, mib}, Case{"i32", 1, -1, 16 * mib}, Case{"i32", 4, 4, mib},
        Case{"f32", 1, -1, mib}, Case{"i16x2", 1, -1, mib}, Case{"u8", 1, -1, mib},
        Case{"i64", 2, -1, mib}, Case{"i32x16", 1, -1, mib}, Case{"i32", 1, 1, mib, Coder::ans},
        Case{"i32", 1, -1, mib, Coder::ans}, Case{"i32x3", 2, 2, mib, Coder::ans},
        Case{"i16x2", 1, 1, mib, Coder::ans}, Case{"u8", 1, 1, mib, Coder::ans},
        Case{"i64", 2, 2, mib, Coder::ans}})
    if (argc < 3 || std::strcmp(argv[2], what.name()) == 0) gdelta::bench_encode(what, total);
  return 0;
}
