// A block decodes a page of any coder whose pages begin with states: tuples up to 64, up to 2048 groups,
// widths known at run time. The block's warps take the lanes of one row of groups (128 tuples) each for
// itself, put the values interleaved into shared memory, and the block stores them together. Each thread
// holds four consecutive residuals.
//
// A Source knows the coder. It has
//   Shared    what the block keeps in shared memory; at the start of every page it is as clear() or the
//             page before have left it
//   clear     makes it ready, once; the whole block calls it
//   open      whether the page is what its own fields say; the whole block calls it, all threads get it
//   load      kOwnValues residuals of this thread, zigzagged, of row `row` of a lane; the whole warp
//             calls it. Whether they break no rule
#pragma once

#include "kernels/deltas/zigzag.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_kernels.h"
#include "kernels/pages/page_view.cuh"
#include "kernels/scan/tile/warp_scan.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda::page_block {

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;
inline constexpr int kStageBytes = 16384;  // a row of as many lanes as fit
inline constexpr int kOwnValues = 4;

template <class Word, class Source>
struct Shared {
  typename Source::Shared source;
  Word states[kMaxLanes][kMaxDeltaOrder];
  alignas(16) unsigned char stage[kStageBytes];
};

template <class Word>
__device__ void load_states(Word (&states)[kMaxLanes][kMaxDeltaOrder], const ColumnTask& task,
                            const PageView& page) {
  for (int lane = threadIdx.x; lane < task.tuple; lane += kThreads) {
    std::uint32_t before = 0;
    int order = task.order;
    if (task.orders != nullptr) {
      for (int i = 0; i < lane; ++i) before += task.orders[i];
      order = task.orders[lane];
    } else {
      before = lane * order;
    }
    const unsigned char* p = page.bytes + before * task.value_bytes;
    for (int k = 0; k < order; ++k)
      states[lane][k] = load_value<Word>(p + k * task.value_bytes, task.value_bytes, false);
  }
}

/// One sum of order 1 over the warp's 128 residuals, by the primitives of the scan.
template <class Word>
__device__ void sum_row(Word (&run)[kOwnValues], Word& state, int thread) {
  using Algebra = scan::SumAlgebra<Word, Word>;
  Word own = 0;
#pragma unroll
  for (int i = 0; i < kOwnValues; ++i) scan::step<Algebra, 1>(run[i], &own);
  Word sum = own;
  scan::scan_threads<Algebra, 1>(thread, 1, 32, &sum);
  sum += state - own;
#pragma unroll
  for (int i = 0; i < kOwnValues; ++i) {
    scan::step<Algebra, 1>(run[i], &sum);
    run[i] = sum;
  }
  __syncwarp();  // all threads have read the state
  if (thread == 31) state = sum;
  __syncwarp();  // and the next sum reads the new one
}

/// A row of a lane, by one warp, into the stage. Whether it breaks no rule: residuals behind the last are
/// zero.
template <class Word, class Source>
__device__ bool decode_row(Shared<Word, Source>& shared, const ColumnTask& task,
                           const PageView& page, std::uint32_t row, int lane, int stage_lane,
                           int stage_lanes) {
  const int thread = threadIdx.x & 31;
  const int value_bytes = task.value_bytes;
  Word run[kOwnValues] = {};
  bool valid = Source::load(shared.source, task, page, row, lane, run);
  const auto residuals = static_cast<int>(page.tuples - kGroupValues * row);
  if (residuals < kGroupValues) {
#pragma unroll
    for (int i = 0; i < kOwnValues; ++i)
      valid &= kOwnValues * thread + i < residuals || run[i] == 0;
  }
#pragma unroll
  for (int i = 0; i < kOwnValues; ++i) run[i] = zigzag_decode(run[i]);
  const int order = task.orders != nullptr ? task.orders[lane] : task.order;
  for (int k = 0; k < order; ++k) sum_row(run, shared.states[lane][k], thread);

  const bool plain = task.is_finished_later();
#pragma unroll
  for (int i = 0; i < kOwnValues; ++i) {
    const Word value =
        plain ? run[i] : finish_value(run[i], value_bytes, task.map, task.big_endian);
    store_value(shared.stage + ((kOwnValues * thread + i) * stage_lanes + stage_lane) * value_bytes,
                value_bytes, value_bytes != 3, value);
  }
  return valid;
}

