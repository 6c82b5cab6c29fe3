// Pages before each task, for both ways of decoding them, and checksum pieces before each chunk:
// three running sums by one block. There is an item for each column of a chunk, that is one for
// about a megabyte. Tickets are cleared on the way.
#include "kernels/bitpack/page_search.cuh"
#include "kernels/chunk/chunk_decode_cuda.h"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr std::uint64_t kChecksumPieceBytes = 4096;

/// starts[i] = sum of count(0 ... i - 1); starts[items] the sum of all.
template <class Count>
__device__ void sum_counts(std::uint32_t items, std::uint64_t* starts, std::uint64_t* warp_sums,
                           const Count& count) {
  const int thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
  std::uint64_t carry = 0;
  for (std::uint64_t first = 0; first < items; first += kThreads) {
    const std::uint64_t i = first + thread;
    const std::uint64_t mine = i < items ? count(static_cast<std::uint32_t>(i)) : 0;
    std::uint64_t sum = mine;
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint64_t before = __shfl_up_sync(kWholeWarp, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    std::uint64_t before = carry, all = carry;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) before += warp_sums[w];
      all += warp_sums[w];
    }
    if (i < items) starts[i] = before + sum - mine;
    carry = all;
    __syncthreads();  // and have been read
  }
  if (thread == 0) starts[items] = carry;
}

__global__ void __launch_bounds__(kThreads) count_pages_kernel(CountArgs args) {
  __shared__ std::uint64_t warp_sums[kWarps];
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < args.num_tickets;
       i += gridDim.x * kThreads)
    args.tickets[i] = 0;
  if (blockIdx.x < 2) {
    const ColumnPath path = blockIdx.x == 0 ? ColumnPath::pack_warp : ColumnPath::pack_block;
    std::uint64_t* starts = blockIdx.x == 0 ? args.warp_starts : args.block_starts;
    sum_counts(args.num_tasks, starts, warp_sums, [&](std::uint32_t i) -> std::uint64_t {
      return args.tasks[i].path == path ? args.tasks[i].num_pages : 0;
    });
  } else {
    const auto& table = *reinterpret_cast<const ChunkTableHeader*>(args.table);
    const auto* chunks =
        reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(table.num_columns)) +
        args.first_chunk;
    sum_counts(args.num_chunks, args.piece_starts, warp_sums, [&](std::uint32_t i) {
      return (chunks[i].decoded_bytes + kChecksumPieceBytes - 1) / kChecksumPieceBytes;
    });
  }
}

}  // namespace

cudaError_t launch_count_pages(const CountArgs& args, cudaStream_t stream) {
  count_pages_kernel<<<3, kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace gdelta::cuda
