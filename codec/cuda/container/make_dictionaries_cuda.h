// Dictionaries of lanes with few values (codec/plan/quick_dictionaries.h): found, sorted and coded, and what becomes of the lane
// weighed by the costs of kernels/bitpack/order_cost.h. Gives what the host's planner gives. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include "codec/cuda/container/plan_chunks_cuda.h"
#include "gdelta/types.h"

namespace gdelta::cuda {

struct MakeDictionariesArgs {
  CutShape shape;
  ValueType type;
  ExactMaps maps;
  unsigned char* words;  // [num_chunks × words_pitch]: those of lanes that get one are made
  std::uint64_t words_pitch;
};

/// After launch_plan_chunks with maps that are tried, before launch_map_chunks: lanes may get a dictionary in the place of what
/// they have.
cudaError_t launch_make_dictionaries(const MakeDictionariesArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
