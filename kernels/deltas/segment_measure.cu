// A block takes a chunk: running sums of its lengths, and of how many are not zero.
#include <algorithm>
#include <type_traits>

#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/spread.h"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

// Half a thousand chunks at once on a device of 132 multiprocessors, or, where lengths are many, half as many: a few chunks
// may have most of them then.
constexpr int kFewThreads = 512, kManyThreads = 1024;
constexpr int kThreadsPerSm = 2048;
constexpr std::uint64_t kManyLengths = 32768;  // of a chunk, on average
constexpr int kRows = 4;                       // of 32 lengths, which a warp takes at once
constexpr std::uint32_t kMostBlocks = 1056;

// Records are counted up to here, more than a chunk has.
constexpr std::uint32_t kMostRecords = 1u << 30;

__device__ std::uint32_t add_up_to_most(std::uint32_t a, std::uint32_t b) {
  return min(a + b, kMostRecords);
}
/// Sums that are below this cannot exceed 32 bits when those of a block are added.
constexpr std::uint32_t kSmallSum = (1u << 27) - 1;
constexpr std::uint32_t kSmallLength = kSmallSum / (kRows * 32);
static_assert(static_cast<std::uint64_t>(kSmallSum) * (kManyThreads / 32) <= ~0u);

/// The sum of this thread's value and of those before it in the warp, none above kMostRecords. The warp says alike whether
/// it is known that no sum is.
__device__ std::uint32_t records_up_to(std::uint32_t value, bool is_small, int thread) {
  if (is_small) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(value, distance);
    return value;
  }
#pragma unroll 1
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(device::kWholeWarp, value, distance);
    if (thread >= distance) value = add_up_to_most(value, before);
  }
  return value;
}

/// What the lengths of a warp add up to, and how many are not zero; those of tiles that follow each other change places.
template <int kThreads>
struct MeasureShared {
  static constexpr int kWarps = kThreads / 32;
  std::uint32_t records[2][kWarps];
  std::uint32_t heads[2][kWarps];
};

/// The lengths of a warp in a tile, row by row.
struct WarpLengths {
  std::uint32_t lengths[kRows];

  __device__ void load(const std::uint32_t* from, std::uint32_t first, std::uint32_t end) {
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      lengths[row] = first + 32 * row < end ? from[first + 32 * row] : 0;
  }
  __device__ bool are_small() const {
    std::uint32_t most = 0;
#pragma unroll
    for (const std::uint32_t length : lengths) most = max(most, length);
    return __all_sync(device::kWholeWarp, most < kSmallLength) != 0;
  }
};

/// Returns what the lengths add up to, or more than a chunk has.
template <int kThreads>
__device__ std::uint32_t measure(const SegmentedChunk& chunk, MeasureShared<kThreads>& shared,
                                 std::uint32_t& all_heads) {
  constexpr int kWarps = kThreads / 32;
  constexpr std::uint32_t kTile = kThreads * kRows;
  const int thread = device::thread_of_warp(), warp = device::warp_number();
  const std::uint32_t up_to_here = ~0u >> (31 - thread);
  const std::uint32_t count = device::warp_uniform(chunk.num_lengths);
  const std::uint32_t begins_at = chunk.continues ? 1 : 0;
  const std::uint32_t* const from = chunk.lengths;
  std::uint64_t* const offsets = chunk.offsets == nullptr ? nullptr : chunk.offsets - begins_at;
  std::uint32_t records = 0, heads = 0;
  std::uint32_t first = kRows * 32 * warp + thread;
  WarpLengths next;
  next.load(from, first, count);
  int slot = 0;
#pragma unroll 1
  for (std::uint32_t tile_first = 0; tile_first < count; tile_first += kTile, slot ^= 1) {
    const WarpLengths tile = next;
    next.load(from, first + kTile, count);
    const bool is_small = tile.are_small();
    std::uint32_t ends[kRows], of_rows[kRows], of_heads[kRows], own_records = 0, own_heads = 0;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      ends[row] = records_up_to(min(tile.lengths[row], kMostRecords), is_small, thread);
      of_heads[row] = __ballot_sync(device::kWholeWarp, tile.lengths[row] > 0);
      of_rows[row] = __shfl_sync(device::kWholeWarp, ends[row], 31);
      own_records = add_up_to_most(own_records, of_rows[row]);
      own_heads += __popc(of_heads[row]);
    }
    if (thread == 0) {
      shared.records[slot][warp] = own_records;
      shared.heads[slot][warp] = own_heads;
    }
    __syncthreads();  // those of all warps are there
    const std::uint32_t of_warp = thread < kWarps ? shared.records[slot][thread] : 0;
    const bool all_small = __all_sync(device::kWholeWarp, of_warp < kSmallSum) != 0;
    const std::uint32_t records_of = records_up_to(of_warp, all_small, thread);
    std::uint32_t heads_of = thread < kWarps ? shared.heads[slot][thread] : 0;
#pragma unroll
    for (int distance = 1; distance < kWarps; distance *= 2)
      device::add_from_below(heads_of, distance);
    const int last = warp == 0 ? 0 : warp - 1;
    std::uint32_t record = __shfl_sync(device::kWholeWarp, records_of, last);
    std::uint32_t head = __shfl_sync(device::kWholeWarp, heads_of, last);
    record = add_up_to_most(records, warp == 0 ? 0 : record);
    head = heads + (warp == 0 ? 0 : head);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const std::uint32_t length = tile.lengths[row], at = first + 32 * row;
      const std::uint32_t start = record + ends[row] - min(length, kMostRecords);
      if (length > 0) chunk.starts[head + __popc(of_heads[row] & up_to_here) - 1] = start;
      if (offsets != nullptr && at >= begins_at && at < count)
        __stcs(reinterpret_cast<unsigned long long*>(offsets + at),
               static_cast<unsigned long long>(chunk.first_record + start));
      record = add_up_to_most(record, of_rows[row]);
      head += __popc(of_heads[row]);
    }
    records = add_up_to_most(records, __shfl_sync(device::kWholeWarp, records_of, 31));
    heads += __shfl_sync(device::kWholeWarp, heads_of, kWarps - 1);
    first += kTile;
  }
  all_heads = heads;
  return records;
}

