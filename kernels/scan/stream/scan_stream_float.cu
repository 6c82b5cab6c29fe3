// Floating-point sums and integer products through the stream kernel: order 1. Half precision is
// kept in float inside a tile and between tiles, and rounded when a result is written.
#include "kernels/scan/stream/scan_stream.cuh"

namespace gdelta::scan {

cudaError_t launch_stream_float(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  switch (shape.type) {
    case Type::f16:
      return launch_stream_kernel<SumAlgebra<__half, float>, 1>(plan, {}, stream);
    case Type::bf16:
      return launch_stream_kernel<SumAlgebra<__nv_bfloat16, float>, 1>(plan, {}, stream);
    case Type::f32:
      return launch_stream_kernel<SumAlgebra<float, float>, 1>(plan, {}, stream);
    case Type::f64:
      return launch_stream_kernel<SumAlgebra<double, double>, 1>(plan, {}, stream);
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace gdelta::scan
