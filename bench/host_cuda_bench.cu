// Both backends from host memory to host memory, by size: the CPU's, and the GPU's from pageable and from pinned memory;
// and `calls`, compress_into and decompress_into, which open one each time.
//
//   host_cuda_bench [MiB of values at most [MiB at least]]     prints CSV
//
// Tuples of three i32, order 2, 1 % of residuals with four bits more, level 1 with coder pack and ans. Milliseconds are the least of three runs,
// GB are 10^9 bytes of values; every output is compared with what was encoded. `bus` rows are copies of pinned
// memory to the device and back, which bound the others; `bus both ways` those of all bytes one way (of decoded values, of
// values to encode) and of a quarter of them, the stream, the other way at the same time.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/walk_stream.h"
#include "bench/wall_timing.h"
#include "codec/backend/backend.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::bench {
namespace {

/// Keeps vectors where the bus can read and write them, if asked to.
class Pinned {
 public:
  void add(std::vector<std::byte>& memory) {
    GDELTA_CHECK(cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault));
    memory_.push_back(memory.data());
  }
  ~Pinned() {
    for (std::byte* memory : memory_) GDELTA_CHECK(cudaHostUnregister(memory));
  }

 private:
  std::vector<std::byte*> memory_;
};

void print_row(const char* name, std::string_view coder, double bytes, double decode, double encode,
               const char* right) {
  std::printf("%s,%.*s,%.0f,%.3f,%.2f,%.3f,%.2f,%s\n", name, static_cast<int>(coder.size()),
              coder.data(), bytes, decode * 1e3, bytes / decode / 1e9, encode * 1e3,
              bytes / encode / 1e9, right);
  std::fflush(stdout);
}

/// `values` are those of all chunks of a stream of `coder`, and `out` is as long.
void bench_backend(Backend& backend, const char* name, const WalkStream& walks, Coder coder,
                   std::span<const std::byte> values, std::span<std::byte> out) {
  ProgressMeter progress;
  std::fill(out.begin(), out.end(), std::byte{0xa5});
  const std::vector<ChunkInfo>& chunks = walks.info.chunks;
  const double decode = best_wall_seconds([&] {
    std::vector<DecodeJob> jobs(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const ChunkInfo& chunk = chunks[i];
      jobs[i].block = std::span(walks.stream).subspan(chunk.byte, chunk.block_bytes);
      jobs[i].parsed =
          format::parse_chunk_block(jobs[i].block, chunk.byte, walks.info.layouts[0]).value();
      jobs[i].layout = &walks.info.layouts[0];
      jobs[i].out = out.subspan(chunk.decoded_at, chunk.decoded_bytes);
    }
    if (!backend.decode(jobs, true, progress)) std::exit(1);
  });
  EncodeSettings settings;
  settings.level = 1;
  settings.coder = coder;
  std::vector<std::vector<EncodeJob>> encoded;  // whose blocks are freed when time does not count
  const double encode = best_wall_seconds([&] {
    std::vector<EncodeJob>& jobs = encoded.emplace_back(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      jobs[i].values = values.subspan(chunks[i].decoded_at, chunks[i].decoded_bytes);
      jobs[i].layout = &walks.info.layouts[0];
    }
    if (!backend.encode(jobs, settings, progress)) std::exit(1);
  });
  print_row(name, coder_name(coder), static_cast<double>(walks.info.decoded_bytes), decode, encode,
            std::equal(out.begin(), out.end(), values.begin()) ? "ok" : "WRONG");
}

