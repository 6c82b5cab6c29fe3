// How kernels are launched. Functions, not `<<< >>>`, so that any C++ compiler reads them and tests
// can run kernels if there is no GPU (tests/simulator).
//
// Kernels that follow each other on a stream may overlap (programmatic launch): each starts as soon
// as there is room for its blocks beside the kernel before it, and waits inside until that one is
// done. So the time to start it is not spent between the two.
#pragma once

#include <cuda_runtime.h>

#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::device {

/// Launches a kernel that starts when all work before it on its stream is done. `shared_bytes` of dynamic shared memory.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel_with(void (*kernel)(Parameters...), dim3 grid, int threads,
                               std::size_t shared_bytes, cudaStream_t stream,
                               const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// Does the same without dynamic shared memory.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), dim3 grid, int threads,
                          cudaStream_t stream, const Arguments&... arguments) {
  return launch_kernel_with(kernel, grid, threads, 0, stream, arguments...);
}

/// How a kernel is launched that may start while the one before it in the stream still runs, and, if both attributes are
/// given, in clusters of so many blocks along x.
struct EarlyClusters {
  explicit EarlyClusters(unsigned blocks) {
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = blocks;
    attributes[1].val.clusterDim.y = 1;
    attributes[1].val.clusterDim.z = 1;
  }
  cudaLaunchAttribute attributes[2] = {};
};

/// Launches a kernel all of whose threads call wait_for_predecessor() before they read what earlier
/// work may have written or write anything but shared memory. If its code was compiled for devices
/// that cannot wait (before sm_90), it starts behind the kernel before it, as any other.
/// `shared_bytes` of dynamic shared memory.
template <auto kKernel, class... Arguments>
cudaError_t launch_after_with(dim3 grid, int threads, std::size_t shared_bytes, cudaStream_t stream,
                              const Arguments&... arguments) {
  int capability = 0;
  if (const cudaError_t error = compiled_for<kKernel>(capability)) return error;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = capability >= 90 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kKernel, arguments...);
}

/// Does the same without dynamic shared memory.
template <auto kKernel, class... Arguments>
cudaError_t launch_after(dim3 grid, int threads, cudaStream_t stream,
                         const Arguments&... arguments) {
  return launch_after_with<kKernel>(grid, threads, 0, stream, arguments...);
}

/// Does what launch_after does with so many clusters of `blocks` each, along x, of a kernel that was compiled for sm_90 or
/// later.
template <auto kKernel, class... Arguments>
cudaError_t launch_clusters_after(unsigned clusters, unsigned blocks, int threads,
                                  cudaStream_t stream, const Arguments&... arguments) {
  EarlyClusters early(blocks);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(clusters * blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = early.attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelEx(&config, kKernel, arguments...);
}

/// Launches blocks as one cluster or each for itself, on a device of at least sm_90. The kernel may
/// start while the one before it in the stream still runs, and has to call wait_for_predecessor().
template <class... Parameters, class... Arguments>
cudaError_t launch_together(void (*kernel)(Parameters...), int blocks, int threads,
                            int shared_bytes, bool one_cluster, cudaStream_t stream,
                            const Arguments&... arguments) {
  EarlyClusters early(static_cast<unsigned>(blocks));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = early.attributes;
  config.numAttrs = one_cluster ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace gdelta::device
