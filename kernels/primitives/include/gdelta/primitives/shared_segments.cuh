// Segments that several parts of a reduction share: each part leaves in memory what it has open of one, which is put before
// what the part has where it ends, in the order of the parts. So results are the same bits on every run. For nvcc; nothing to
// link.
//
// Few parts bring what they have, and the one that comes last puts it together: no second kernel, and nobody waits. Half of
// every word of 64 bits in memory says that the other half is there, so a value needs no fence before the count of the
// parts that have come: who reads a word that is still on its way reads it again, and clears it for the next run.
// Of many parts blocks would stay for that, and others not begin: a second kernel joins what they have left.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/device/ptx.cuh"

namespace gdelta::segmented_reduce_detail {

constexpr unsigned kWholeWarp = 0xffffffff;

using SharedWord = unsigned long long;
template <class T>
constexpr int kSharedWords = sizeof(T) / 4;

/// The parts that share a segment, which ends in the last.
struct Sharers {
  std::uint32_t first, last;
};

/// With whom a part shares the first segment that ends in it, and the one that it leaves open.
struct alignas(16) Shares {
  Sharers ending, open;
};

/// What parts have of segments that they share.  Shapes: all [parts], a value in kSharedWords<T> words
struct SharedSegments {
  Shares* shares;
  SharedWord* open;     ///< behind a part's last end
  SharedWord* ending;   ///< before its first end, if parts meet
  unsigned* have_come;  ///< parts of the segment that ends first in this one
};

template <class T>
__device__ void leave(SharedWord* words, const T& value) {
  std::uint32_t halves[kSharedWords<T>];
  std::memcpy(halves, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < kSharedWords<T>; ++w)
    device::store_relaxed(words + w, SharedWord{1} << 32 | halves[w]);
}

/// A value as a look finds it, perhaps not all there yet.
template <class T>
struct Seen {
  SharedWord words[kSharedWords<T>];
};

template <class T>
__device__ Seen<T> look(const SharedWord* words) {
  Seen<T> seen;
#pragma unroll
  for (int w = 0; w < kSharedWords<T>; ++w) seen.words[w] = device::load_relaxed(words + w);
  return seen;
}

/// Waits until all of it is there, and clears it.
template <class T>
__device__ void take(SharedWord* words, Seen<T>& seen) {
#pragma unroll
  for (int w = 0; w < kSharedWords<T>; ++w) {
    while (seen.words[w] >> 32 == 0) seen.words[w] = device::load_relaxed(words + w);
    device::store_relaxed(words + w, 0);
  }
}

template <class T>
__device__ T value_of(const Seen<T>& seen) {
  std::uint32_t halves[kSharedWords<T>];
#pragma unroll
  for (int w = 0; w < kSharedWords<T>; ++w) halves[w] = static_cast<std::uint32_t>(seen.words[w]);
  T value;
  std::memcpy(&value, halves, sizeof(T));
  return value;
}

/// The value of the thread `distance` below in the warp.
template <class T>
__device__ T from_below(const T& value, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  std::uint32_t words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (std::uint32_t& word : words) word = __shfl_up_sync(kWholeWarp, word, distance);
  T below;
  std::memcpy(&below, words, sizeof(T));
  return below;
}

/// What the parts before the last have open, together, in the warp's last thread. For a whole warp, whose threads take
/// stretches of them; `kTakes`, perhaps while they come.
template <bool kTakes, class T, class Op>
__device__ T all_open(const SharedSegments& segments, const Sharers& sharers, const T& identity,
                      Op op) {
  constexpr int kWords = kSharedWords<T>;
  constexpr std::uint32_t kAtOnce = kWords == 1 ? 4 : 2;
  const auto thread = static_cast<std::uint32_t>(threadIdx.x) & 31;
  const std::uint32_t each = (sharers.last - sharers.first + 31) / 32;
  const std::uint64_t begin = sharers.first + std::uint64_t{thread} * each;
  const std::uint64_t left = begin < sharers.last ? sharers.last - begin : 0;
  const auto mine = static_cast<std::uint32_t>(left < each ? left : each);
  SharedWord* const words = segments.open + begin * kWords;
  T sum = identity;
  for (std::uint32_t i = 0; i < mine; i += kAtOnce) {
    Seen<T> seen[kAtOnce];
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k)
      if (i + k < mine) seen[k] = look<T>(words + std::size_t{i + k} * kWords);
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      if (i + k >= mine) continue;
      if constexpr (kTakes) take(words + std::size_t{i + k} * kWords, seen[k]);
      sum = op(sum, value_of(seen[k]));
    }
  }
  for (int distance = 1; distance < 32; distance *= 2) {
    const T below = from_below(sum, distance);
    if (thread >= static_cast<unsigned>(distance)) sum = op(below, sum);
  }
  return sum;
}