__device__ const ColumnTask& task_of(const MeasureSegmentsArgs& args, std::uint32_t slot,
                                     std::uint32_t c) {
  return args.tasks[static_cast<std::uint64_t>(slot) * args.num_chunks + c];
}

/// Whether a column of the chunk is joined by kernels that ask where segments of one record each begin.
__device__ bool needs_starts(const MeasureSegmentsArgs& args, std::uint32_t c) {
  for (std::uint32_t slot = 0; slot < args.lengths_slot; ++slot) {
    const ColumnTask& task = task_of(args, slot, c);
    if (task.path >= ColumnPath::page_warp && task.is_segmented() &&
        !is_one_stretch(task, task.records))
      return true;
  }
  return false;
}

/// The same of lengths that are all equal. Returns what they add up to.
__device__ std::uint64_t measure_equal(const SegmentedChunk& chunk, bool has_starts,
                                       std::uint32_t& heads) {
  const std::uint32_t length = chunk.lengths[0];
  const std::uint32_t begins_at = chunk.continues ? 1 : 0;
  for (std::uint32_t i = threadIdx.x; i < chunk.num_lengths && length > 0 && has_starts;
       i += blockDim.x)
    chunk.starts[i] = i * length;
  for (std::uint32_t i = threadIdx.x; i < chunk.num_lengths && chunk.offsets != nullptr;
       i += blockDim.x) {
    if (i >= begins_at)
      __stcs(reinterpret_cast<unsigned long long*>(chunk.offsets + (i - begins_at)),
             static_cast<unsigned long long>(chunk.first_record) +
                 static_cast<unsigned long long>(i) * length);
  }
  heads = length > 0 ? chunk.num_lengths : 0;
  return static_cast<std::uint64_t>(chunk.num_lengths) * length;
}

/// Whether columns that are joined where pages are decoded may have so many heads.
__device__ bool suit_pages(const MeasureSegmentsArgs& args, std::uint32_t c, std::uint32_t heads) {
  if (may_be_heads(heads, args.chunks[c].records)) return true;
  for (std::uint32_t slot = 0; slot < args.lengths_slot; ++slot)
    if (task_of(args, slot, c).path == ColumnPath::page_segments) return false;
  return true;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, kThreadsPerSm / kThreads)
    measure_segments_kernel(MeasureSegmentsArgs args, std::uint32_t step) {
  device::start_successor();
  __shared__ MeasureShared<kThreads> shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_chunks; i += gridDim.x) {
    const std::uint32_t c = device::spread(i, step, args.num_chunks);
    const SegmentedChunk chunk = args.chunks[c];
    if (chunk.lengths == nullptr) continue;
    std::uint32_t heads = 0;
    const std::uint64_t records =
        task_of(args, args.lengths_slot, c).path == ColumnPath::fill
            ? measure_equal(chunk, chunk.lengths[0] != 1 || needs_starts(args, c), heads)
            : measure(chunk, shared, heads);
    __syncthreads();  // the sums of the last tile have been read
    if (threadIdx.x != 0) continue;
    const bool damaged = args.damaged_at[c] < chunk.section_end;
    const bool right = records == chunk.records && suit_pages(args, c, heads);
    if (!damaged && !right) atomicMin(&args.damaged_at[c], chunk.section_at);
    args.chunks[c].heads = heads;
    args.chunks[c].right = !damaged && right;
    if (chunk.offsets != nullptr && chunk.says_end)
      chunk.offsets[chunk.num_lengths - (chunk.continues ? 1 : 0)] = chunk.first_record + records;
  }
}

}  // namespace

cudaError_t launch_measure_segments(const MeasureSegmentsArgs& args, std::uint64_t num_lengths,
                                    cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  const auto launch = [&](auto threads) {
    constexpr int kThreads = decltype(threads)::value;
    return device::launch_after<measure_segments_kernel<kThreads>>(
        std::min(args.num_chunks, kMostBlocks), kThreads, stream, args,
        device::spread_step(args.num_chunks));
  };
  return num_lengths / args.num_chunks >= kManyLengths
             ? launch(std::integral_constant<int, kManyThreads>{})
             : launch(std::integral_constant<int, kFewThreads>{});
}

}  // namespace gdelta::cuda
