// Stands in for CUDA's runtime and language extensions: what kernels/scan uses of them.
#pragma once

#include <algorithm>
#include <atomic>
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

template <class T>
T atomicAdd(T* p, T value) {
  return std::atomic_ref<T>(*p).fetch_add(value);
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
};
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->sharedSizeBytes = 0;
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
