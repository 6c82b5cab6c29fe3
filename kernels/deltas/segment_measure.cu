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
constexpr int kRun = 4;                        // neighbouring lengths, which a thread takes
constexpr int kWarpLengths = 32 * kRun;
constexpr std::uint32_t kSegmentMeasureMostBlocks = 1056;

// Records are counted up to here, more than a chunk has.
constexpr std::uint32_t kMostRecords = 1u << 30;

__device__ std::uint32_t add_up_to_most(std::uint32_t a, std::uint32_t b) {
  return min(a + b, kMostRecords);
}
/// Sums that are below this cannot exceed 32 bits when those of a block are added.
constexpr std::uint32_t kSmallSum = (1u << 27) - 1;
constexpr std::uint32_t kSmallLength = kSmallSum / kWarpLengths;
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

template <int kThreads>
struct MeasureShared {
  static constexpr int kWarps = kThreads / 32;
  // What the lengths of a warp add up to, and how many are not zero; those of tiles that follow each other change places.
  std::uint32_t records[2][kWarps];
  std::uint32_t heads[2][kWarps];
  alignas(16)
      std::uint32_t starts[kWarps][kWarpLengths];  // of a tile, until they are stored side by side
};

/// A thread's lengths of a tile.
struct RunOfLengths {
  std::uint32_t lengths[kRun];

  __device__ void load(const std::uint32_t* from, std::uint32_t first, std::uint32_t end) {
    if (first + kRun <= end) {
      const uint4 run = *reinterpret_cast<const uint4*>(from + first);
      lengths[0] = run.x, lengths[1] = run.y, lengths[2] = run.z, lengths[3] = run.w;
      return;
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) lengths[i] = first + i < end ? from[first + i] : 0;
  }
  /// Of the whole warp, which asks together.
  __device__ bool are_small() const {
    std::uint32_t most = 0;
#pragma unroll
    for (const std::uint32_t length : lengths) most = max(most, length);
    return __all_sync(device::kWholeWarp, most < kSmallLength) != 0;
  }
};

/// What stands before a warp's lengths, and what those of all warps come to.
struct BeforeWarp {
  std::uint32_t records, heads, all_records, all_heads;
};

/// `records`, `heads`: of each warp. The whole warp calls it.
template <int kWarps>
__device__ BeforeWarp before_warp(const std::uint32_t (&records)[kWarps],
                                  const std::uint32_t (&heads)[kWarps], int warp, int thread) {
  const std::uint32_t of_warp = thread < kWarps ? records[thread] : 0;
  const std::uint32_t heads_of = thread < kWarps ? heads[thread] : 0;
  BeforeWarp before;
  before.heads = device::warp_sum(thread < warp ? heads_of : 0u);
  before.all_heads = device::warp_sum(heads_of);
  if (__all_sync(device::kWholeWarp, of_warp < kSmallSum) != 0) {
    before.records = device::warp_sum(thread < warp ? of_warp : 0u);
    before.all_records = device::warp_sum(of_warp);
  } else {
    const std::uint32_t up_to = records_up_to(of_warp, false, thread);
    before.records = __shfl_sync(device::kWholeWarp, up_to, max(warp - 1, 0));
    if (warp == 0) before.records = 0;
    before.all_records = __shfl_sync(device::kWholeWarp, up_to, 31);
  }
  return before;
}

/// Stores where the segments of a warp begin that have records, `count` of them. The thread's own are `starts`, and those of the
/// warp stand in `staged`, with those of empty segments between them.
__device__ void store_starts(std::uint32_t* to, const std::uint32_t (&starts)[kRun],
                             const RunOfLengths& run, std::uint32_t heads_before_thread,
                             std::uint32_t count, std::uint32_t* staged, int thread) {
  if (count < kWarpLengths) {
    __syncwarp();  // all of them have been read
    std::uint32_t head = heads_before_thread;
#pragma unroll
    for (int i = 0; i < kRun; ++i)
      if (run.lengths[i] > 0) staged[head++] = starts[i];
    __syncwarp();  // they stand side by side
  } else if ((reinterpret_cast<std::uintptr_t>(to) & 15) == 0) {
    reinterpret_cast<uint4*>(to)[thread] = make_uint4(starts[0], starts[1], starts[2], starts[3]);
    return;
  }
#pragma unroll
  for (int row = 0; row < kRun; ++row) {
    const std::uint32_t head = 32 * row + thread;
    if (head < count) to[head] = staged[head];
  }
}

