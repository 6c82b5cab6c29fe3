// Chunks behind maps that give every value back (codec/plan/exact_maps.h): what plan_chunks has found in a
// sample is done to all values, and lanes of which some have no word are left as they are. Words lie in scratch memory.
// Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/cuda/container/plan_chunks_cuda.h"

namespace gdelta::cuda {

struct MapChunksArgs {
  CutShape shape;
  PackTask* tasks;             // [num_chunks]
  std::uint32_t* part_checks;  // [pages of all chunks]: of the values of those that may get maps
  ExactMaps maps;
  unsigned char* words;  // [num_chunks × words_pitch]: of lanes with a dictionary they are there
  std::uint64_t words_pitch;
};

/// Bytes from the words of one chunk to those of the next.
GDELTA_HD constexpr std::uint64_t words_pitch_of(std::uint64_t chunk_bytes) {
  return (chunk_bytes + 255) / 256 * 256;
}

/// After launch_plan_chunks: tasks of chunks that have such maps become those of the words.
cudaError_t launch_map_chunks(const MapChunksArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
