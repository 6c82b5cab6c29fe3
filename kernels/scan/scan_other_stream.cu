// Order 1 of floating-point sums, and of minimum and maximum of four- and eight-byte values,
// through the stream kernel.
#include "kernels/scan/scan_stream.cuh"

namespace gdelta::scan {
namespace {

template <class Word>
cudaError_t launch_max(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  const KeyMap map = key_map(shape.op, shape.type);
  const MaxAlgebra<Word, Word> algebra{static_cast<Word>(map.fold), static_cast<Word>(map.flip),
                                       static_cast<Word>(map.identity)};
  return launch_stream_kernel<MaxAlgebra<Word, Word>, 1>(plan, algebra, stream);
}

}  // namespace

cudaError_t launch_stream_other(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  if (shape.op == Operator::sum && shape.type == Type::f32) {
    return launch_stream_kernel<SumAlgebra<float, float>, 1>(plan, {}, stream);
  }
  if (shape.op == Operator::sum && shape.type == Type::f64) {
    return launch_stream_kernel<SumAlgebra<double, double>, 1>(plan, {}, stream);
  }
  if (shape.op == Operator::max || shape.op == Operator::min) {
    if (type_bytes(shape.type) == 4) return launch_max<std::uint32_t>(shape, plan, stream);
    if (type_bytes(shape.type) == 8) return launch_max<std::uint64_t>(shape, plan, stream);
  }
  return cudaErrorNotSupported;
}

}  // namespace gdelta::scan
