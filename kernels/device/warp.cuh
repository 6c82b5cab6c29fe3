// What the threads of a warp do together: sums, and a search. The whole warp calls each of these.
#pragma once

#include <cstdint>

namespace gdelta::device {

inline constexpr unsigned kWholeWarp = 0xffffffffu;

/// The sum of all threads' values.
template <class Value>
__device__ Value warp_sum(Value value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(kWholeWarp, value, distance);
  return value;
}

#if __CUDA_ARCH__ >= 800
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
  return __reduce_add_sync(kWholeWarp, value);
}
#endif

/// The sum of this thread's value and of those of the threads before it.
template <class Value>
__device__ Value warp_prefix(Value value) {
  const int thread = threadIdx.x & 31;
  for (int distance = 1; distance < 32; distance *= 2) {
    const Value before = __shfl_up_sync(kWholeWarp, value, distance);
    if (thread >= distance) value += before;
  }
  return value;
}

/// The last i in [begin, end) with starts[i] <= item; all threads get it. A search with 32 probes a
/// round: three rounds find one of 32768 starts.
template <class Start>
__device__ std::uint32_t find_start(const Start* starts, std::uint32_t begin, std::uint32_t end,
                                    Start item) {
  const std::uint32_t thread = threadIdx.x & 31;
  while (end - begin > 1) {
    const std::uint32_t step = (end - begin + 31) / 32;
    const std::uint64_t probe = begin + static_cast<std::uint64_t>(thread) * step;
    const unsigned at_or_before = __ballot_sync(kWholeWarp, probe < end && starts[probe] <= item);
    begin += (31 - __clz(at_or_before)) * step;
    end = min(begin + step, end);
  }
  return begin;
}

}  // namespace gdelta::device
