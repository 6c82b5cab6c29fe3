// Launchers of the kernels that encode pages, a warp a page: every width and tuple.
#pragma once

#include "kernels/bitpack/pack_pages_warp_cuda.h"
#include "kernels/bitpack/size_pages_warp.cuh"
#include "kernels/bitpack/write_pages_warp.cuh"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {

/// A warp for every unit of the range.
template <auto kKernel, int kWarps>
cudaError_t launch_pages(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  if (range.num_units == 0) return cudaSuccess;
  const unsigned grid = pack_grid((range.num_units + kWarps - 1) / kWarps);
  return device::launch_after<kKernel>(grid, 32 * kWarps, stream, args, range);
}

/// One lane of one or two bytes has runs of 16. Others have no registers for them, or lie too far apart.
template <int ValueBytes, int Tuple>
using WarpPackShape = PackShape<ValueBytes, Tuple, Tuple == 1 && ValueBytes <= 2 ? 16 : 8>;

template <int ValueBytes>
cudaError_t launch_size_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  switch (range.tuple) {
    case 1:
      return launch_pages<size_pages_warp_kernel<WarpPackShape<ValueBytes, 1>>, kSizeWarps>(
          args, range, stream);
    case 2:
      return launch_pages<size_pages_warp_kernel<WarpPackShape<ValueBytes, 2>>, kSizeWarps>(
          args, range, stream);
    case 3:
      return launch_pages<size_pages_warp_kernel<WarpPackShape<ValueBytes, 3>>, kSizeWarps>(
          args, range, stream);
    case 4:
      return launch_pages<size_pages_warp_kernel<WarpPackShape<ValueBytes, 4>>, kSizeWarps>(
          args, range, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

template <int ValueBytes>
cudaError_t launch_write_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  switch (range.tuple) {
    case 1:
      return launch_pages<write_pages_warp_kernel<WarpPackShape<ValueBytes, 1>>, kWriteWarps>(
          args, range, stream);
    case 2:
      return launch_pages<write_pages_warp_kernel<WarpPackShape<ValueBytes, 2>>, kWriteWarps>(
          args, range, stream);
    case 3:
      return launch_pages<write_pages_warp_kernel<WarpPackShape<ValueBytes, 3>>, kWriteWarps>(
          args, range, stream);
    case 4:
      return launch_pages<write_pages_warp_kernel<WarpPackShape<ValueBytes, 4>>, kWriteWarps>(
          args, range, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
