// Xor, and the idempotent operators, along columns.
#include "kernels/scan/scan_columns.cuh"
#include "kernels/scan/scan_dispatch.cuh"

namespace gdelta::scan {

cudaError_t launch_columns_bits(const Shape& shape, const ColumnPlan& plan, cudaStream_t stream) {
  return dispatch_bits(shape, ColumnLauncher{plan, stream});
}

}  // namespace gdelta::scan
