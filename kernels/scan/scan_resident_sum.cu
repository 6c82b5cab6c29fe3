// Integer sums on the chip; the order is rounded up to a power of two.
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {
namespace {

template <class Storage, class Word>
cudaError_t launch(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  using Algebra = SumAlgebra<Storage, Word>;
  if (shape.order == 1) return launch_on_chip_kernel<Algebra, 1, true>(plan, {}, stream);
  if (shape.order == 2) return launch_on_chip_kernel<Algebra, 2, true>(plan, {}, stream);
  if (shape.order <= 4) return launch_on_chip_kernel<Algebra, 4, false>(plan, {}, stream);
  return launch_on_chip_kernel<Algebra, 8, false>(plan, {}, stream);
}

}  // namespace

cudaError_t launch_on_chip_sum(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
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