/// Brings `value` of a shared segment, which thread `who` of this warp has, to `words`, and puts the segment together if all
/// others have come before.
template <class T, class Op>
__device__ void bring(const SharedSegments& segments, const Sharers& sharers, SharedWord* words,
                      const T& value, int who, T* result, const T& identity, Op op) {
  const int thread = static_cast<int>(threadIdx.x) & 31;
  unsigned before = 0;
  if (thread == who) {
    leave(words, value);
    before = atomicAdd(segments.have_come + sharers.last, 1u);
  }
  before = __shfl_sync(kWholeWarp, before, who);
  if (before != sharers.last - sharers.first) return;
  SharedWord* const last = segments.ending + std::size_t{sharers.last} * kSharedWords<T>;
  Seen<T> seen = look<T>(last);
  const T open = all_open<true>(segments, sharers, identity, op);
  if (thread != 31) return;
  take(last, seen);
  *result = op(open, value_of(seen));
  segments.have_come[sharers.last] = 0;
}

/// Puts what the parts before have open before the first result of every part. A warp looks at 32 parts; where many parts share
/// a segment its threads share them.
template <int kThreads, class T, class Op>
__global__ void __launch_bounds__(kThreads)
    join_kernel(std::uint64_t parts, const std::uint64_t* segments_before, SharedSegments segments,
                T* out, Op op, T identity) {
  device::start_successor();
  device::wait_for_predecessor();
  const std::uint64_t part = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int thread = static_cast<int>(threadIdx.x) & 31;
  Sharers sharers{};
  std::uint64_t segment = 0;
  if (part < parts) {
    sharers = segments.shares[part].ending;
    segment = segments_before[part];
  }
  constexpr std::uint32_t kAlone = 4;  // parts that a thread looks at
  const std::uint32_t open = sharers.last - sharers.first;
  if (open > 0 && open <= kAlone) {
    const SharedWord* const words = segments.open + std::size_t{sharers.first} * kSharedWords<T>;
    Seen<T> seen[kAlone];
#pragma unroll
    for (std::uint32_t k = 0; k < kAlone; ++k)
      if (k < open) seen[k] = look<T>(words + k * kSharedWords<T>);
    T sum = identity;
#pragma unroll
    for (std::uint32_t k = 0; k < kAlone; ++k)
      if (k < open) sum = op(sum, value_of(seen[k]));
    out[segment] = op(sum, out[segment]);
  }
  for (unsigned long_ones = __ballot_sync(kWholeWarp, open > kAlone); long_ones != 0;
       long_ones &= long_ones - 1) {
    const int who = 31 - __clz(static_cast<int>(long_ones & (0 - long_ones)));
    const Sharers theirs{__shfl_sync(kWholeWarp, sharers.first, who),
                         __shfl_sync(kWholeWarp, sharers.last, who)};
    const std::uint64_t of = __shfl_sync(kWholeWarp, static_cast<unsigned long long>(segment), who);
    const T sum = all_open<false>(segments, theirs, identity, op);
    if (thread == 31) out[of] = op(sum, out[of]);
  }
}

}  // namespace gdelta::segmented_reduce_detail
