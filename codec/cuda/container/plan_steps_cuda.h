// Lanes of chunks less earlier ones (codec/plan/quick_steps.h), by the costs of kernels/bitpack/order_cost.h. Gives what the
// host's planner gives. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/cuda/container/plan_chunks_cuda.h"

namespace gdelta::cuda {

/// What heads of chunks say of the steps of their lanes behind the number of the lane map, in device memory.
struct StepFields {
  unsigned char* bytes;  // [chunks × room(tuple)]; null: none are looked for
  std::uint32_t tuple;

  /// How many there are, and three bytes of each.
  static GDELTA_HD constexpr std::uint32_t room(std::uint32_t tuple) { return 1 + 3 * (tuple - 1); }
  GDELTA_HD unsigned char* of(std::uint32_t chunk) const {
    return bytes + std::uint64_t{chunk} * room(tuple);
  }
};

struct PlanStepsArgs {
  CutShape shape;
  PackTask* tasks;  // [num_chunks]
  StepFields steps;
  SteppedTasks stepped;
};

/// After launch_plan_chunks, which has cleared their count, and launch_map_chunks: tasks of chunks whose lanes save enough
/// without others are told so, and listed.
cudaError_t launch_plan_steps(const PlanStepsArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
