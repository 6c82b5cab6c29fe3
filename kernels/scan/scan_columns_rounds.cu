// Products, and sums of floating-point values, along columns.
#include "kernels/scan/scan_columns.cuh"
#include "kernels/scan/scan_dispatch.cuh"

namespace gdelta::scan {

cudaError_t launch_columns_rounds(const Shape& shape, const ColumnPlan& plan, cudaStream_t stream) {
  return dispatch_rounds(shape, ColumnLauncher{plan, stream});
}

}  // namespace gdelta::scan
