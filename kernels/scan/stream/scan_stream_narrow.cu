// Sums of one- and two-byte integers through the stream kernel, in 32-bit words; the order is
// rounded up to a power of two and the result picked from the state.
#include "kernels/scan/stream/scan_stream.cuh"

namespace gdelta::scan {
namespace {

template <class Storage>
cudaError_t launch_narrow(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  using Algebra = SumAlgebra<Storage, std::uint32_t>;
  if (shape.order == 1) return launch_stream_kernel<Algebra, 1>(plan, {}, stream);
  if (shape.order == 2) return launch_stream_kernel<Algebra, 2>(plan, {}, stream);
  if (shape.order <= 4) return launch_stream_kernel<Algebra, 4>(plan, {}, stream);
  return launch_stream_kernel<Algebra, 8>(plan, {}, stream);
}

}  // namespace

cudaError_t launch_stream_narrow(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  return type_bytes(shape.type) == 1 ? launch_narrow<std::uint8_t>(shape, plan, stream)
                                     : launch_narrow<std::uint16_t>(shape, plan, stream);
}

}  // namespace gdelta::scan
