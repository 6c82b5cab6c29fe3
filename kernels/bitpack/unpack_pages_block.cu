// A block decodes a page of any shape: tuples up to 64, up to 2048 groups, widths known at run time.
// The block's warps take the lanes of one group row (128 tuples) each for itself, put the values
// interleaved into shared memory, and the block stores them together. Fields are read straight from
// the page; each thread holds four consecutive residuals.
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/scan/tile/warp_scan.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kStageBytes = 16384;  // a row of as many lanes as fit
constexpr int kOwnValues = 4;

template <class Word>
struct UnpackBlockShared {
  std::uint32_t group_at[kMaxPageGroups];      // in units of 16 bytes, from the first group
  std::uint32_t exception_at[kMaxPageGroups];  // in bytes, from the first exception
  Word states[kMaxLanes][kMaxDeltaOrder];
  Word patch[kWarps][kGroupValues];  // zero between uses
  std::uint32_t warp_groups[kWarps], warp_exceptions[kWarps];
  std::uint32_t all_groups, all_exceptions;
  alignas(16) unsigned char stage[kStageBytes];
};

/// `width` bits (1 ... 64) from bit `bit` after `p` on; reads only aligned words that hold some.
template <class Word>
__device__ Word read_bits(const unsigned char* p, unsigned bit, int width) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  bit += 8 * (address & 3);
  const auto* words =
      reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3}) + (bit >> 5);
  const unsigned shift = bit & 31, last = shift + width;
  const std::uint32_t w0 = words[0], w1 = last > 32 ? words[1] : 0;
  Word value = __funnelshift_r(w0, w1, shift);
  if constexpr (sizeof(Word) == 8) {
    const std::uint32_t w2 = last > 64 ? words[2] : 0;
    value |= static_cast<Word>(__funnelshift_r(w1, w2, shift)) << 32;
  }
  return value & value_mask<Word>(width);
}

__device__ GroupDescriptor load_descriptor(const ColumnTask& task, const PageView& page,
                                           std::uint32_t group) {
  const unsigned char* p = page.bytes + task.state_bytes + 2 * group;
  return {static_cast<std::uint32_t>(p[0] | (p[1] << 8))};
}

/// Checks all descriptors and finds what lies before each group. All threads get the verdict.
template <class Word>
__device__ bool place_groups(UnpackBlockShared<Word>& shared, const ColumnTask& task,
                             const PageView& page, std::uint32_t all_groups) {
  const int of_block = threadIdx.x, warp = of_block / 32, thread = of_block & 31;
  constexpr std::uint32_t kEach = kMaxPageGroups / kThreads;
  const std::uint32_t first = of_block * kEach;
  bool valid = true;
  std::uint32_t groups = 0, exceptions = 0;
  for (std::uint32_t i = 0; i < kEach && first + i < all_groups; ++i) {
    const GroupDescriptor descriptor = load_descriptor(task, page, first + i);
    valid &= descriptor.valid(8 * task.value_bytes);
    shared.group_at[first + i] = groups;
    shared.exception_at[first + i] = exceptions;
    groups += descriptor.width();
    exceptions += descriptor.exception_bytes();
  }
  std::uint32_t to[2] = {groups, exceptions};
  scan::scan_threads<scan::SumAlgebra<std::uint32_t, std::uint32_t>, 2>(thread, 1, 32, to);
  if (thread == 31) {
    shared.warp_groups[warp] = to[0];
    shared.warp_exceptions[warp] = to[1];
  }
  __syncthreads();  // the sums of all warps are there
  std::uint32_t groups_before = to[0] - groups;
  std::uint32_t exceptions_before = to[1] - exceptions;
  for (int w = 0; w < warp; ++w) {
    groups_before += shared.warp_groups[w];
    exceptions_before += shared.warp_exceptions[w];
  }
  for (std::uint32_t i = 0; i < kEach && first + i < all_groups; ++i) {
    shared.group_at[first + i] += groups_before;
    shared.exception_at[first + i] += exceptions_before;
  }
  if (of_block == kThreads - 1) {
    shared.all_groups = groups_before + groups;
    shared.all_exceptions = exceptions_before + exceptions;
  }
  return __syncthreads_and(valid);  // and every place is written
}

