// Values of chunks less those a stride before, where that saves enough, by the costs of kernels/bitpack/order_cost.h: a stride
// that was asked for, or the better of two, or one that was found. Gives what the host's planner gives. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include "codec/cuda/container/plan_chunks_cuda.h"

namespace gdelta::cuda {

struct PlanStridesArgs {
  CutShape shape;              // with a stride, or nothing is done
  PackTask* tasks;             // [num_chunks]
  std::uint32_t* found;        // [num_chunks], of kFoundStrides; else null
  std::uint32_t other_stride;  // that is tried beside the one of the shape; 0: none
};

/// The stride of each chunk that is worth weighing, or 0, if those that are found are asked for: the one that the host finds
/// at the level by which the device plans (codec/plan/stride_rules.h).
cudaError_t launch_find_strides(const PlanStridesArgs& args, cudaStream_t stream);

/// After that, and all other launches that plan tasks, but for orders that suit symbols: maps and steps are what they are
/// without a stride.
cudaError_t launch_plan_strides(const PlanStridesArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
