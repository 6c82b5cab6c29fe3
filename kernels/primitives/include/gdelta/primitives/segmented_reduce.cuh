// Segmented reduction: what the values of each segment come to, by any operator, which need not commute. For nvcc;
// nothing to link.
//
// Values and ends of segments together are cut into parts of equal length, as merge path cuts them (Merrill, Garland;
// gdelta/schedules/merge_path.cuh), so that it makes no difference how long segments are. A block takes a part: its
// threads load neighbouring values side by side, several at once, which is what loads that gather want; then each of
// them walks along as many steps of the path in shared memory. What threads leave open meets in a scan of the block, what blocks
// leave open in memory (shared_segments.cuh): always in the same order, so results are the same bits on every run.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gdelta/primitives/segments.h"
#include "gdelta/primitives/shared_segments.cuh"
#include "kernels/device/launch.cuh"

namespace gdelta {
namespace segmented_reduce_detail {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// Steps of the path that a thread walks; odd, so that threads walk in banks of their own.
constexpr int kSteps = 5;
/// Of shorter paths blocks take less, so that there is work for all multiprocessors, and what they share meets, for a
/// second kernel would take longer than that (gdelta.bench.spmv).
constexpr int kShortSteps = 3, kShortestSteps = 1;
constexpr std::uint64_t kShort = 1'000'000, kShortest = 50'000;
constexpr int steps_for(std::uint64_t length) {
  return length <= kShortest ? kShortestSteps : length <= kShort ? kShortSteps : kSteps;
}

/// Values of four bytes in a line of memory. Warps load from lines on: two lines for one took a twentieth of the time of the
/// second-level cache, for which gathers wait (gdelta.bench.spmv).
constexpr int kLine = 32;

/// Steps that a block takes. Its values may begin anywhere in a line.
__host__ __device__ constexpr int part_of(int steps) { return kThreads * steps - kLine; }

/// Threads that a multiprocessor holds at least.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kResident = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000
constexpr int kResident = 1536;
#else
constexpr int kResident = 2048;
#endif
/// Blocks that a multiprocessor holds, as registers allow: they fill the time in which others wait for memory.
template <class T>
constexpr int blocks_of(int steps) {
  const int blocks = steps != kSteps || sizeof(T) > 8 ? 4 : sizeof(T) > 4 ? 6 : 8;
  return std::min(blocks, kResident / kThreads);
}

/// Where the path goes: a step for each value, and one for each segment's end, which follows its last value.
template <class Offset>
struct Path {
  const Offset* offsets;
  std::uint64_t segments;
  std::uint64_t count;  ///< values
  int part;             ///< steps that a block takes

