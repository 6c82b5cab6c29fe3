// A block takes a chunk: running sums of its lengths, and of how many are not zero.
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/device/block.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 4;  // lengths of a thread that follow each other
constexpr std::uint32_t kMostBlocks = 1056;

__device__ void load_lengths(const SegmentedChunk& chunk, std::uint32_t first,
                             std::uint32_t (&lengths)[kEach]) {
  if (first + kEach <= chunk.num_lengths) {
    const uint4 four = *reinterpret_cast<const uint4*>(chunk.lengths + first);
    lengths[0] = four.x, lengths[1] = four.y, lengths[2] = four.z, lengths[3] = four.w;
    return;
  }
  for (int i = 0; i < kEach; ++i)
    lengths[i] = first + i < chunk.num_lengths ? chunk.lengths[first + i] : 0;
}

constexpr int kTile = kThreads * kEach;

struct MeasureShared {
  std::uint64_t records[kWarps];
  std::uint32_t heads[kWarps];
  // Of a tile, so that neighbours leave together.
  std::uint32_t starts[kTile];  // less that of the first
  std::uint32_t of_heads[kTile];
};

/// Returns what the lengths add up to. They are fewer than 2^32, of 32 bits each.
__device__ std::uint64_t measure(const SegmentedChunk& chunk, MeasureShared& shared,
                                 std::uint32_t& heads) {
  const std::uint32_t begins_at = chunk.continues ? 1 : 0;
  std::uint64_t records = 0;
  for (std::uint32_t tile = 0; tile < chunk.num_lengths; tile += kThreads * kEach) {
    const std::uint32_t first = tile + kEach * threadIdx.x;
    std::uint32_t lengths[kEach];
    load_lengths(chunk, first, lengths);
    std::uint64_t own = 0;
    std::uint32_t own_heads = 0;
    for (const std::uint32_t length : lengths) {
      own += length;
      own_heads += length > 0 ? 1 : 0;
    }
    const std::uint64_t records_before = records;
    const std::uint32_t heads_before = heads;
    std::uint64_t start = device::block_prefix(own, shared.records, records) - own;
    std::uint32_t head =
        device::block_prefix(own_heads, shared.heads, heads) - own_heads - heads_before;
    for (int i = 0; i < kEach; ++i) {
      shared.starts[kEach * threadIdx.x + i] = static_cast<std::uint32_t>(start - records_before);
      if (lengths[i] > 0) shared.of_heads[head++] = static_cast<std::uint32_t>(start);
      start += lengths[i];
    }
    __syncthreads();  // all are there
    for (std::uint32_t i = threadIdx.x; i < heads - heads_before; i += kThreads)
      chunk.starts[heads_before + i] = shared.of_heads[i];
    const std::uint32_t end = min(chunk.num_lengths - tile, static_cast<std::uint32_t>(kTile));
    const std::uint64_t first_record = chunk.first_record + records_before;
    for (std::uint32_t i = threadIdx.x; chunk.offsets != nullptr && i < end; i += kThreads)
      if (tile + i >= begins_at)
        chunk.offsets[tile + i - begins_at] = first_record + shared.starts[i];
  }
  return records;
}

__global__ void __launch_bounds__(kThreads)
    measure_segments_kernel(SegmentedChunk* chunks, std::uint32_t num_chunks,
                            unsigned long long* damaged_at) {
  device::start_successor();
  __shared__ MeasureShared shared;
  device::wait_for_predecessor();
  for (std::uint32_t c = blockIdx.x; c < num_chunks; c += gridDim.x) {
    const SegmentedChunk chunk = chunks[c];
    if (chunk.lengths == nullptr) continue;
    std::uint32_t heads = 0;
    const std::uint64_t records = measure(chunk, shared, heads);
    if (threadIdx.x != 0) continue;
    const bool damaged = damaged_at[c] < chunk.section_end;
    if (!damaged && records != chunk.records) atomicMin(&damaged_at[c], chunk.section_at);
    chunks[c].heads = heads;
    chunks[c].right = !damaged && records == chunk.records;
    if (chunk.offsets != nullptr && chunk.says_end)
      chunk.offsets[chunk.num_lengths - (chunk.continues ? 1 : 0)] = chunk.first_record + records;
  }
}

}  // namespace

cudaError_t launch_measure_segments(SegmentedChunk* chunks, std::uint32_t num_chunks,
                                    unsigned long long* damaged_at, cudaStream_t stream) {
  if (num_chunks == 0) return cudaSuccess;
  return device::launch_after<measure_segments_kernel>(
      num_chunks < kMostBlocks ? num_chunks : kMostBlocks, kThreads, stream, chunks, num_chunks,
      damaged_at);
}

}  // namespace gdelta::cuda
