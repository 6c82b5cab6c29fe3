// Launchers of kernels that have instances for each narrow tuple.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

static_assert(kWarpPathTuple == 4);
/// Calls launch(tuple) with the tuple as a constant; wide ones are refused.
template <class Launch>
cudaError_t for_narrow_tuple(int tuple, const Launch& launch) {
  switch (tuple) {
    case 1:
      return launch(std::integral_constant<int, 1>{});
    case 2:
      return launch(std::integral_constant<int, 2>{});
    case 3:
      return launch(std::integral_constant<int, 3>{});
    case 4:
      return launch(std::integral_constant<int, 4>{});
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace gdelta::cuda
