// Launchers of the kernels that encode pages of wide tuples, a warp a strip: every width.
#pragma once

#include "kernels/bitpack/lane_strip.cuh"
#include "kernels/bitpack/pack_pages_warp_cuda.h"
#include "kernels/bitpack/size_pages_warp.cuh"
#include "kernels/bitpack/write_pages_wide.cuh"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {

template <int ValueBytes>
cudaError_t launch_size_strips(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  return launch_pages<size_pages_warp_kernel<StripShape<ValueBytes>>, kSizeWarps>(
      args, range, range.num_units, stream);
}

template <int ValueBytes>
cudaError_t launch_write_strips(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  return launch_pages<write_pages_wide_kernel<StripShape<ValueBytes>>, kWriteWarps>(
      args, range, range.num_units, stream);
}

}  // namespace gdelta::cuda