template <class Word>
__device__ void load_states(UnpackBlockShared<Word>& shared, const ColumnTask& task,
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
      shared.states[lane][k] = load_value<Word>(p + k * task.value_bytes, task.value_bytes, false);
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

/// A group of a lane, by one warp, into the stage. Returns false where a position is out of range.
template <class Word>
__device__ bool decode_group(UnpackBlockShared<Word>& shared, const ColumnTask& task,
                             const PageView& page, const unsigned char* groups,
                             const unsigned char* exceptions, std::uint32_t row, int lane,
                             int stage_lane, int stage_lanes) {
  const int thread = threadIdx.x & 31, warp = threadIdx.x / 32;
  const int value_bytes = task.value_bytes;
  const std::uint32_t group = lane * page.groups + row;
  const GroupDescriptor descriptor = load_descriptor(task, page, group);
  const int width = descriptor.width();
  Word run[kOwnValues] = {};
  if (width > 0) {
    const unsigned char* p = groups + 16 * shared.group_at[group];
#pragma unroll
    for (int i = 0; i < kOwnValues; ++i) {
      const int residual = kOwnValues * thread + i;
      const int slot = 16 * (residual & 7) + (residual >> 3);
      run[i] = read_bits<Word>(p, slot * width, width);
    }
  }
  bool valid = true;
  if (descriptor.exceptions() > 0) {
    const unsigned char* positions = exceptions + shared.exception_at[group];
    const unsigned char* highs = positions + descriptor.exceptions();
    const int high_bytes = descriptor.high_bytes();
    Word* patch = shared.patch[warp];
    for (int i = thread; i < descriptor.exceptions(); i += 32) {
      const Word high = load_value<Word>(highs + i * high_bytes, high_bytes, false);
      const Word bits =
          width == 8 * static_cast<int>(sizeof(Word)) ? Word{0} : static_cast<Word>(high << width);
      if (positions[i] < kGroupValues) {
        auto* words = reinterpret_cast<unsigned*>(patch + positions[i]);
        const Word kept = bits & value_mask<Word>(8 * value_bytes);
        atomicOr(words, static_cast<unsigned>(kept));
        if constexpr (sizeof(Word) == 8) atomicOr(words + 1, static_cast<unsigned>(kept >> 32));
      } else {
        valid = false;
      }
    }
    __syncwarp();  // all patches are in
#pragma unroll
    for (int i = 0; i < kOwnValues; ++i) {
      run[i] |= patch[kOwnValues * thread + i];
      patch[kOwnValues * thread + i] = 0;
    }
    __syncwarp();  // and taken out again
  }
#pragma unroll
  for (int i = 0; i < kOwnValues; ++i) run[i] = zigzag_decode(run[i]);
  const int order = task.orders != nullptr ? task.orders[lane] : task.order;
  for (int k = 0; k < order; ++k) sum_row(run, shared.states[lane][k], thread);

  const bool plain = task.num_strides > 0;
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
__device__ void store_stage(const unsigned char* stage, unsigned char* out, std::uint32_t tuples,
                            std::uint32_t row_bytes, std::uint32_t record_bytes) {
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

template <class Word>
__device__ void decode_page_by_block(UnpackBlockShared<Word>& shared, const ColumnTask& task,
                                     std::uint32_t page_number, unsigned long long* damaged_at) {
  const PageView page = page_view(task, page_number);
  const std::uint32_t all_groups = page.groups * task.tuple;
  const std::uint32_t head_bytes = task.state_bytes + 2 * all_groups;
  bool good = page.num_bytes >= head_bytes;
  if (good) {
    good = place_groups(shared, task, page, all_groups) &&
           head_bytes + 16 * shared.all_groups + shared.all_exceptions == page.num_bytes;
  }
  if (!good) {
    if (threadIdx.x == 0) report_page(task, page, damaged_at);
    return;
  }
  load_states(shared, task, page);
  const unsigned char* groups = page.bytes + head_bytes;
  const unsigned char* exceptions = groups + 16 * shared.all_groups;
  const int warp = threadIdx.x / 32;
  const int most_lanes = kStageBytes / (kGroupValues * task.value_bytes);
  bool valid = true;
  for (int first_lane = 0; first_lane < task.tuple; first_lane += most_lanes) {
    const int lanes = min(most_lanes, task.tuple - first_lane);
    for (std::uint32_t row = 0; row < page.groups; ++row) {
      __syncthreads();  // states are there, and the stage has been stored
      for (int lane = warp; lane < lanes; lane += kWarps)
        valid &= decode_group(shared, task, page, groups, exceptions, row, first_lane + lane, lane,
                              lanes);
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

template <class Word>
__global__ void __launch_bounds__(kThreads) unpack_pages_block_kernel(UnpackArgs args) {
  device::start_successor();
  __shared__ UnpackBlockShared<Word> shared;
  for (int i = threadIdx.x; i < kWarps * kGroupValues; i += kThreads)
    shared.patch[i / kGroupValues][i % kGroupValues] = 0;
  device::wait_for_predecessor();
  const std::uint64_t end = args.starts[args.end_task];
  for (std::uint64_t page = args.starts[args.first_task] + blockIdx.x; page < end;
       page += gridDim.x) {
    __syncthreads();  // shared memory is free for this page
    const std::uint32_t task =
        device::find_start(args.starts, args.first_task, args.end_task, page);
    decode_page_by_block(shared, args.tasks[task],
                         static_cast<std::uint32_t>(page - args.starts[task]), args.damaged_at);
  }
}

}  // namespace

cudaError_t launch_unpack_pages_block(bool wide, const UnpackArgs& args, std::uint64_t max_pages,
                                      cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 132 * 16;
  const auto blocks = static_cast<unsigned>(max_pages < kMostBlocks ? max_pages : kMostBlocks);
  if (blocks == 0) return cudaSuccess;
  return wide ? device::launch_after<unpack_pages_block_kernel<std::uint64_t>>(blocks, kThreads,
                                                                               stream, args)
              : device::launch_after<unpack_pages_block_kernel<std::uint32_t>>(blocks, kThreads,
                                                                               stream, args);
}

}  // namespace gdelta::cuda