/// The library's calls, which open a device each time.
void bench_calls(const char* device, const char* name, const WalkStream& walks, Coder coder,
                 std::span<const std::byte> values, std::span<std::byte> out) {
  EncodeOptions options;
  options.layout = walks.info.layouts[0];
  options.level = 1;
  options.coder = coder;
  options.device = device;
  DecodeOptions decode_options;
  decode_options.device = device;
  std::vector<std::byte> stream(compress_bound(values.size(), options));
  std::uint64_t stream_bytes = 0;
  std::fill(out.begin(), out.end(), std::byte{0xa5});
  const double encode = best_wall_seconds([&] {
    const auto compressed = compress_into(values, stream, options);
    if (!compressed) std::exit(1);
    stream_bytes = *compressed;
  });
  const double decode = best_wall_seconds([&] {
    if (!decompress_into(std::span(stream).first(stream_bytes), out, decode_options)) std::exit(1);
  });
  print_row(name, coder_name(coder), static_cast<double>(values.size()), decode, encode,
            std::equal(out.begin(), out.end(), values.begin()) ? "ok" : "WRONG");
}

void bench_bus(std::uint64_t bytes) {
  std::vector<std::byte> host(bytes), more_host(bytes);
  Pinned pinned;
  pinned.add(host);
  pinned.add(more_host);
  std::byte* const device = device_array<std::byte>(bytes);
  std::byte* const more_device = device_array<std::byte>(bytes);
  const double from = best_wall_seconds(
      [&] { GDELTA_CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost)); });
  const double to = best_wall_seconds(
      [&] { GDELTA_CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice)); });
  print_row("bus", "", static_cast<double>(bytes), from, to, "");

  // What a codec of ratio 4 moves: all bytes one way, a quarter the other way at the same time.
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) GDELTA_CHECK(cudaStreamCreate(&stream));
  const auto both_ways = [&](std::uint64_t bytes_from, std::uint64_t bytes_to) {
    return best_wall_seconds([&] {
      GDELTA_CHECK(
          cudaMemcpyAsync(host.data(), device, bytes_from, cudaMemcpyDeviceToHost, streams[0]));
      GDELTA_CHECK(cudaMemcpyAsync(more_device, more_host.data(), bytes_to, cudaMemcpyHostToDevice,
                                   streams[1]));
      GDELTA_CHECK(cudaDeviceSynchronize());
    });
  };
  print_row("bus both ways", "", static_cast<double>(bytes), both_ways(bytes, bytes / 4),
            both_ways(bytes / 4, bytes), "");
  for (cudaStream_t stream : streams) GDELTA_CHECK(cudaStreamDestroy(stream));
  for (std::byte* memory : {device, more_device}) GDELTA_CHECK(cudaFree(memory));
}

void bench_all(std::uint64_t least, std::uint64_t total) {
  std::printf("backend,coder,bytes,decode_ms,decode_gb_s,encode_ms,encode_gb_s,right\n");
  const auto begin = std::chrono::steady_clock::now();
  auto gpu = make_cuda_backend({0}, 0);
  if (!gpu) std::exit(1);
  const std::chrono::duration<double, std::milli> open = std::chrono::steady_clock::now() - begin;
  std::printf("open cuda,,,%.1f,,,,\n", open.count());
  const auto cpu = make_cpu_backend(0);
  for (std::uint64_t bytes = least; bytes <= total; bytes *= 4) {
    bench_bus(bytes);
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      WalkStream walks = make_walk_stream(
          {.record = "i32x3", .order = 2, .exceptions = .01, .coder = coder}, bytes, 1ull << 20);
      std::vector<std::byte> values, out(walks.info.decoded_bytes);
      for (const auto& chunk : walks.values)
        values.insert(values.end(), chunk.begin(), chunk.end());
      bench_backend(*cpu, "cpu", walks, coder, values, out);
      bench_backend(**gpu, "cuda", walks, coder, values, out);
      bench_calls("cpu", "calls cpu", walks, coder, values, out);
      bench_calls("cuda", "calls cuda", walks, coder, values, out);
      Pinned pinned;
      for (std::vector<std::byte>* memory : {&walks.stream, &values, &out}) pinned.add(*memory);
      bench_backend(**gpu, "cuda pinned", walks, coder, values, out);
    }
  }
}

}  // namespace
}  // namespace gdelta::bench

int main(int argc, char** argv) {
  const std::uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  const std::uint64_t least = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  gdelta::bench::bench_all(std::max<std::uint64_t>(least, 1) << 20, most << 20);
  return 0;
}
