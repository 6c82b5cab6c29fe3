// Segmented reduction: what the values of each segment come to, by any operator, which need not commute. For nvcc;
// nothing to link.
//
// Values and ends of segments together are cut into parts of equal length, as merge path cuts them (Merrill, Garland;
// gdelta/schedules/merge_path.cuh), so that it makes no difference how long segments are. A block takes a part: its
// threads load neighbouring values side by side, several at once, which is what loads that gather want; then each of
// them walks along as many steps of the path in shared memory. What threads leave open meets in a scan of the block, what blocks
// leave open in a second kernel: always in the same order, so results are the same bits on every run.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gdelta/primitives/segments.h"
#include "kernels/device/launch.cuh"

namespace gdelta {
namespace segmented_reduce_detail {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kSteps =
    5;  ///< of the path, a thread; odd, so that threads walk in banks of their own
constexpr int kPart = kThreads * kSteps;
constexpr unsigned kWholeWarp = 0xffffffff;

/// Where the path goes: a step for each value, and one for each segment's end, which follows its last value.
template <class Offset>
struct Path {
  const Offset* offsets;
  std::uint64_t segments;
  std::uint64_t count;  ///< values

  __host__ __device__ std::uint64_t length() const { return count + segments; }
  __host__ __device__ std::uint64_t parts() const { return (length() + kPart - 1) / kPart; }
  __device__ std::uint64_t end(std::uint64_t segment) const {
    return segment + 1 < segments ? offsets[segment + 1] : count;
  }
  /// Segments whose end the path has passed after `steps` steps.
  __device__ std::uint64_t segments_before(std::uint64_t steps) const {
    std::uint64_t low = steps > count ? steps - count : 0;
    std::uint64_t high = steps < segments ? steps : segments;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (end(middle) + middle < steps) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// What is open: the values behind the last end, and whether there is one.
template <class T>
struct Open {
  T sum;
  bool behind_an_end;
};

template <class T, class Op>
__device__ Open<T> joined(const Open<T>& a, const Open<T>& b, Op op) {
  return b.behind_an_end ? b : Open<T>{op(a.sum, b.sum), a.behind_an_end};
}

/// From the thread `distance` below in the warp.
template <class T>
__device__ Open<T> from_below(const Open<T>& open, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  unsigned words[sizeof(T) / 4];
  std::memcpy(words, &open.sum, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_up_sync(kWholeWarp, word, distance);
  Open<T> below{};
  std::memcpy(&below.sum, words, sizeof(T));
  below.behind_an_end = __shfl_up_sync(kWholeWarp, open.behind_an_end ? 1u : 0u, distance) != 0;
  return below;
}

/// What the threads before this one leave open together; `all` becomes that of the block. `of_warps` is shared memory.
template <class T, class Op>
__device__ Open<T> open_before(Open<T> own, Open<T>* of_warps, const T& identity, Op op,
                               Open<T>& all) {
  const int thread = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const Open<T> below = from_below(own, distance);
    if (thread >= distance) own = joined(below, own, op);
  }
  if (thread == 31) of_warps[warp] = own;
  Open<T> before = from_below(own, 1);
  if (thread == 0) before = {identity, false};
  __syncthreads();  // all warps have told what they leave open
  Open<T> of_others{identity, false};
  for (int other = 0; other < kWarps; ++other) {
    if (other == warp) before = joined(of_others, before, op);
    of_others = joined(of_others, of_warps[other], op);
  }
  all = of_others;
  return before;
}

template <class T>
struct Shared {
  T values[kPart];
  std::uint32_t ends[kPart];  ///< of the part's segments, in values from its first
  Open<T> of_warps[kWarps];
};

/// A block's part of the path.
struct Part {
  std::uint64_t first_segment, first_value;
  int segments, values;
};

template <class T, class Offset, class Load>
__device__ void load_part(const Path<Offset>& path, const Part& part, const Load& load,
                          Shared<T>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  if (part.values > 0) {
    T own[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int at = thread + i * kThreads;
      own[i] = load(part.first_value + (at < part.values ? at : 0));
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) shared.values[thread + i * kThreads] = own[i];
  }
  for (int at = thread; at < part.segments; at += kThreads)
    shared.ends[at] =
        static_cast<std::uint32_t>(path.end(part.first_segment + at) - part.first_value);
}

/// Ends among the part's first `steps` steps.
template <class T>
__device__ int ends_before(const Shared<T>& shared, const Part& part, int steps) {
  int low = steps > part.values ? steps - part.values : 0;
  int high = steps < part.segments ? steps : part.segments;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (static_cast<int>(shared.ends[middle]) + middle < steps) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class T, class Offset, class Load, class Op>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(Path<Offset> path, Load load, T* out, Op op, T identity,
                  const std::uint64_t* segments_before, T* open_behind) {
  alignas(16) __shared__ unsigned char room[sizeof(Shared<T>)];  // T may have a constructor
  auto& shared = *reinterpret_cast<Shared<T>*>(room);
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kPart;
  const std::uint64_t first = segments_before[blockIdx.x], behind = segments_before[blockIdx.x + 1];
  const std::uint64_t left = path.length() - begin;
  const int steps = left < kPart ? static_cast<int>(left) : kPart;
  const Part part{.first_segment = first,
                  .first_value = begin - first,
                  .segments = static_cast<int>(behind - first),
                  .values = steps - static_cast<int>(behind - first)};
  load_part(path, part, load, shared);
  __syncthreads();  // values and ends are there
  const int from = static_cast<int>(threadIdx.x) * kSteps;
  const int own_from = from < steps ? from : steps;
  const int own_steps = steps - own_from < kSteps ? steps - own_from : kSteps;
  const int first_end = ends_before(shared, part, own_from);
  int next_end = first_end, value = own_from - first_end;
  T sum = identity, first_sum = identity;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    if (i >= own_steps) continue;
    if (next_end < part.segments && static_cast<int>(shared.ends[next_end]) == value) {
      if (next_end == first_end) {
        first_sum = sum;
      } else {
        out[part.first_segment + next_end] = sum;
      }
      sum = identity;
      ++next_end;
    } else {
      sum = op(sum, shared.values[value++]);
    }
  }
  Open<T> all;
  const Open<T> before =
      open_before(Open<T>{sum, next_end > first_end}, shared.of_warps, identity, op, all);
  if (next_end > first_end) out[part.first_segment + first_end] = op(before.sum, first_sum);
  if (threadIdx.x == 0) open_behind[blockIdx.x] = all.sum;
}

/// Puts what blocks leave open before the segment that ends first behind them. A warp looks at 32 parts; where many parts
/// belong to one segment its threads share them.
template <class T, class Op>
__global__ void __launch_bounds__(kThreads)
    join_kernel(std::uint64_t parts, const std::uint64_t* segments_before, const T* open_behind,
                T* out, Op op, T identity) {
  alignas(16) __shared__ unsigned char room[kThreads * sizeof(T)];
  T* const of_threads = reinterpret_cast<T*>(room);
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint64_t part = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int thread = static_cast<int>(threadIdx.x) & 31;
  std::uint64_t segment = 0, begin = part;  // parts that are open before `part`: from begin on
  if (part > 0 && part < parts && segments_before[part + 1] > segments_before[part]) {
    segment = segments_before[part];
    std::uint64_t low = 0;
    begin = part - 1;
    if (segments_before[begin] == segment) {
      while (low < begin) {
        const std::uint64_t middle = low + (begin - low) / 2;
        if (segments_before[middle + 1] < segment) {
          low = middle + 1;
        } else {
          begin = middle;
        }
      }
    }
  }
  constexpr std::uint64_t kFew = 8;
  const std::uint64_t open = part - begin;
  if (open > 0 && open <= kFew) {
    T sum = identity;
    for (std::uint64_t p = begin; p < part; ++p) sum = op(sum, open_behind[p]);
    out[segment] = op(sum, out[segment]);
  }
  unsigned long_ones = __ballot_sync(kWholeWarp, open > kFew);
  T* const of_warp = of_threads + (threadIdx.x - thread);
  for (; long_ones != 0; long_ones &= long_ones - 1) {
    const int who = 31 - __clz(static_cast<int>(long_ones & (0 - long_ones)));
    const std::uint64_t first =
        __shfl_sync(kWholeWarp, static_cast<unsigned long long>(begin), who);
    const std::uint64_t last = part - thread + who;
    const std::uint64_t each = (last - first + 31) / 32;
    T sum = identity;
    const std::uint64_t end =
        first + (thread + 1) * each < last ? first + (thread + 1) * each : last;
    for (std::uint64_t p = first + thread * each; p < end; ++p) sum = op(sum, open_behind[p]);
    of_warp[thread] = sum;
    __syncwarp();  // all have told their sum
    if (thread == who) {
      sum = identity;
      for (int other = 0; other < 32; ++other) sum = op(sum, of_warp[other]);
      out[segment] = op(sum, out[segment]);
    }
    __syncwarp();  // and may tell the next
  }
}

template <class Offset>
__global__ void __launch_bounds__(kThreads)
    plan_kernel(Path<Offset> path, std::uint64_t* segments_before) {
  const std::uint64_t part = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint64_t parts = path.parts();
  if (part <= parts)
    segments_before[part] = part < parts ? path.segments_before(part * kPart) : path.segments;
}

template <class Offset>
Path<Offset> path_of(std::uint64_t count, const SegmentOffsets<Offset>& segments) {
  return {.offsets = segments.offsets, .segments = segments.segments, .count = count};
}

inline dim3 blocks_for(std::uint64_t threads) {
  return dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads));
}

constexpr std::size_t plan_bytes(std::uint64_t parts) {
  return ((parts + 1) * sizeof(std::uint64_t) + 255) / 256 * 256;
}

}  // namespace segmented_reduce_detail

/// Scratch for plan and reduction.  Units: bytes
template <class T, class Offset>
std::size_t segmented_reduce_scratch_bytes(std::uint64_t count,
                                           const SegmentOffsets<Offset>& segments) {
  const std::uint64_t parts = segmented_reduce_detail::path_of(count, segments).parts();
  return segmented_reduce_detail::plan_bytes(parts) + (parts + 1) * sizeof(T);
}

/// Enqueues the plan: where blocks begin. It serves any number of reductions over these segments with this scratch.
/// Shapes      scratch, 256-byte aligned, device memory
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
template <class T, class Offset>
cudaError_t plan_segmented_reduce(std::uint64_t count, const SegmentOffsets<Offset>& segments,
                                  void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace segmented_reduce_detail;
  if (scratch_bytes < segmented_reduce_scratch_bytes<T>(count, segments))
    return cudaErrorInvalidValue;
  const Path<Offset> path = path_of(count, segments);
  return device::launch_kernel(plan_kernel<Offset>, blocks_for(path.parts() + 1), kThreads, stream,
                               path, static_cast<std::uint64_t*>(scratch));
}

/// Enqueues out[s] = load(begin) op … op load(end - 1) of each segment, `identity` where it has no values.
/// Behind plan_segmented_reduce.
/// Shapes      load(i) gives value i, of `count`; T trivially copyable, a multiple of 4 bytes and at most 16;
///             offsets begin with 0 and are at most `count`;  out [segments];  device memory;  scratch as planned
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
/// Threads     any; work is ordered by `stream`; nothing waits for the device
template <class T, class Offset, class Load, class Op>
cudaError_t segmented_reduce(std::uint64_t count, const Load& load,
                             const SegmentOffsets<Offset>& segments, T* out, const Op& op,
                             const T& identity, void* scratch, std::size_t scratch_bytes,
                             cudaStream_t stream) {
  using namespace segmented_reduce_detail;
  static_assert(sizeof(T) <= 16);
  if (scratch_bytes < segmented_reduce_scratch_bytes<T>(count, segments))
    return cudaErrorInvalidValue;
  if (segments.segments == 0) return cudaSuccess;
  const Path<Offset> path = path_of(count, segments);
  const auto* const before = static_cast<const std::uint64_t*>(scratch);
  auto* const open =
      reinterpret_cast<T*>(static_cast<unsigned char*>(scratch) + plan_bytes(path.parts()));
  constexpr auto kReduce = reduce_kernel<T, Offset, Load, Op>;
  constexpr auto kJoin = join_kernel<T, Op>;
  if (const cudaError_t error =
          device::launch_after<kReduce>(dim3(static_cast<unsigned>(path.parts())), kThreads, stream,
                                        path, load, out, op, identity, before, open))
    return error;
  return device::launch_after<kJoin>(blocks_for(path.parts()), kThreads, stream, path.parts(),
                                     before, static_cast<const T*>(open), out, op, identity);
}

}  // namespace gdelta