/// `tuples` rows of `row_bytes` bytes from the stage to their places.
__device__ inline void store_stage(const unsigned char* stage, unsigned char* out,
                                   std::uint32_t tuples, std::uint32_t row_bytes,
                                   std::uint32_t record_bytes) {
  const auto copy = [&](auto unit) {
    using Unit = decltype(unit);
    const std::uint32_t units = row_bytes / sizeof(Unit);
    for (std::uint32_t n = threadIdx.x; n < tuples * units; n += kThreads) {
      *reinterpret_cast<Unit*>(out + static_cast<std::uint64_t>(n / units) * record_bytes +
                               n % units * sizeof(Unit)) =
          *reinterpret_cast<const Unit*>(stage + n * sizeof(Unit));
    }
  };
  const auto all = reinterpret_cast<std::uintptr_t>(out) | record_bytes | row_bytes;
  if ((all & 7) == 0) return copy(std::uint64_t{});
  if ((all & 3) == 0) return copy(std::uint32_t{});
  copy(static_cast<unsigned char>(0));
}

template <class Word, class Source>
__device__ void decode_page(Shared<Word, Source>& shared, const ColumnTask& task,
                            std::uint32_t page_number, unsigned long long* damaged_at) {
  const PageView page = page_view(task, page_number);
  if (!Source::open(shared.source, task, page)) {
    if (threadIdx.x == 0) report_page(task, page, damaged_at);
    return;
  }
  load_states(shared.states, task, page);
  const int warp = threadIdx.x / 32;
  const int most_lanes = kStageBytes / (kGroupValues * task.value_bytes);
  bool valid = true;
  for (int first_lane = 0; first_lane < task.tuple; first_lane += most_lanes) {
    const int lanes = min(most_lanes, task.tuple - first_lane);
    for (std::uint32_t row = 0; row < page.groups; ++row) {
      __syncthreads();  // states are there, and the stage has been stored
      for (int lane = warp; lane < lanes; lane += kWarps)
        valid &= decode_row(shared, task, page, row, first_lane + lane, lane, lanes);
      __syncthreads();  // the stage is full
      const std::uint32_t first = kGroupValues * row;
      store_stage(shared.stage,
                  task.out + static_cast<std::uint64_t>(page.first + first) * task.record_bytes +
                      first_lane * task.value_bytes,
                  min(page.tuples - first, static_cast<std::uint32_t>(kGroupValues)),
                  lanes * task.value_bytes, task.record_bytes);
    }
  }
  if (__syncthreads_or(!valid) && threadIdx.x == 0) report_page(task, page, damaged_at);
}

/// Pages of tasks whose coder has this number; those of others are passed over.
template <class Word, class Source, int kCoder>
__global__ void __launch_bounds__(kThreads) decode_pages_kernel(UnpackArgs args) {
  device::start_successor();
  __shared__ Shared<Word, Source> shared;
  Source::clear(shared.source);
  device::wait_for_predecessor();
  const std::uint64_t end = args.starts[args.end_task];
  for (std::uint64_t page = args.starts[args.first_task] + blockIdx.x; page < end;
       page += gridDim.x) {
    __syncthreads();  // shared memory is free for this page
    const std::uint32_t task =
        device::find_start(args.starts, args.first_task, args.end_task, page);
    if (args.tasks[task].coder != kCoder) continue;
    decode_page(shared, args.tasks[task], static_cast<std::uint32_t>(page - args.starts[task]),
                args.damaged_at);
  }
}

/// Launches the kernel over Source<Word>, of words of 32 bits or of 64.
template <template <class> class Source, int kCoder>
cudaError_t launch(bool wide, const UnpackArgs& args, std::uint64_t max_pages,
                   cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 132 * 16;
  constexpr auto kWide = decode_pages_kernel<std::uint64_t, Source<std::uint64_t>, kCoder>;
  constexpr auto kNarrow = decode_pages_kernel<std::uint32_t, Source<std::uint32_t>, kCoder>;
  const auto blocks = static_cast<unsigned>(max_pages < kMostBlocks ? max_pages : kMostBlocks);
  if (blocks == 0) return cudaSuccess;
  return wide ? device::launch_after<kWide>(blocks, kThreads, stream, args)
              : device::launch_after<kNarrow>(blocks, kThreads, stream, args);
}

}  // namespace gdelta::cuda::page_block
