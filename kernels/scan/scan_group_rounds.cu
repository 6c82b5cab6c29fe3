// Products, and sums of floating-point values, through the group kernel.
#include "kernels/scan/scan_dispatch.cuh"
#include "kernels/scan/scan_group.cuh"

namespace gdelta::scan {

cudaError_t launch_group_rounds(const Shape& shape, const GroupPlan& plan, cudaStream_t stream) {
  return dispatch_rounds(shape, GroupLauncher{plan, stream});
}

}  // namespace gdelta::scan
