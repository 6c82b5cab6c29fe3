// Stands in for CUDA's runtime: what gdelta uses of it, on simulated devices. Everything is done when
// a call returns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "simulator/device.h"
#include "simulator/device_memory.h"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801
};
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the simulated device";
}

struct CUstream_st;
/// A type of its own, so that launchers of the simulated device and those of the library have
/// different names.
class cudaStream_t {
 public:
  cudaStream_t(CUstream_st* stream = nullptr) : stream_(stream) {}
  operator CUstream_st*() const { return stream_; }

 private:
  CUstream_st* stream_;
};

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// ---- Launches

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
  simulator::Grid grid;
  grid.columns = config->gridDim.x;
  grid.rows = config->gridDim.y;
  grid.threads = config->blockDim.x;
  grid.shared_bytes = config->dynamicSmemBytes;
  if (grid.blocks() == 0 || grid.threads == 0 || grid.threads > 1024 ||
      grid.shared_bytes > simulator::shared_limit(reinterpret_cast<const void*>(kernel)))
    return cudaErrorInvalidValue;
  for (unsigned a = 0; a < config->numAttrs; ++a) {
    const cudaLaunchAttribute& attribute = config->attrs[a];
    if (attribute.id == cudaLaunchAttributeCooperative) grid.cooperative = true;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      grid.cluster = attribute.val.clusterDim.x;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      grid.overlaps = attribute.val.programmaticStreamSerializationAllowed != 0;
  }
  if (grid.cooperative && grid.blocks() > simulator::kMultiprocessors) return cudaErrorInvalidValue;
  return simulator::launch(grid, [&] { kernel(arguments...); }) ? cudaSuccess
                                                                : cudaErrorLaunchFailure;
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
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout,
};
enum { cudaSharedmemCarveoutMaxL1 = 0 };
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                        int bytes) {
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (bytes > simulator::shared_bytes()) return cudaErrorInvalidValue;
  simulator::set_shared_limit(kernel, static_cast<std::size_t>(bytes));
  return cudaSuccess;
}

// ---- Devices

enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
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
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = simulator::shared_bytes();
      break;
  }
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = simulator::kDevices;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = simulator::current_device();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= simulator::kDevices) return cudaErrorInvalidDevice;
  simulator::set_device(device);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
};
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::snprintf(properties->name, sizeof properties->name, "simulated device");
  properties->totalGlobalMem = simulator::kDeviceBytes;
  return cudaSuccess;
}

// ---- Memory and streams

inline cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  *data = simulator::allocate(bytes);
  return *data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return cudaMalloc(data, bytes);
}
inline cudaError_t cudaFree(void* data) {
  return simulator::release(data) ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaFreeHost(void* data) { return cudaFree(data); }
inline cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  *free_bytes = *all_bytes = simulator::kDeviceBytes;
  return cudaSuccess;
}
/// Only pinned memory is asked about, and it is the simulator's as that of the device is.
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost };
struct cudaPointerAttributes {
  cudaMemoryType type;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  attributes->type =
      simulator::is_allocated(data) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* data, int byte, std::size_t bytes) {
  if (bytes > 0) std::memset(data, byte, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* data, int byte, std::size_t bytes, cudaStream_t) {
  return cudaMemset(data, byte, bytes);
}
enum { cudaStreamNonBlocking = 1 };
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  static char streams;
  *stream = reinterpret_cast<CUstream_st*>(&streams);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
