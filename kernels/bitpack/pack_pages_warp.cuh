// Launchers of the kernels that encode pages, a warp a page: every width and tuple.
#pragma once

#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/bitpack/size_pages_warp.cuh"
#include "kernels/bitpack/write_pages_warp.cuh"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {

/// A warp for every unit of the range.
template <int kWarps>
cudaError_t launch_pages(void (*kernel)(PackArgs, PackRange), const PackArgs& args,
                         const PackRange& range, cudaStream_t stream) {
  if (range.num_units == 0) return cudaSuccess;
  const unsigned grid = pack_grid((range.num_units + kWarps - 1) / kWarps);
  return device::launch_kernel(kernel, grid, 32 * kWarps, stream, args, range);
}

template <int ValueBytes>
cudaError_t launch_size_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  const auto launch = [&](auto shape) {
    return launch_pages<kSizeWarps>(size_pages_warp_kernel<decltype(shape)>, args, range, stream);
  };
  switch (range.tuple) {
    case 1:
      return launch(PackShape<ValueBytes, 1>{});
    case 2:
      return launch(PackShape<ValueBytes, 2>{});
    case 3:
      return launch(PackShape<ValueBytes, 3>{});
    case 4:
      return launch(PackShape<ValueBytes, 4>{});
    default:
      return cudaErrorInvalidValue;
  }
}

template <int ValueBytes>
cudaError_t launch_write_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  const auto launch = [&](auto shape) {
    return launch_pages<kWriteWarps>(write_pages_warp_kernel<decltype(shape)>, args, range, stream);
  };
  switch (range.tuple) {
    case 1:
      return launch(PackShape<ValueBytes, 1>{});
    case 2:
      return launch(PackShape<ValueBytes, 2>{});
    case 3:
      return launch(PackShape<ValueBytes, 3>{});
    case 4:
      return launch(PackShape<ValueBytes, 4>{});
    default:
      return cudaErrorInvalidValue;
  }
}

// One width a translation unit.
cudaError_t launch_size_warp_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_size_warp_8(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_1(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_2(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_3(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_4(const PackArgs&, const PackRange&, cudaStream_t);
cudaError_t launch_write_warp_8(const PackArgs&, const PackRange&, cudaStream_t);

}  // namespace gdelta::cuda
