// Launches of blocks that start together and of kernels that overlap: clusters and programmatic
// launch.
#pragma once

#include <cuda_runtime.h>

#include "kernels/scan/ptx.cuh"

namespace gdelta::scan {

/// Launches blocks as one cluster or each for itself. The kernel may start while the one before it
/// in the stream still runs, and has to `wait_for_predecessor`.
template <class... Parameters, class... Arguments>
cudaError_t launch_together(void (*kernel)(Parameters...), int blocks, int threads,
                            int shared_bytes, bool one_cluster, cudaStream_t stream,
                            const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = blocks;
  attributes[1].val.clusterDim.y = 1;
  attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = one_cluster ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace gdelta::scan
