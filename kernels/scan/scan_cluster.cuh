// Blocks that start together and kernels that overlap: clusters and programmatic launch. Device
// functions do nothing on devices that have neither.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace gdelta::scan {

/// The next kernel of the stream may start, if it was launched by `launch_together`; it waits by
/// itself.
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

/// Writes a word into the shared memory of a block of the cluster, where this block has `mine`.
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
