// Operators other than sum on four- and eight-byte values through the stream kernel: those whose
// orders are all order 1, and products and xor of order 1.
#include "kernels/scan/stream/scan_stream.cuh"

namespace gdelta::scan {
namespace {

template <class Word>
cudaError_t launch_bits(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  const KeyMap map = key_map(shape);
  switch (shape.op) {
    case Operator::product:
      return launch_stream_kernel<ProductAlgebra<Word, Word>, 1>(plan, {}, stream);
    case Operator::bit_xor:
      return launch_stream_kernel<XorAlgebra<Word, Word>, 1>(plan, {}, stream);
    case Operator::max:
    case Operator::min:
      return launch_stream_kernel<MaxAlgebra<Word, Word>, 1>(
          plan,
          {static_cast<Word>(map.fold), static_cast<Word>(map.flip), static_cast<Word>(map.lowest)},
          stream);
    default:
      return launch_stream_kernel<OrAlgebra<Word, Word>, 1>(plan, {static_cast<Word>(map.flip)},
                                                            stream);
  }
}

}  // namespace

cudaError_t launch_stream_bits(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
  return type_bytes(shape.type) == 4 ? launch_bits<std::uint32_t>(shape, plan, stream)
                                     : launch_bits<std::uint64_t>(shape, plan, stream);
}

}  // namespace gdelta::scan
