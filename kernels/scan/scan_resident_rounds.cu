// Operators whose higher orders have no single-exchange form, on the chip, by rounds:
// products, and sums of floating-point values (whose binomials would overflow long before the sums
// do). Half precision is kept in float inside a tile and between tiles, and rounded when a result
// is written, at the end of every order.
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {
namespace {

template <class Storage, class Word>
cudaError_t launch(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  if (shape.op == Operator::product) {
    return launch_on_chip_kernel<ProductAlgebra<Storage, Word>, 1, true>(plan, {}, stream);
  }
  if constexpr (!std::is_integral_v<Word>) {
    return launch_on_chip_kernel<SumAlgebra<Storage, Word>, 1, true>(plan, {}, stream);
  }
  return cudaErrorNotSupported;
}

}  // namespace

cudaError_t launch_on_chip_rounds(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  switch (shape.type) {
    case Type::f16:
      return launch<__half, float>(shape, plan, stream);
    case Type::bf16:
      return launch<__nv_bfloat16, float>(shape, plan, stream);
    case Type::f32:
      return launch<float, float>(shape, plan, stream);
    case Type::f64:
      return launch<double, double>(shape, plan, stream);
    default:
      break;
  }
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
