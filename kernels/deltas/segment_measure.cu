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

struct MeasureShared {
  std::uint64_t records[kWarps];
  std::uint32_t heads[kWarps];
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
    std::uint64_t start = device::block_prefix(own, shared.records, records) - own;
    std::uint32_t head = device::block_prefix(own_heads, shared.heads, heads) - own_heads;
    for (int i = 0; i < kEach; ++i) {
      const std::uint32_t number = first + i;
      if (lengths[i] > 0) chunk.starts[head++] = static_cast<std::uint32_t>(start);
      if (chunk.offsets != nullptr && number < chunk.num_lengths && number >= begins_at)
        chunk.offsets[number - begins_at] = chunk.first_record + start;
      start += lengths[i];
    }
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
