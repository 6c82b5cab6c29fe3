// What CUDA C++ has no name for: instructions of the PTX ISA, beside those that installed headers need
// (gdelta/device_access.cuh). Kernels use these functions and no `asm`, so that tests can run them
// if there is no GPU (tests/simulator).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "gdelta/device_access.cuh"

namespace gdelta::device {

// ---- Memory

/// The same pointer, of which the compiler no longer knows where it points.
template <class T>
__device__ __forceinline__ const T* forget_origin(const T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

/// The same value, new to the compiler: what is computed from it is computed where it stands, not
/// ahead of a loop and kept in registers.
__device__ __forceinline__ int forget(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

/// Two words at once, 16-byte aligned; each stands for itself, the pair may tear.
__device__ __forceinline__ void load_relaxed_pair(const unsigned long long* p,
                                                  unsigned long long* v) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(v[0]), "=l"(v[1])
               : "l"(p)
               : "memory");
}

__device__ __forceinline__ void store_relaxed(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

__device__ __forceinline__ void add_relaxed(unsigned long long* p, unsigned long long v) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/// Stores without a branch, behind which threads would have to come together again.
__device__ __forceinline__ void store_if(bool does, std::uint16_t* to, std::uint16_t value) {
  asm volatile("{ .reg .pred does; setp.ne.s32 does, %0, 0; @does st.global.u16 [%1], %2; }" ::"r"(
                   static_cast<int>(does)),
               "l"(to), "h"(value)
               : "memory");
}

/// The line's bytes will be wanted.
__device__ __forceinline__ void prefetch_to_l2(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

// ---- Threads

/// The thread's number in its warp, kept in a register: reading it again would cost more.
__device__ __forceinline__ int thread_of_warp() {
  int thread;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(thread));
  return thread;
}

// ---- Programmatic launch and clusters; nothing on devices that have neither

/// The next kernel of the stream may start, if it was launched so; it waits by itself.
__device__ __forceinline__ void start_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Everything before this kernel is done and visible.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// Writes a word into the shared memory of a block of the cluster, at the place that this block has as
/// `mine`.
template <class Word>
__device__ __forceinline__ void store_remote(Word* mine, int block, Word value) {
#if __CUDA_ARCH__ >= 900
  const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(block));
  if constexpr (sizeof(Word) == 8) {
    unsigned long long bits;
    memcpy(&bits, &value, 8);
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(remote), "l"(bits) : "memory");
  } else {
    std::uint32_t bits;
    memcpy(&bits, &value, 4);
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(bits) : "memory");
  }
#endif
}

// ---- Sums over a warp

/// Adds the sum of the thread `distance` below, if there is one in the span of kSpan threads; the whole
/// warp calls it. The shuffle says by itself whether there is one.
template <int kSpan = 32>
__device__ __forceinline__ void add_from_below(std::uint32_t& sum, int distance) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 below;\n"
      "shfl.sync.up.b32 below|there, %0, %1, %2, 0xffffffff;\n"
      "@there add.u32 %0, %0, below;\n"
      "}"
      : "+r"(sum)
      : "r"(distance), "n"((32 - kSpan) << 8));
}
template <int kSpan = 32>
__device__ __forceinline__ void add_from_below(std::uint64_t& sum, int distance) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 low, high;\n"
      ".reg .u64 below;\n"
      "mov.b64 {low, high}, %0;\n"
      "shfl.sync.up.b32 low|there, low, %1, %2, 0xffffffff;\n"
      "shfl.sync.up.b32 high, high, %1, %2, 0xffffffff;\n"
      "mov.b64 below, {low, high};\n"
      "@there add.u64 %0, %0, below;\n"
      "}"
      : "+l"(sum)
      : "r"(distance), "n"((32 - kSpan) << 8));
}

/// Sums over stretches of threads: adds the sum of the thread `distance` below if that is thread `first` or one above it.
/// Each thread says its own `first`, at most itself; the whole warp calls it.
__device__ __forceinline__ void add_from_stretch(std::uint32_t& sum, int distance, int first) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 below;\n"
      "shfl.sync.up.b32 below|there, %0, %1, %2, 0xffffffff;\n"
      "@there add.u32 %0, %0, below;\n"
      "}"
      : "+r"(sum)
      : "r"(distance), "r"(first));
}
__device__ __forceinline__ void add_from_stretch(std::uint64_t& sum, int distance, int first) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 low, high;\n"
      ".reg .u64 below;\n"
      "mov.b64 {low, high}, %0;\n"
      "shfl.sync.up.b32 low|there, low, %1, %2, 0xffffffff;\n"
      "shfl.sync.up.b32 high, high, %1, %2, 0xffffffff;\n"
      "mov.b64 below, {low, high};\n"
      "@there add.u64 %0, %0, below;\n"
      "}"
      : "+l"(sum)
      : "r"(distance), "r"(first));
}

