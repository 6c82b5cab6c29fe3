// Stands in for kernels/scan/ptx.cuh: the same functions on the simulated device. Bulk copies are
// done when they are asked for.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace gdelta::scan {

inline unsigned char* dynamic_shared() { return simulator::dynamic_shared(); }

template <class T>
const T* forget_origin(const T* pointer) {
  return pointer;
}

inline int forget(int value) { return value; }

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

inline void prefetch_to_l2(const void*) {}

inline int thread_of_warp() { return static_cast<int>(threadIdx.x & 31); }

inline void start_successor() {}
inline void wait_for_predecessor() {}

inline void cluster_arrive() { simulator::arrive_in_cluster(); }
inline void cluster_wait() { simulator::wait_for_cluster(); }
template <class Word>
void store_remote(Word* mine, int block, Word value) {
  *static_cast<Word*>(simulator::in_block(mine, static_cast<unsigned>(block))) = value;
}

template <class Word>
void add_from_below(Word& sum, int distance) {
  const Word below = __shfl_up_sync(~0u, sum, distance);
  if (thread_of_warp() >= distance) sum += below;
}

inline void park(uint4* shared, const void* granule) { simulator::copy_later(shared, granule, 16); }
inline void wait_for_parked() { simulator::wait_for_all_copies(); }

/// An mbarrier: arrivals and bytes that the phase still waits for.
struct Barrier {
  std::uint16_t arrivals;
  std::uint16_t pending : 15;
  std::uint16_t phase : 1;
  std::int32_t bytes;
};
static_assert(sizeof(Barrier) == sizeof(unsigned long long));

inline void update_barrier(unsigned long long* barrier, int arrivals, int bytes) {
  Barrier b;
  std::memcpy(&b, barrier, sizeof b);
  if (arrivals > b.pending) {
    std::fprintf(stderr, "simulator: more arrivals at a barrier than it was set up for\n");
    std::abort();
  }
  b.pending = static_cast<std::uint16_t>(b.pending - arrivals);
  b.bytes += bytes;
  if (b.pending == 0 && b.bytes == 0) {
    b.phase = b.phase ^ 1;
    b.pending = b.arrivals;
  }
  std::memcpy(barrier, &b, sizeof b);
}

inline void barrier_init(unsigned long long* barrier, int arrivals) {
  Barrier b{};
  b.arrivals = static_cast<std::uint16_t>(arrivals);
  b.pending = static_cast<std::uint16_t>(arrivals);
  std::memcpy(barrier, &b, sizeof b);
}
inline void barrier_arrive(unsigned long long* barrier) { update_barrier(barrier, 1, 0); }
inline void barrier_expect(unsigned long long* barrier, int bytes) {
  update_barrier(barrier, 1, bytes);
}
inline void barrier_wait(unsigned long long* barrier, int parity) {
  for (;;) {
    Barrier b;
    std::memcpy(&b, barrier, sizeof b);
    if (b.phase != parity) return;
    simulator::yield();
  }
}

inline void bulk_load(void* shared, std::intptr_t global, int bytes, unsigned long long* barrier) {
  std::memcpy(shared, reinterpret_cast<const void*>(global), static_cast<std::size_t>(bytes));
  update_barrier(barrier, 0, -bytes);
}
inline void bulk_store(std::intptr_t global, const void* shared, int bytes) {
  std::memcpy(reinterpret_cast<void*>(global), shared, static_cast<std::size_t>(bytes));
}
inline void bulk_wait_until_read() {}
inline void bulk_wait() {}
inline void fence_bulk() {}
inline void fence_barrier_init() {}

}  // namespace gdelta::scan
