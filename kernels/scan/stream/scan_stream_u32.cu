// Sums of four-byte integers through the stream kernel, every order compiled.
#include "kernels/scan/stream/scan_stream.cuh"

namespace gdelta::scan {

cudaError_t launch_stream_u32(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  return launch_stream_orders<SumAlgebra<std::uint32_t, std::uint32_t>>(shape.order, plan, stream);
}

}  // namespace gdelta::scan
