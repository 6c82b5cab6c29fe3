// Stands in for CUDA's runtime and language extensions: what kernels use of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

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
struct SimulatedIndex3 {
  SimulatedIndex x;
};
inline constexpr SimulatedIndex3 threadIdx{{simulator::thread_index}};
inline constexpr SimulatedIndex3 blockIdx{{simulator::block_index}};
inline constexpr SimulatedIndex3 blockDim{{[] { return simulator::grid().threads; }}};
inline constexpr SimulatedIndex3 gridDim{{[] { return simulator::grid().blocks; }}};

struct uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct uint2 {
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
inline void __syncwarp() { simulator::exchange_word(0, 0); }

template <class T>
T __shfl_sync(unsigned, T value, int from, int width = 32) {
  const int lane = static_cast<int>(simulator::thread_index() & 31);
  return simulator::exchange(value, static_cast<unsigned>(lane / width * width + from % width));
}
template <class T>
T __shfl_up_sync(unsigned, T value, int distance, int width = 32) {
  const int lane = static_cast<int>(simulator::thread_index() & 31);
  const int from = lane % width >= distance ? lane - distance : lane;
  return simulator::exchange(value, static_cast<unsigned>(from));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return simulator::exchange(value, (simulator::thread_index() & 31) ^ static_cast<unsigned>(mask));
}

inline unsigned __ballot_sync(unsigned, bool mine) { return simulator::vote(mine); }
inline bool __all_sync(unsigned, bool mine) { return simulator::vote(mine) == ~0u; }
inline bool __any_sync(unsigned, bool mine) { return simulator::vote(mine) != 0; }

inline int __popc(unsigned word) { return std::popcount(word); }
inline int __clz(unsigned word) { return std::countl_zero(word); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((std::uint64_t{high} << 32) | low) >> min(shift, 32u));
}
/// Digit k of `selector`, of four bits, says which byte of the pair becomes byte k.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t pair = (std::uint64_t{high} << 32) | low;
  unsigned word = 0;
  for (int k = 0; k < 4; ++k)
    word |= static_cast<unsigned>((pair >> (8 * ((selector >> (4 * k)) & 7))) & 255) << (8 * k);
  return word;
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Product = unsigned __int128;
  return static_cast<unsigned long long>((Product{a} * b) >> 64);
}

template <class T>
T atomicAdd(T* p, T value) {
  return std::atomic_ref<T>(*p).fetch_add(value);
}
inline unsigned atomicOr(unsigned* p, unsigned value) {
  return std::atomic_ref<unsigned>(*p).fetch_or(value);
}
inline unsigned long long atomicMin(unsigned long long* p, unsigned long long value) {
  std::atomic_ref<unsigned long long> word(*p);
  unsigned long long before = word.load();
  while (value < before && !word.compare_exchange_weak(before, value)) {
  }
  return before;
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

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorNotSupported = 801 };
using cudaStream_t = void*;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeProgrammaticStreamSerialization,
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int cooperative;
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

template <class Kernel, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, Kernel kernel,
                               const Arguments&... arguments) {
  simulator::Grid grid{config->gridDim.x, config->blockDim.x, 1, false, config->dynamicSmemBytes};
  if (grid.threads > 1024 ||
      grid.shared_bytes > simulator::shared_limit(reinterpret_cast<const void*>(kernel)))
    return cudaErrorInvalidValue;
  for (unsigned a = 0; a < config->numAttrs; ++a) {
    const cudaLaunchAttribute& attribute = config->attrs[a];
    if (attribute.id == cudaLaunchAttributeCooperative) grid.cooperative = true;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      grid.cluster = attribute.val.clusterDim.x;
  }
  if (grid.cooperative && grid.blocks > simulator::kMultiprocessors) return cudaErrorInvalidValue;
  simulator::launch(grid, [&] { kernel(arguments...); });
  return cudaSuccess;
}

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  int ptxVersion;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  *attributes = {0, __CUDA_ARCH__ / 10};
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int bytes) {
  if (bytes > simulator::kSharedBytes) return cudaErrorInvalidValue;
  simulator::set_shared_limit(kernel, static_cast<std::size_t>(bytes));
  return cudaSuccess;
}

enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
};
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = simulator::kMultiprocessors;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = simulator::kSharedBytes;
      break;
  }
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = simulator::current_device();
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* p, int byte, std::size_t bytes, cudaStream_t) {
  std::memset(p, byte, bytes);
  return cudaSuccess;
}
