#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/device/kernel_facts.cuh"

namespace gdelta::cuda {

// docs/pages.md, *Strides*, has what was measured.
cudaError_t enough_stride_columns(std::uint64_t& columns) {
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  columns = static_cast<std::uint64_t>(processors);
  return cudaSuccess;
}

// One width a translation unit.
#define GDELTA_DECLARATION(width) \
  cudaError_t launch_stride_pages_##width(int, const UnpackArgs&, const LaneMaps*, cudaStream_t);
GDELTA_DECLARATION(1)
GDELTA_DECLARATION(2)
GDELTA_DECLARATION(3)
GDELTA_DECLARATION(4)
GDELTA_DECLARATION(8)
#undef GDELTA_DECLARATION

cudaError_t launch_stride_pages(int value_bytes, int tuple, const UnpackArgs& args,
                                const LaneMaps* lane_maps, cudaStream_t stream) {
  switch (value_bytes) {
    case 1:
      return launch_stride_pages_1(tuple, args, lane_maps, stream);
    case 2:
      return launch_stride_pages_2(tuple, args, lane_maps, stream);
    case 3:
      return launch_stride_pages_3(tuple, args, lane_maps, stream);
    case 4:
      return launch_stride_pages_4(tuple, args, lane_maps, stream);
    case 8:
      return launch_stride_pages_8(tuple, args, lane_maps, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
