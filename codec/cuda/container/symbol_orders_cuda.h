// The orders that suit coders of symbols, in the place of those that suit groups: what the host's planner chooses
// for such a coder (codec/plan/symbol_orders.h). Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "codec/cuda/container/plan_chunks_cuda.h"
#include "kernels/ans/ans_encode_cuda.h"

namespace gdelta::cuda {

/// Of short chunks sizes of residuals do not tell how often they repeat: they are encoded with the orders of pack,
/// too. Such a trial is a task behind those of all chunks.
struct OrderTrials {
  static constexpr std::uint64_t kShortChunk = 1 << 16;  // bytes
  std::uint32_t first_chunk;                             // from here on chunks are short
  std::uint32_t count;

  explicit OrderTrials(const CutShape& shape) : first_chunk(shape.num_chunks) {
    const auto is_short = [&](std::uint64_t chunk) {
      return std::uint64_t{shape.records_of(chunk)} * shape.tuple_bytes <= kShortChunk;
    };
    if (shape.num_chunks > 0 && shape.asked_order < 0) {
      if (is_short(0)) {
        first_chunk = 0;
      } else if (is_short(shape.num_chunks - 1)) {
        first_chunk = shape.num_chunks - 1;
      }
    }
    count = shape.num_chunks - first_chunk;
  }
};

struct SymbolOrdersArgs {
  CutShape shape;
  OrderTrials trials;
  PackTask* tasks;             // [num_chunks + trials.count]: orders of pack before
  std::uint64_t* unit_starts;  // [num_chunks + trials.count + 1]
  std::uint32_t* differs;      // [num_chunks + trials.count]
};

/// After launch_plan_chunks: other orders, and the trials. An order that was asked for stays.
cudaError_t launch_symbol_orders(const SymbolOrdersArgs& args, cudaStream_t stream);

/// After launch_ans_symbols over all tasks: a chunk whose trial takes fewer bytes becomes that.
template <class Word>
cudaError_t launch_pick_trials(const SymbolOrdersArgs& args, const AnsEncodeArgs<Word>& ans,
                               cudaStream_t stream);

}  // namespace gdelta::cuda
