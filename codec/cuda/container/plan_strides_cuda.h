// Values of chunks less those a stride before that was asked for, where that saves enough, by the costs of
// kernels/bitpack/order_cost.h. Gives what the host's planner gives. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include "codec/cuda/container/plan_chunks_cuda.h"

namespace gdelta::cuda {

struct PlanStridesArgs {
  CutShape shape;   // with a stride, or nothing is done
  PackTask* tasks;  // [num_chunks]
};

/// After all other launches that plan tasks, but for orders that suit symbols: maps and steps are what they are without a stride.
cudaError_t launch_plan_strides(const PlanStridesArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
