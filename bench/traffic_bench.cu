// What a decoder's traffic costs without the decoding: kernels that read one vector of 16 bytes for
// every few they write, all in order or by pages as the page kernel does, as a fraction of the time
// that a copy of as many bytes takes (the `floor` of shapes_bench).
//
//   traffic_bench [MiB written]
//
// `linear`: warps go through the output side by side. `pages`: a warp draws a page of eight tiles by
// ticket and has the next tile's bytes on their way while it waits `cycles` for this one. Speeds are
// medians of eleven launches.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "bench/cuda_check.h"
#include "bench/launch_timing.h"

namespace {

constexpr int kThreads = 128, kTiles = 8;

template <int Writes>
__device__ void write_tile(uint4 value, uint4* to) {
#pragma unroll
  for (int i = 0; i < Writes; ++i) {
    value.x += i;
    to[32 * i] = value;
  }
}

template <int Writes>
__global__ void __launch_bounds__(kThreads)
    linear_kernel(const uint4* in, uint4* out, std::uint64_t tiles) {
  const int thread = threadIdx.x & 31;
  const std::uint64_t warps = gridDim.x * static_cast<std::uint64_t>(kThreads / 32);
  for (std::uint64_t tile = (blockIdx.x * static_cast<std::uint64_t>(kThreads) + threadIdx.x) / 32;
       tile < tiles; tile += warps)
    write_tile<Writes>(__ldcs(in + 32 * tile + thread), out + 32 * Writes * tile + thread);
}

template <int Writes>
__global__ void __launch_bounds__(kThreads)
    pages_kernel(const uint4* in, uint4* out, std::uint64_t pages, unsigned long long* tickets,
                 int cycles) {
  const int thread = threadIdx.x & 31;
  const std::uint64_t warps = gridDim.x * static_cast<std::uint64_t>(kThreads / 32);
  std::uint64_t page = threadIdx.x / 32 * static_cast<std::uint64_t>(gridDim.x) + blockIdx.x;
  while (page < pages) {
    unsigned long long ticket = 0;
    if (thread == 0) ticket = atomicAdd(tickets, 1ull);
    const uint4* from = in + 32 * kTiles * page + thread;
    uint4* to = out + 32 * kTiles * Writes * page + thread;
    uint4 ahead = __ldcs(from);
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint4 value = ahead;
      if (tile + 1 < kTiles) ahead = __ldcs(from + 32 * (tile + 1));
      for (const auto end = clock64() + cycles; clock64() < end;) {
      }
      write_tile<Writes>(value, to + 32 * Writes * tile);
    }
    page = warps + __shfl_sync(~0u, ticket, 0);
  }
}

template <class Launch>
double median_seconds(const Launch& launch) {
  return gdelta::bench::median_seconds(1, 11, launch);
}

struct Buffers {
  uint4* in;
  uint4* out;
  std::uint64_t bytes;  // written
  unsigned long long* tickets;
  int multiprocessors;
  double copy;  // bytes a second, read and written
};

void row(const Buffers& buffers, const char* what, int writes, int blocks, int cycles,
         double seconds) {
  const double moved = static_cast<double>(buffers.bytes) * (writes + 1) / writes;
  std::printf("%s,%d,%d,%d,%.1f,%.3f\n", what, writes, blocks, cycles, moved / seconds * 1e-9,
              moved / seconds / buffers.copy);
  std::fflush(stdout);
}

template <int Writes>
void bench_ratio(const Buffers& buffers) {
  const std::uint64_t tiles = buffers.bytes / (512 * Writes);
  for (const int blocks : {6, 16}) {
    row(buffers, "linear", Writes, blocks, 0, median_seconds([&] {
          linear_kernel<Writes>
              <<<buffers.multiprocessors * blocks, kThreads>>>(buffers.in, buffers.out, tiles);
        }));
  }
  for (const int blocks : {4, 6, 12}) {
    for (const int cycles : {0, 2000, 3000}) {
      row(buffers, "pages", Writes, blocks, cycles, median_seconds([&] {
            GDELTA_CHECK(cudaMemsetAsync(buffers.tickets, 0, sizeof *buffers.tickets));
            pages_kernel<Writes><<<buffers.multiprocessors * blocks, kThreads>>>(
                buffers.in, buffers.out, tiles / kTiles, buffers.tickets, cycles);
          }));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  Buffers buffers{};
  buffers.bytes = mib << 20;
  cudaDeviceProp properties{};
  GDELTA_CHECK(cudaGetDeviceProperties(&properties, 0));
  buffers.multiprocessors = properties.multiProcessorCount;
  GDELTA_CHECK(cudaMalloc(&buffers.in, buffers.bytes));
  GDELTA_CHECK(cudaMalloc(&buffers.out, buffers.bytes));
  GDELTA_CHECK(cudaMalloc(&buffers.tickets, sizeof *buffers.tickets));
  GDELTA_CHECK(cudaMemset(buffers.in, 7, buffers.bytes));
  const auto copy = [&] {
    GDELTA_CHECK(cudaMemcpyAsync(buffers.out, buffers.in, buffers.bytes, cudaMemcpyDeviceToDevice));
  };
  for (int i = 0; i < 60; ++i) copy();  // until the clocks are up
  buffers.copy = 2.0 * static_cast<double>(buffers.bytes) / median_seconds(copy);
  std::printf("# traffic_bench %llu, %s\nwhat,writes_a_read,blocks,cycles,gb_s,of_copy\n",
              static_cast<unsigned long long>(mib), properties.name);
  std::printf("copy,1,,,%.1f,1\n", buffers.copy * 1e-9);
  const double set =
      median_seconds([&] { GDELTA_CHECK(cudaMemsetAsync(buffers.out, 0, buffers.bytes)); });
  std::printf("memset,,,,%.1f,%.3f\n", static_cast<double>(buffers.bytes) / set * 1e-9,
              static_cast<double>(buffers.bytes) / set / buffers.copy);
  bench_ratio<1>(buffers);
  bench_ratio<2>(buffers);
  bench_ratio<4>(buffers);
  bench_ratio<8>(buffers);
  return 0;
}
