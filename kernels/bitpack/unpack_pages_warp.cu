#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/pages/column_task.h"
#include "kernels/pages/value_widths.h"

namespace gdelta::cuda {

// One width a translation unit, for tuples of up to four lanes, those of them with LaneMaps, and for others.
#define GDELTA_DECLARATION(width)                                                              \
  cudaError_t launch_unpack_warp_##width(int, const UnpackArgs&, std::uint64_t, cudaStream_t); \
  cudaError_t launch_unpack_maps_##width(int, const UnpackArgs&, std::uint64_t, cudaStream_t); \
  cudaError_t launch_unpack_wide_##width(int, const UnpackArgs&, std::uint64_t, cudaStream_t);
GDELTA_VALUE_WIDTHS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

cudaError_t launch_unpack_pages_warp(int value_bytes, int most_tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream) {
  const bool wide = is_wide(most_tuple);
  switch (value_bytes) {
#define GDELTA_CASE(width)                                                        \
  case width:                                                                     \
    return wide ? launch_unpack_wide_##width(most_tuple, args, max_pages, stream) \
                : launch_unpack_warp_##width(most_tuple, args, max_pages, stream);
    GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t launch_unpack_pages_maps(int value_bytes, int tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream) {
  switch (value_bytes) {
#define GDELTA_CASE(width) \
  case width:              \
    return launch_unpack_maps_##width(tuple, args, max_pages, stream);
    GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
