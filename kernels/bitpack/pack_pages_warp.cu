#include "kernels/bitpack/pack_pages_warp_cuda.h"

namespace gdelta::cuda {

cudaError_t launch_size_warp(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  const bool wide = is_wide(range.tuple);
  switch (range.value_bytes) {
    case 1:
      return (wide ? launch_size_wide_1 : launch_size_warp_1)(args, range, stream);
    case 2:
      return (wide ? launch_size_wide_2 : launch_size_warp_2)(args, range, stream);
    case 3:
      return (wide ? launch_size_wide_3 : launch_size_warp_3)(args, range, stream);
    case 4:
      return (wide ? launch_size_wide_4 : launch_size_warp_4)(args, range, stream);
    case 8:
      return (wide ? launch_size_wide_8 : launch_size_warp_8)(args, range, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t launch_write_warp(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  const bool wide = is_wide(range.tuple);
  switch (range.value_bytes) {
    case 1:
      return (wide ? launch_write_wide_1 : launch_write_warp_1)(args, range, stream);
    case 2:
      return (wide ? launch_write_wide_2 : launch_write_warp_2)(args, range, stream);
    case 3:
      return (wide ? launch_write_wide_3 : launch_write_warp_3)(args, range, stream);
    case 4:
      return (wide ? launch_write_wide_4 : launch_write_warp_4)(args, range, stream);
    case 8:
      return (wide ? launch_write_wide_8 : launch_write_warp_8)(args, range, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
