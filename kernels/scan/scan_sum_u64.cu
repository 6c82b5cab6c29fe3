// Sums of eight-byte integers through the stream kernel, every order compiled.
#include "kernels/scan/scan_stream.cuh"

namespace gdelta::scan {

cudaError_t launch_stream_u64(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  using Algebra = SumAlgebra<std::uint64_t, std::uint64_t>;
  switch (shape.order) {
    case 1:
      return launch_stream_kernel<Algebra, 1>(plan, {}, stream);
    case 2:
      return launch_stream_kernel<Algebra, 2>(plan, {}, stream);
    case 3:
      return launch_stream_kernel<Algebra, 3>(plan, {}, stream);
    case 4:
      return launch_stream_kernel<Algebra, 4>(plan, {}, stream);
    case 5:
      return launch_stream_kernel<Algebra, 5>(plan, {}, stream);
    case 6:
      return launch_stream_kernel<Algebra, 6>(plan, {}, stream);
    case 7:
      return launch_stream_kernel<Algebra, 7>(plan, {}, stream);
    default:
      return launch_stream_kernel<Algebra, 8>(plan, {}, stream);
  }
}

}  // namespace gdelta::scan
