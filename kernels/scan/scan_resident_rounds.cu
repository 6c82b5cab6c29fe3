// Products, and sums of floating-point values, on the chip, by rounds.
#include "kernels/scan/scan_dispatch.cuh"
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {

cudaError_t launch_on_chip_rounds(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  return dispatch_rounds(shape, OnChipLauncher{plan, stream});
}

}  // namespace gdelta::scan
