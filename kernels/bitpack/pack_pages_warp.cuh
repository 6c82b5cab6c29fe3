// Launchers of the kernels that encode pages, a warp a page: every width and tuple.
#pragma once

#include <cstdint>

#include "kernels/bitpack/pack_pages_warp_cuda.h"
#include "kernels/bitpack/size_pages_warp.cuh"
#include "kernels/bitpack/write_pages_warp.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/pages/narrow_tuple.h"

namespace gdelta::cuda {

/// Stepped tasks have kernels of their own, of blocks that find work or end at once: code for steps beside that of others
/// made those 9 % slower. Where strides may be, one kernel takes all tasks.
template <auto kKernel, auto kSteppedKernel, auto kStridedKernel, int kWarps>
cudaError_t launch_all_pages(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  if (range.has_strides)
    return launch_pages<kStridedKernel, kWarps>(args, range, range.num_units, stream);
  if (auto error = launch_pages<kKernel, kWarps>(args, range, range.num_units, stream))
    return error;
  if (kKernel == kSteppedKernel || args.stepped.count == nullptr) return cudaSuccess;
  int blocks = 0;
  if (auto error = device::resident_blocks<kSteppedKernel>(32 * kWarps, blocks)) return error;
  return launch_pages<kSteppedKernel, kWarps>(args, range, static_cast<std::uint64_t>(blocks),
                                              stream);
}

/// One lane of one or two bytes has runs of 16. Others have no registers for them, or lie too far apart.
template <int ValueBytes, int Tuple>
using WarpPackShape = PackShape<ValueBytes, Tuple, Tuple == 1 && ValueBytes <= 2 ? 16 : 8>;

template <int ValueBytes>
cudaError_t launch_size_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  return for_narrow_tuple(range.tuple, [&](auto tuple) {
    using Shape = WarpPackShape<ValueBytes, decltype(tuple)::value>;
    return launch_all_pages<size_pages_warp_kernel<Shape>,
                            size_pages_warp_kernel<typename Shape::WithSteps>,
                            size_pages_warp_kernel<typename Shape::WithStrides>, kSizeWarps>(
        args, range, stream);
  });
}

template <int ValueBytes>
cudaError_t launch_write_width(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  return for_narrow_tuple(range.tuple, [&](auto tuple) {
    using Shape = WarpPackShape<ValueBytes, decltype(tuple)::value>;
    return launch_all_pages<write_pages_warp_kernel<Shape>,
                            write_pages_warp_kernel<typename Shape::WithSteps>,
                            write_pages_warp_kernel<typename Shape::WithStrides>, kWriteWarps>(
        args, range, stream);
  });
}

}  // namespace gdelta::cuda