  __host__ __device__ std::uint64_t length() const { return count + segments; }
  __host__ __device__ std::uint64_t parts() const { return (length() + part - 1) / part; }
  /// Ends are read once: they should not drive what is gathered out of the caches.
  __device__ std::uint64_t end(std::uint64_t segment) const {
    return segment + 1 < segments ? __ldcs(offsets + segment + 1) : count;
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
  /// The part that passes the end of `segment`.
  __device__ std::uint32_t part_of_end(std::uint64_t segment) const {
    return static_cast<std::uint32_t>((end(segment) + segment) / part);
  }
  /// The parts that share `segment` with the one that it ends in. Its first value follows the end before.
  __device__ Sharers sharers(std::uint64_t segment) const {
    return {segment > 0 ? part_of_end(segment - 1) : 0, part_of_end(segment)};
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

template <class T>
__device__ Open<T> open_below(const Open<T>& open, int distance) {
  const bool behind = __shfl_up_sync(kWholeWarp, open.behind_an_end ? 1u : 0u, distance) != 0;
  return {from_below(open.sum, distance), behind};
}

/// What the threads before this one leave open together; `all` becomes that of the block. `of_warps` is shared memory.
template <class T, class Op>
__device__ Open<T> open_before(Open<T> own, Open<T>* of_warps, const T& identity, Op op,
                               Open<T>& all) {
  const int thread = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const Open<T> below = open_below(own, distance);
    if (thread >= distance) own = joined(below, own, op);
  }
  if (thread == 31) of_warps[warp] = own;
  Open<T> before = open_below(own, 1);
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

template <class T, int kThreadSteps>
struct Shared {
  T values[kThreads * kThreadSteps];
  std::uint32_t
      ends[kThreads * kThreadSteps];  ///< of the part's segments, in values from its first
  Open<T> of_warps[kWarps];
};

/// A block's part of the path.
struct Part {
  std::uint64_t first_segment, first_value;
  int segments, values;
};

/// How far the first value or end of a part lies behind the beginning of a line.
__device__ inline int behind_line(std::uint64_t first) { return static_cast<int>(first % kLine); }

/// Loads the values of a part, of which the first lies `shift` behind its line, in so many rounds of the block, all on their way
/// at once. Threads for which there is none in the first round or the last load the first.
template <int kRounds, int kThreadSteps, class T, class Load>
__device__ void load_rounds(const Part& part, int shift, const Load& load,
                            Shared<T, kThreadSteps>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint64_t line = part.first_value - shift + thread;
  T own[kRounds];
#pragma unroll
  for (int i = 0; i < kRounds; ++i) {
    std::uint64_t value = line + i * kThreads;
    if (i == 0 && thread < shift) value = part.first_value;
    if (i == kRounds - 1 && thread + i * kThreads >= shift + part.values) value = part.first_value;
    own[i] = load(value);
  }
#pragma unroll
  for (int i = 0; i < kRounds; ++i) shared.values[thread + i * kThreads] = own[i];
}

/// The same in as many rounds as it takes, at most kMost.
template <int kMost, int kThreadSteps, class T, class Load>
__device__ void load_values(int rounds, const Part& part, int shift, const Load& load,
                            Shared<T, kThreadSteps>& shared) {
  if (rounds == kMost) {
    load_rounds<kMost>(part, shift, load, shared);
  } else if constexpr (kMost > 1) {
    load_values<kMost - 1>(rounds, part, shift, load, shared);
  }
}

template <int kThreadSteps, class T, class Offset, class Load>
__device__ void load_part(const Path<Offset>& path, const Part& part, const Load& load,
                          Shared<T, kThreadSteps>& shared) {
  const auto end = [&](int at) {
    return static_cast<std::uint32_t>(path.end(part.first_segment + at) - part.first_value);
  };
  int at = static_cast<int>(threadIdx.x) - behind_line(part.first_segment + 1);
  const bool has_end = at >= 0 && at < part.segments;
  const std::uint32_t own_end = has_end ? end(at) : 0;  // on its way while values are
  const int shift = behind_line(part.first_value);
  const int rounds = part.values > 0 ? (shift + part.values + kThreads - 1) / kThreads : 0;
  load_values<kThreadSteps>(rounds, part, shift, load, shared);
  if (has_end) shared.ends[at] = own_end;
  for (at += kThreads; at < part.segments; at += kThreads) shared.ends[at] = end(at);
}

/// Ends among the part's first `steps` steps.
template <class T, int kThreadSteps>
__device__ int ends_before(const Shared<T, kThreadSteps>& shared, const Part& part, int steps) {
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

/// What a plan says of the parts, and where they leave what they share.
struct Plan {
  std::uint64_t* segments_before;  ///< [parts + 1]
  SharedSegments shared;
};

/// Brings what a part has of segments that it shares. `before_end` is of the thread whose `ends_first`.
template <class T, class Op>
__device__ void meet(const Plan& plan, const Shares& shares, const Part& part, const T& before_end,
                     bool ends_first, const T& behind_ends, T* out, const T& identity, Op op) {
  const SharedSegments& shared = plan.shared;
  const std::size_t words = std::size_t{blockIdx.x} * kSharedWords<T>;
  const unsigned who = __ballot_sync(kWholeWarp, ends_first);
  if (who != 0) {
    T* const result = out + part.first_segment;
    if (shares.ending.first == shares.ending.last) {
      if (ends_first) *result = before_end;
    } else {
      bring(shared, shares.ending, shared.ending + words, before_end,
            31 - __clz(static_cast<int>(who)), result, identity, op);
    }
  }
  if (threadIdx.x >= kThreads - 32 && blockIdx.x + 1 < gridDim.x)
    bring(shared, shares.open, shared.open + words, behind_ends, 31,
          out + part.first_segment + part.segments, identity, op);
}

/// Parts meet, or leave what they have open to join_kernel.
template <int kThreadSteps, class T, class Offset, class Load, class Op>
__global__ void __launch_bounds__(kThreads, blocks_of<T>(kThreadSteps))
    reduce_kernel(Path<Offset> path, Load load, T* out, Op op, T identity, Plan plan) {
  alignas(16)
      __shared__ unsigned char room[sizeof(Shared<T, kThreadSteps>)];  // T may have a constructor
  auto& shared = *reinterpret_cast<Shared<T, kThreadSteps>*>(room);
  device::start_successor();
  device::wait_for_predecessor();
  constexpr int kPart = part_of(kThreadSteps);
  constexpr bool kMeet = kThreadSteps != kSteps;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kPart;
  const std::uint64_t first = plan.segments_before[blockIdx.x];
  const std::uint64_t behind = plan.segments_before[blockIdx.x + 1];
  Shares shares{};
  if constexpr (kMeet) shares = plan.shared.shares[blockIdx.x];
  const std::uint64_t left = path.length() - begin;
  const int steps = left < kPart ? static_cast<int>(left) : kPart;
  const Part part{.first_segment = first,
                  .first_value = begin - first,
                  .segments = static_cast<int>(behind - first),
                  .values = steps - static_cast<int>(behind - first)};
  load_part(path, part, load, shared);
  __syncthreads();  // values and ends are there
  const int from = static_cast<int>(threadIdx.x) * kThreadSteps;
  const int own_from = from < steps ? from : steps;
  const int own_steps = steps - own_from < kThreadSteps ? steps - own_from : kThreadSteps;
  const int first_end = ends_before(shared, part, own_from);
  const T* const values = shared.values + behind_line(part.first_value);
  int next_end = first_end, value = own_from - first_end;
  T sum = identity, first_sum = identity;
#pragma unroll
  for (int i = 0; i < kThreadSteps; ++i) {
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
      sum = op(sum, values[value++]);
    }
  }
  Open<T> all;
  const bool ends = next_end > first_end;
  const Open<T> before = open_before(Open<T>{sum, ends}, shared.of_warps, identity, op, all);
  const T before_end = op(before.sum, first_sum);
  if (ends && (!kMeet || before.behind_an_end)) out[part.first_segment + first_end] = before_end;
  if constexpr (kMeet) {
    meet(plan, shares, part, before_end, ends && !before.behind_an_end, all.sum, out, identity, op);
  } else if (threadIdx.x == 0) {
    leave(plan.shared.open + std::size_t{blockIdx.x} * kSharedWords<T>, all.sum);
  }
}

/// Clears the `words` of what parts share, too.
template <class Offset>
__global__ void __launch_bounds__(kThreads) plan_kernel(Path<Offset> path, Plan plan, int words) {
  const std::uint64_t part = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint64_t parts = path.parts();
  if (part > parts) return;
  const auto segments_before = [&](std::uint64_t of) {
    return of < parts ? path.segments_before(of * path.part) : path.segments;
  };
  const std::uint64_t first = segments_before(part);
  plan.segments_before[part] = first;
  if (part == parts) return;
  const std::uint64_t open = segments_before(part + 1);
  const SharedSegments& shared = plan.shared;
  shared.shares[part] = {.ending = first < open ? path.sharers(first) : Sharers{},
                         .open = open < path.segments ? path.sharers(open) : Sharers{}};
  shared.have_come[part] = 0;
  for (int w = 0; w < words; ++w) {
    shared.open[part * words + w] = 0;
    shared.ending[part * words + w] = 0;
  }
}

template <class Offset>
Path<Offset> path_of(std::uint64_t count, const SegmentOffsets<Offset>& segments, int steps) {
  return {.offsets = segments.offsets,
          .segments = segments.segments,
          .count = count,
          .part = part_of(steps)};
}
template <class Offset>
Path<Offset> path_of(std::uint64_t count, const SegmentOffsets<Offset>& segments) {
  return path_of(count, segments, steps_for(count + segments.segments));
}

inline dim3 blocks_for(std::uint64_t threads) {
  return dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads));
}

/// Where what lies in scratch, and the bytes of all.
template <class T>
std::size_t lay_out(std::uint64_t parts, void* scratch, Plan& plan) {
  std::size_t bytes = 0;
  const auto room = [&](auto*& array, std::uint64_t count) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(
        static_cast<unsigned char*>(scratch) + bytes);
    bytes += (count * sizeof(*array) + 255) / 256 * 256;
  };
  room(plan.segments_before, parts + 1);
  room(plan.shared.shares, parts);
  room(plan.shared.open, parts * kSharedWords<T>);
  room(plan.shared.ending, parts * kSharedWords<T>);
  room(plan.shared.have_come, parts);
  return bytes;
}

template <class T, class Offset>
cudaError_t plan_path(const Path<Offset>& path, void* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  Plan plan;
  if (scratch_bytes < lay_out<T>(path.parts(), scratch, plan)) return cudaErrorInvalidValue;
  return device::launch_kernel(plan_kernel<Offset>, blocks_for(path.parts() + 1), kThreads, stream,
                               path, plan, kSharedWords<T>);
}

template <class T, class Offset, class Load, class Op>
cudaError_t reduce_path(const Path<Offset>& path, const Load& load, T* out, const Op& op,
                        const T& identity, void* scratch, std::size_t scratch_bytes,
                        cudaStream_t stream) {
  Plan plan;
  const std::uint64_t parts = path.parts();
  if (scratch_bytes < lay_out<T>(parts, scratch, plan)) return cudaErrorInvalidValue;
  if (path.segments == 0) return cudaSuccess;
  const auto launch = [&]<auto kKernel>() {
    return device::launch_after<kKernel>(dim3(static_cast<unsigned>(parts)), kThreads, stream, path,
                                         load, out, op, identity, plan);
  };
  if (path.part == part_of(kShortestSteps))
    return launch.template operator()<reduce_kernel<kShortestSteps, T, Offset, Load, Op>>();
  if (path.part == part_of(kShortSteps))
    return launch.template operator()<reduce_kernel<kShortSteps, T, Offset, Load, Op>>();
  if (const cudaError_t error =
          launch.template operator()<reduce_kernel<kSteps, T, Offset, Load, Op>>())
    return error;
  return device::launch_after<join_kernel<kThreads, T, Op>>(blocks_for(parts), kThreads, stream,
                                                            parts, plan.segments_before,
                                                            plan.shared, out, op, identity);
}

}  // namespace segmented_reduce_detail

/// Scratch for plan and reduction.  Units: bytes
template <class T, class Offset>
std::size_t segmented_reduce_scratch_bytes(std::uint64_t count,
                                           const SegmentOffsets<Offset>& segments) {
  using namespace segmented_reduce_detail;
  Plan plan;
  return lay_out<T>(path_of(count, segments).parts(), nullptr, plan);
}

/// Enqueues the plan: where blocks begin, and which of them share segments. It serves any number of reductions over these
/// segments with this scratch, one after the other.
/// Shapes      scratch, 256-byte aligned, device memory
/// Errors      cudaErrorInvalidValue (too little scratch), or the launch's own
template <class T, class Offset>
cudaError_t plan_segmented_reduce(std::uint64_t count, const SegmentOffsets<Offset>& segments,
                                  void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  using namespace segmented_reduce_detail;
  return plan_path<T>(path_of(count, segments), scratch, scratch_bytes, stream);
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
  return reduce_path(path_of(count, segments), load, out, op, identity, scratch, scratch_bytes,
                     stream);
}

}  // namespace gdelta
