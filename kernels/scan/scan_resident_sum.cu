// Integer sums on the chip.
#include "kernels/scan/scan_dispatch.cuh"
#include "kernels/scan/scan_resident.cuh"

namespace gdelta::scan {

cudaError_t launch_on_chip_sum(const Shape& shape, const OnChipPlan& plan, cudaStream_t stream) {
  return dispatch_sum(shape, OnChipLauncher{plan, stream});
}

}  // namespace gdelta::scan
