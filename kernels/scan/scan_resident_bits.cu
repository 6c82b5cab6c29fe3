// Xor, and the idempotent operators, on the chip.
#include "kernels/scan/scan_dispatch.cuh"
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {

cudaError_t launch_on_chip_bits(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  return dispatch_bits(shape, OnChipLauncher{plan, stream});
}

}  // namespace gdelta::scan
