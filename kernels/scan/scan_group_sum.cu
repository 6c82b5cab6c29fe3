// Sums of integers through the group kernel.
#include "kernels/scan/scan_dispatch.cuh"
#include "kernels/scan/scan_group.cuh"

namespace gdelta::scan {

cudaError_t launch_group_sum(const Shape& shape, const GroupPlan& plan, cudaStream_t stream) {
  return dispatch_sum(shape, GroupLauncher{plan, stream});
}

}  // namespace gdelta::scan
