#include "kernels/bitpack/unpack_pages_warp.cuh"

namespace gdelta::cuda {

cudaError_t launch_unpack_warp_8(int tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                 cudaStream_t stream) {
  return launch_unpack_warp_width<8>(tuple, args, max_pages, stream);
}

}  // namespace gdelta::cuda
