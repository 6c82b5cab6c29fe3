#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"

namespace gdelta::cuda {

cudaError_t launch_unpack_pages_warp(int value_bytes, int tuple, const UnpackArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream) {
  switch (value_bytes) {
    case 1:
      return launch_unpack_warp_1(tuple, args, max_pages, stream);
    case 2:
      return launch_unpack_warp_2(tuple, args, max_pages, stream);
    case 3:
      return launch_unpack_warp_3(tuple, args, max_pages, stream);
    case 4:
      return launch_unpack_warp_4(tuple, args, max_pages, stream);
    case 8:
      return launch_unpack_warp_8(tuple, args, max_pages, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
