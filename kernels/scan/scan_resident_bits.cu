// Xor of any order (binomials mod 2), and the idempotent operators, whose orders are all order 1,
// on the chip.
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {
namespace {

template <class Storage, class Word>
cudaError_t launch(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  const KeyMap map = key_map(shape.op, shape.type);
  if (shape.op == Operator::bit_xor) {
    using Algebra = XorAlgebra<Storage, Word>;
    return shape.order == 1 ? launch_on_chip_kernel<Algebra, 1, true>(plan, {}, stream)
                            : launch_on_chip_kernel<Algebra, 8, false>(plan, {}, stream);
  }
  if (shape.op == Operator::max || shape.op == Operator::min) {
    const MaxAlgebra<Storage, Word> algebra{
        static_cast<Word>(map.fold), static_cast<Word>(map.flip), static_cast<Word>(map.identity)};
    return launch_on_chip_kernel<MaxAlgebra<Storage, Word>, 1, true>(plan, algebra, stream);
  }
  const OrAlgebra<Storage, Word> algebra{static_cast<Word>(map.flip)};
  return launch_on_chip_kernel<OrAlgebra<Storage, Word>, 1, true>(plan, algebra, stream);
}

}  // namespace

cudaError_t launch_on_chip_bits(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  switch (type_bytes(shape.type)) {
    case 1:
      return launch<std::uint8_t, std::uint32_t>(shape, plan, stream);
    case 2:
      return launch<std::uint16_t, std::uint32_t>(shape, plan, stream);
    case 4:
      return launch<std::uint32_t, std::uint32_t>(shape, plan, stream);
    default:
      return launch<std::uint64_t, std::uint64_t>(shape, plan, stream);
  }
}

}  // namespace gdelta::scan