/// The same with a second sum, to which the first adds itself once at each of `steps` values of the threads between.
__device__ __forceinline__ void add_both_from_stretch(std::uint32_t& once, std::uint32_t& twice,
                                                      int distance, int first,
                                                      std::uint32_t steps) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 below, below_twice;\n"
      "shfl.sync.up.b32 below|there, %0, %2, %3, 0xffffffff;\n"
      "shfl.sync.up.b32 below_twice, %1, %2, %3, 0xffffffff;\n"
      "@there mad.lo.u32 %1, below, %4, %1;\n"
      "@there add.u32 %1, %1, below_twice;\n"
      "@there add.u32 %0, %0, below;\n"
      "}"
      : "+r"(once), "+r"(twice)
      : "r"(distance), "r"(first), "r"(steps));
}
__device__ __forceinline__ void add_both_from_stretch(std::uint64_t& once, std::uint64_t& twice,
                                                      int distance, int first,
                                                      std::uint64_t steps) {
  asm volatile(
      "{\n"
      ".reg .pred there;\n"
      ".reg .u32 low, high;\n"
      ".reg .u64 below, below_twice;\n"
      "mov.b64 {low, high}, %0;\n"
      "shfl.sync.up.b32 low|there, low, %2, %3, 0xffffffff;\n"
      "shfl.sync.up.b32 high, high, %2, %3, 0xffffffff;\n"
      "mov.b64 below, {low, high};\n"
      "mov.b64 {low, high}, %1;\n"
      "shfl.sync.up.b32 low, low, %2, %3, 0xffffffff;\n"
      "shfl.sync.up.b32 high, high, %2, %3, 0xffffffff;\n"
      "mov.b64 below_twice, {low, high};\n"
      "@there mad.lo.u64 %1, below, %4, %1;\n"
      "@there add.u64 %1, %1, below_twice;\n"
      "@there add.u64 %0, %0, below;\n"
      "}"
      : "+l"(once), "+l"(twice)
      : "r"(distance), "r"(first), "l"(steps));
}

/// Adds `more` where `bits` has the bit `mask`: one instruction behind those that make predicates of seven bits at once.
__device__ __forceinline__ void add_where(std::uint32_t& sum, std::uint32_t bits,
                                          std::uint32_t mask, std::uint32_t more) {
  asm("{\n"
      ".reg .pred there;\n"
      ".reg .b32 bit;\n"
      "and.b32 bit, %1, %2;\n"
      "setp.ne.u32 there, bit, 0;\n"
      "@there add.u32 %0, %0, %3;\n"
      "}"
      : "+r"(sum)
      : "r"(bits), "r"(mask), "r"(more));
}
__device__ __forceinline__ void add_where(std::uint64_t& sum, std::uint32_t bits,
                                          std::uint32_t mask, std::uint64_t more) {
  asm("{\n"
      ".reg .pred there;\n"
      ".reg .b32 bit;\n"
      "and.b32 bit, %1, %2;\n"
      "setp.ne.u32 there, bit, 0;\n"
      "@there add.u64 %0, %0, %3;\n"
      "}"
      : "+l"(sum)
      : "r"(bits), "r"(mask), "l"(more));
}

// ---- Asynchronous copies of a thread

/// Global to shared memory without registers; `wait_for_parked` waits for all of this thread's.
__device__ __forceinline__ void park(uint4* shared, const void* granule) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(granule)
               : "memory");
#else
  *shared = *static_cast<const uint4*>(granule);
#endif
}

__device__ __forceinline__ void wait_for_parked() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// ---- Bulk asynchronous copies (sm_90 and newer), and the mbarriers that they and warps complete on (sm_80 and newer)

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A place in shared memory as one register. What is added to it is added where that is written, and not taken
/// apart into what other sums begin with.
struct SharedPlace {
  __device__ __forceinline__ explicit SharedPlace(const void* p) : at(shared_address(p)) {
    asm volatile("" : "+r"(at));
  }
  __device__ __forceinline__ SharedPlace& operator+=(std::uint32_t bytes) {
    at += bytes;
    return *this;
  }
  /// `kBehind` bytes behind it, aligned to their size: two, four or eight.
  template <int kBehind = 0>
  __device__ __forceinline__ std::uint32_t load_two() const {
    std::uint32_t value;
    asm volatile("ld.shared.u16 %0, [%1+%2];" : "=r"(value) : "r"(at), "n"(kBehind) : "memory");
    return value;
  }
  __device__ __forceinline__ std::uint32_t load_four() const {
    std::uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
    return value;
  }
  __device__ __forceinline__ uint2 load_eight() const {
    uint2 value;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(value.x), "=r"(value.y)
                 : "r"(at)
                 : "memory");
    return value;
  }

  std::uint32_t at;
};
__device__ __forceinline__ SharedPlace operator+(SharedPlace place, std::uint32_t bytes) {
  return place += bytes;
}

__device__ __forceinline__ void barrier_init(unsigned long long* barrier, int arrivals) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#endif
}

/// One arrival, after everything that this thread has written.
__device__ __forceinline__ void barrier_arrive(unsigned long long* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#endif
}

__device__ __forceinline__ void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned long long* barrier, int parity) {
#if __CUDA_ARCH__ >= 900
#define GDELTA_TEST_BARRIER "mbarrier.try_wait.parity.shared::cta.b64"
#else
#define GDELTA_TEST_BARRIER "mbarrier.test_wait.parity.shared::cta.b64"
#endif
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n" GDELTA_TEST_BARRIER
      " done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
#undef GDELTA_TEST_BARRIER
}

__device__ __forceinline__ void bulk_load(void* shared, std::intptr_t global, int bytes,
                                          unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void bulk_store(std::intptr_t global, const void* shared, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

/// Waits until the stores of this thread have read shared memory, or are done.
__device__ __forceinline__ void bulk_wait_until_read() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Makes what this thread has written to shared memory visible to bulk copies, or the barriers that
/// it has set up to everybody.
__device__ __forceinline__ void fence_bulk() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace gdelta::device
