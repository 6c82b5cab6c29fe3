// Stands in for CUDA's runtime and language extensions: what kernels use of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/device.h"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define __CUDA_ARCH__ 900

// ---- Language

struct SimulatedIndex {
  unsigned (*of)();
  operator unsigned() const { return of(); }
};
struct SimulatedIndex2 {
  SimulatedIndex x, y;
};
inline constexpr SimulatedIndex kFirstIndex{[] { return 0u; }};
inline constexpr SimulatedIndex kOneIndex{[] { return 1u; }};
inline constexpr SimulatedIndex2 threadIdx{{simulator::thread_index}, kFirstIndex};
inline constexpr SimulatedIndex2 blockIdx{{simulator::block_column}, {simulator::block_row}};
inline constexpr SimulatedIndex2 blockDim{{[] { return simulator::grid().threads; }}, kOneIndex};
inline constexpr SimulatedIndex2 gridDim{{[] { return simulator::grid().columns; }},
                                         {[] { return simulator::grid().rows; }}};

struct alignas(16) uint4 {  // as on a device
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct alignas(8) uint2 {
  unsigned x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct ulonglong2 {
  unsigned long long x, y;
};
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

using std::max;
using std::min;

inline void __syncthreads() { simulator::sync_threads(); }
inline int __syncthreads_and(int mine) { return simulator::vote_of_block(mine != 0) & 1; }
inline int __syncthreads_or(int mine) { return (simulator::vote_of_block(mine != 0) & 2) != 0; }
inline void __syncwarp(unsigned mask = ~0u) { simulator::sync_warp(mask); }

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int lane = static_cast<int>(simulator::thread_index() & 31);
  return simulator::exchange(mask, value,
                             static_cast<unsigned>(lane / width * width + (from & (width - 1))));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int distance, int width = 32) {
  const int lane = static_cast<int>(simulator::thread_index() & 31);
  const int from = lane % width >= distance ? lane - distance : lane;
  return simulator::exchange(mask, value, static_cast<unsigned>(from));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return simulator::exchange(mask, value,
                             (simulator::thread_index() & 31) ^ static_cast<unsigned>(bits));
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(mask, value, bits);
  return value;
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  for (int bits = 16; bits > 0; bits /= 2)
    value = std::min(value, __shfl_xor_sync(mask, value, bits));
  return value;
}

/// Threads that happen to run together: none ever do.
inline unsigned __activemask() { return 1u << (simulator::thread_index() & 31); }
template <class T>
unsigned __match_any_sync(unsigned mask, T) {
  return mask;
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
  const unsigned lane = simulator::thread_index() & 31;
  const unsigned from = lane + distance;
  return simulator::exchange(mask, value, from < 32 && (mask >> from & 1) != 0 ? from : lane);
}

inline unsigned __ballot_sync(unsigned mask, bool mine) { return simulator::vote(mask, mine); }
inline bool __all_sync(unsigned mask, bool mine) { return simulator::vote_of_all(mask, mine); }
inline bool __any_sync(unsigned mask, bool mine) { return simulator::vote(mask, mine) != 0; }

inline int __popc(unsigned word) { return std::popcount(word); }
inline int __clz(unsigned word) { return std::countl_zero(word); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline int __clzll(long long word) {
  return std::countl_zero(static_cast<unsigned long long>(word));
}
inline int __ffs(int word) {
  return std::countr_zero(static_cast<unsigned>(word)) % 32 + (word != 0 ? 1 : 0);
}
inline int __ffsll(long long word) {
  return std::countr_zero(static_cast<unsigned long long>(word)) % 64 + (word != 0 ? 1 : 0);
}
/// The upper half of a product.
inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned __brev(unsigned word) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (word >> bit & 1) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long word) {
  return std::uint64_t{__brev(static_cast<unsigned>(word))} << 32 |
         __brev(static_cast<unsigned>(word >> 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((((std::uint64_t{high} << 32) | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) >> min(shift, 32u));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) << min(shift, 32u) >> 32);
}
/// Digit k of `selector`, of four bits, says which byte of the pair becomes byte k.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t pair = (std::uint64_t{high} << 32) | low;
  unsigned word = 0;
  for (int k = 0; k < 4; ++k)
    word |= static_cast<unsigned>((pair >> (8 * ((selector >> (4 * k)) & 7))) & 255) << (8 * k);
  return word;
}
/// The float nearest to a number of those that are no further from zero.
inline float float_toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(nearest) > std::fabs(value) ? std::nextafterf(nearest, 0.0f) : nearest;
}
inline float __int2float_rz(int value) { return float_toward_zero(value); }
inline float __fadd_rz(float a, float b) { return float_toward_zero(double{a} + double{b}); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
/// Adds the products of the bytes of two words to a sum.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int byte = 0; byte < 32; byte += 8) sum += (a >> byte & 255) * (b >> byte & 255);
  return sum;
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Product = unsigned __int128;
  return static_cast<unsigned long long>((Product{a} * b) >> 64);
}

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*p).fetch_add(value);
}
template <class T>
T atomicOr(T* p, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*p).fetch_or(value);
}
/// Replaces the word by new_word(word) unless that is what it was; returns what it was.
template <class T, class NewWord>
T simulated_atomic(T* p, NewWord new_word) {
  std::atomic_ref<T> word(*p);
  T before = word.load();
  while (new_word(before) != before && !word.compare_exchange_weak(before, new_word(before))) {
  }
  return before;
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> value) {
  return simulated_atomic(p, [=](T word) { return std::min(word, value); });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> value) {
  return simulated_atomic(p, [=](T word) { return std::max(word, value); });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return simulated_atomic(p, [=](T word) { return word == expected ? value : word; });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*p).exchange(value);
}

template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, T value) {
  *p = value;
}
template <class T>
void __stcg(T* p, T value) {
  *p = value;
}

// ---- Runtime: everything is done when a call returns

#include "simulator/runtime.h"
