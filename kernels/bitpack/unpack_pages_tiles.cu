#include "kernels/bitpack/unpack_pages_tiles_cuda.h"

#include "kernels/pages/value_widths.h"

namespace gdelta::cuda {

// One width a translation unit.
#define GDELTA_DECLARATION(width) \
  cudaError_t launch_unpack_tiles_##width(const TilePagesArgs&, cudaStream_t);
GDELTA_VALUE_WIDTHS(GDELTA_DECLARATION)
#undef GDELTA_DECLARATION

cudaError_t launch_unpack_pages_tiles(const TilePagesArgs& args, cudaStream_t stream) {
  switch (args.value_bytes) {
#define GDELTA_CASE(width) \
  case width:              \
    return launch_unpack_tiles_##width(args, stream);
    GDELTA_VALUE_WIDTHS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
