// Stands in for kernels/device/ptx.cuh: the same functions on the simulated device.
#pragma once

#include <cuda_runtime.h>

#include "gdelta/device_access.cuh"
#include "simulator/bulk.h"

namespace gdelta::device {

template <class T>
const T* forget_origin(const T* pointer) {
  return pointer;
}

inline int forget(int value) { return value; }

struct SharedPlace {
  explicit SharedPlace(const void* p) : at(static_cast<const unsigned char*>(p)) {}
  SharedPlace& operator+=(std::uint32_t bytes) {
    at += bytes;
    return *this;
  }
  template <int kBehind = 0>
  std::uint32_t load_two() const {
    return *reinterpret_cast<const std::uint16_t*>(at + kBehind);
  }
  std::uint32_t load_four() const { return *reinterpret_cast<const std::uint32_t*>(at); }
  uint2 load_eight() const { return *reinterpret_cast<const uint2*>(at); }

  const unsigned char* at;
};
inline SharedPlace operator+(SharedPlace place, std::uint32_t bytes) { return place += bytes; }

/// Whoever reads in a loop lets others write.
inline unsigned long long load_relaxed(const unsigned long long* p) {
  simulator::yield();
  return std::atomic_ref<unsigned long long>(*const_cast<unsigned long long*>(p)).load();
}
inline void load_relaxed_pair(const unsigned long long* p, unsigned long long* v) {
  v[0] = load_relaxed(p);
  v[1] = load_relaxed(p + 1);
}
inline void store_relaxed(unsigned long long* p, unsigned long long v) {
  std::atomic_ref<unsigned long long>(*p).store(v);
}
inline void add_relaxed(unsigned long long* p, unsigned long long v) {
  std::atomic_ref<unsigned long long>(*p).fetch_add(v);
}

inline void store_if(bool does, std::uint16_t* to, std::uint16_t value) {
  if (does) *to = value;
}

inline void prefetch_to_l2(const void*) {}

inline int thread_of_warp() { return static_cast<int>(threadIdx.x & 31); }

inline void start_successor() {}
inline void wait_for_predecessor() { simulator::wait_for_predecessor(); }

inline void cluster_arrive() { simulator::arrive_in_cluster(); }
inline void cluster_wait() { simulator::wait_for_cluster(); }
template <class Word>
void store_remote(Word* mine, int block, Word value) {
  *static_cast<Word*>(simulator::in_block(mine, static_cast<unsigned>(block))) = value;
}

template <int kSpan = 32, class Word>
void add_from_below(Word& sum, int distance) {
  const Word below = __shfl_up_sync(~0u, sum, distance, kSpan);
  if (thread_of_warp() % kSpan >= distance) sum += below;
}

template <class Word>
void add_from_stretch(Word& sum, int distance, int first) {
  const Word below = __shfl_up_sync(~0u, sum, distance);
  if (thread_of_warp() - distance >= first) sum += below;
}
template <class Word>
void add_both_from_stretch(Word& once, Word& twice, int distance, int first, Word steps) {
  const Word below = __shfl_up_sync(~0u, once, distance);
  const Word below_twice = __shfl_up_sync(~0u, twice, distance);
  if (thread_of_warp() - distance < first) return;
  twice += below * steps + below_twice;
  once += below;
}
template <class Word>
void add_where(Word& sum, std::uint32_t bits, std::uint32_t mask, Word more) {
  if ((bits & mask) != 0) sum += more;
}

inline void park(uint4* shared, const void* granule) { simulator::copy_later(shared, granule, 16); }
inline void wait_for_parked() { simulator::wait_for_all_copies(); }

using simulator::barrier_arrive;
using simulator::barrier_expect;
using simulator::barrier_init;
using simulator::barrier_wait;
using simulator::bulk_load;
using simulator::bulk_store;
using simulator::bulk_wait;
using simulator::bulk_wait_until_read;
using simulator::fence_bulk;
inline void fence_barrier_init() {}

}  // namespace gdelta::device