/// Returns what the lengths add up to, or more than a chunk has.
template <int kThreads>
__device__ std::uint32_t measure(const SegmentedChunk& chunk, bool has_starts,
                                 MeasureShared<kThreads>& shared, std::uint32_t& all_heads) {
  constexpr std::uint32_t kTile = kThreads * kRun;
  const int thread = device::thread_of_warp(), warp = device::warp_number();
  const std::uint32_t below = ~(~0u << thread);
  const std::uint32_t count = device::warp_uniform(chunk.num_lengths);
  const std::uint32_t begins_at = chunk.continues ? 1 : 0;
  std::uint32_t* const staged = shared.starts[warp];
  std::uint64_t* const offsets = chunk.offsets == nullptr ? nullptr : chunk.offsets - begins_at;
  std::uint32_t records = 0, heads = 0;
  std::uint32_t warp_first = kWarpLengths * warp;
  RunOfLengths next;
  next.load(chunk.lengths, warp_first + kRun * thread, count);
  int slot = 0;
#pragma unroll 1
  for (std::uint32_t tile_first = 0; tile_first < count; tile_first += kTile, slot ^= 1) {
    const RunOfLengths run = next;
    next.load(chunk.lengths, warp_first + kTile + kRun * thread, count);
    std::uint32_t starts[kRun], of_run = 0, own_heads = 0, heads_before_thread = 0;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      starts[i] = of_run;
      of_run = add_up_to_most(of_run, min(run.lengths[i], kMostRecords));
      const std::uint32_t some = __ballot_sync(device::kWholeWarp, run.lengths[i] > 0);
      own_heads += __popc(some);
      heads_before_thread += __popc(some & below);
    }
    const std::uint32_t up_to_here = records_up_to(of_run, run.are_small(), thread);
    if (thread == 31) {
      shared.records[slot][warp] = up_to_here;
      shared.heads[slot][warp] = own_heads;
    }
    __syncthreads();  // those of all warps are there
    const BeforeWarp before = before_warp(shared.records[slot], shared.heads[slot], warp, thread);
    const std::uint32_t record = add_up_to_most(records, before.records) + up_to_here - of_run;
#pragma unroll
    for (std::uint32_t& start : starts) start += record;
    reinterpret_cast<uint4*>(staged)[thread] =
        make_uint4(starts[0], starts[1], starts[2], starts[3]);
    __syncwarp();  // those of the warp are there
    if (offsets != nullptr) {
#pragma unroll
      for (int row = 0; row < kRun; ++row) {
        const std::uint32_t i = 32 * row + thread, at = warp_first + i;
        if (at >= begins_at && at < count)
          __stcs(reinterpret_cast<unsigned long long*>(offsets + at),
                 static_cast<unsigned long long>(chunk.first_record + staged[i]));
      }
    }
    if (has_starts)
      store_starts(chunk.starts + heads + before.heads, starts, run, heads_before_thread, own_heads,
                   staged, thread);
    records = add_up_to_most(records, before.all_records);
    heads += before.all_heads;
    warp_first += kTile;
  }
  all_heads = heads;
  return records;
}

__device__ const ColumnTask& task_of(const MeasureSegmentsArgs& args, std::uint32_t slot,
                                     std::uint32_t c) {
  return args.tasks[static_cast<std::uint64_t>(slot) * args.num_chunks + c];
}

/// Whether a column of the chunk is joined by kernels that ask where segments begin, of one record each or not.
__device__ bool needs_starts(const MeasureSegmentsArgs& args, std::uint32_t c, bool of_one_record) {
  for (std::uint32_t slot = 0; slot < args.lengths_slot; ++slot) {
    const ColumnTask& task = task_of(args, slot, c);
    if (task.path >= ColumnPath::page_warp && task.is_segmented() &&
        !(of_one_record && is_one_stretch(task, task.records)))
      return true;
  }
  return false;
}

/// Stores `count` numbers from `first` on, `step` apart, two at a time. The whole block calls it.
__device__ void store_steps(std::uint64_t* out, std::uint32_t count, std::uint64_t first,
                            std::uint32_t step) {
  const std::uint32_t lead = (reinterpret_cast<std::uintptr_t>(out) & 15) != 0 && count > 0 ? 1 : 0;
  const std::uint32_t pairs = (count - lead) / 2;
  const std::uint64_t from = first + std::uint64_t{lead} * step;
  auto* const to = reinterpret_cast<ulonglong2*>(out + lead);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < pairs; i += blockDim.x) {
    const std::uint64_t number = from + std::uint64_t{2 * i} * step;
    __stcs(to + i, make_ulonglong2(number, number + step));
  }
  if (threadIdx.x == 0 && lead > 0) out[0] = first;
  if (threadIdx.x == 0 && lead + 2 * pairs < count)
    out[count - 1] = first + std::uint64_t{count - 1} * step;
}

/// The same of lengths that are all equal. Returns what they add up to.
__device__ std::uint64_t measure_equal(const SegmentedChunk& chunk, bool has_starts,
                                       std::uint32_t& heads) {
  const std::uint32_t length = chunk.lengths[0];
  const std::uint32_t begins_at = chunk.continues ? 1 : 0;
  for (std::uint32_t i = threadIdx.x; i < chunk.num_lengths && length > 0 && has_starts;
       i += blockDim.x)
    chunk.starts[i] = i * length;
  if (chunk.offsets != nullptr)
    store_steps(chunk.offsets, chunk.num_lengths - begins_at,
                chunk.first_record + begins_at * length, length);
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
    const bool are_equal = task_of(args, args.lengths_slot, c).path == ColumnPath::fill;
    const bool has_starts = needs_starts(args, c, are_equal && chunk.lengths[0] == 1);
    std::uint32_t heads = 0;
    const std::uint64_t records = are_equal ? measure_equal(chunk, has_starts, heads)
                                            : measure(chunk, has_starts, shared, heads);
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
        std::min(args.num_chunks, kSegmentMeasureMostBlocks), kThreads, stream, args,
        device::spread_step(args.num_chunks));
  };
  return num_lengths / args.num_chunks >= kManyLengths
             ? launch(std::integral_constant<int, kManyThreads>{})
             : launch(std::integral_constant<int, kFewThreads>{});
}

}  // namespace gdelta::cuda
