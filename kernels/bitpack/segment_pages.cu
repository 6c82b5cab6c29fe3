#include "kernels/bitpack/segment_pages_cuda.h"

namespace gdelta::cuda {

// One width a translation unit.
#define GDELTA_DECLARATION(width)                                                       \
  cudaError_t launch_segment_heads_##width(int, const SegmentPagesArgs&, std::uint64_t, \
                                           cudaStream_t);                               \
  cudaError_t launch_sum_segments_##width(int, const SegmentPagesArgs&, std::uint64_t,  \
                                          cudaStream_t);
GDELTA_DECLARATION(2)
GDELTA_DECLARATION(4)
GDELTA_DECLARATION(8)
#undef GDELTA_DECLARATION

cudaError_t launch_segment_heads(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                 std::uint64_t max_pages, cudaStream_t stream) {
  switch (value_bytes) {
    case 2:
      return launch_segment_heads_2(tuple, args, max_pages, stream);
    case 4:
      return launch_segment_heads_4(tuple, args, max_pages, stream);
    case 8:
      return launch_segment_heads_8(tuple, args, max_pages, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t launch_sum_segment_pages(int value_bytes, int tuple, const SegmentPagesArgs& args,
                                     std::uint64_t max_pages, cudaStream_t stream) {
  switch (value_bytes) {
    case 2:
      return launch_sum_segments_2(tuple, args, max_pages, stream);
    case 4:
      return launch_sum_segments_4(tuple, args, max_pages, stream);
    case 8:
      return launch_sum_segments_8(tuple, args, max_pages, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
