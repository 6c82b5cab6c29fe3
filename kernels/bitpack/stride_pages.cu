#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/pages/value_widths.h"

namespace gdelta::cuda {

// docs/history/pages.md, *Strides*, has what was measured.
cudaError_t enough_stride_columns(std::uint64_t& columns) {
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  columns = static_cast<std::uint64_t>(processors);
  return cudaSuccess;
}

// One width a translation unit.
#define GDELTA_DECLARATION(width)                           \
  cudaError_t stride_decoders_##width(int, std::uint32_t&); \
  cudaError_t launch_stride_pages_##width(int, const UnpackArgs&, const LaneMaps*, cudaStream_t);
GDELTA_VALUE_WIDTHS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

cudaError_t has_room_for_stride_pages(int value_bytes, int tuple, bool& has) {
  constexpr std::uint32_t kFewest = 3;
  std::uint32_t decoders = 0;
  cudaError_t error = cudaErrorInvalidValue;
  switch (value_bytes) {
#define GDELTA_CASE(width)                            \
  case width:                                         \
    error = stride_decoders_##width(tuple, decoders); \
    break;
    GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  has = decoders >= kFewest;
  return error;
}

cudaError_t launch_stride_pages(int value_bytes, int tuple, const UnpackArgs& args,
                                const LaneMaps* lane_maps, cudaStream_t stream) {
  switch (value_bytes) {
#define GDELTA_CASE(width) \
  case width:              \
    return launch_stride_pages_##width(tuple, args, lane_maps, stream);
    GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
