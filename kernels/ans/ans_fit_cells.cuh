// Cells of sorted samples, by teams of warps: what bins are made of.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_fit_sample.cuh"

namespace gdelta::cuda {

/// A value that is frequent by itself is a cell by itself; others share a cell whose first ones have about the same
/// rank. The block calls it, each team with `values` sorted residuals in shared memory, and waits; how many cells they
/// make.
template <class Word>
__device__ std::uint32_t make_cells(const Word* sorted, std::uint32_t values, std::uint32_t wanted,
                                    std::uint32_t (&warp_cells)[kFitWarps],
                                    typename AnsFitCells<Word>::Table& made) {
  constexpr std::uint32_t kOfWarp = kMostTableSample / kTeamWarps, kSteps = kOfWarp / 32;
  const std::uint32_t thread = threadIdx.x % 32, warp = device::warp_number();
  const std::uint32_t of_team = warp % kTeamWarps, first = of_team * kOfWarp + thread;
  const std::uint32_t share = max(values / wanted, 1u);
  const std::uint32_t rank_mask = (1u << device::highest_bit(share)) - 1;
  const std::uint32_t heavy = max((share + kLightest - 1) / kLightest, 2u);
  // Of the run of equal values that begins at `rank`, and of the one before it, it matters which other ranks they have.
  const auto begins = [&](std::uint32_t rank) {
    const std::uint32_t border = rank & ~rank_mask, last = rank + heavy - 1;
    const Word value = sorted[rank], before = sorted[rank == 0 ? 0 : rank - 1];
    const bool passes_border = border == rank || sorted[border == 0 ? rank : border - 1] == before;
    const bool is_heavy = last < values && sorted[last < values ? last : rank] == value;
    const bool follows_heavy = rank >= heavy && sorted[rank < heavy ? 0 : rank - heavy] == before;
    return rank == 0 || (value != before && (passes_border || is_heavy || follows_heavy));
  };
  unsigned all[kSteps];
  std::uint32_t own = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const std::uint32_t rank = first + 32 * i;
    all[i] = __ballot_sync(device::kWholeWarp, rank < values && begins(rank));
    own += __popc(all[i]);
  }
  if (thread == 0) warp_cells[warp] = own;
  __syncthreads();  // the cells of all warps are counted
  std::uint32_t number = 0, cells = 0;
  for (std::uint32_t w = 0; w < kTeamWarps; ++w) {
    const std::uint32_t of_warp = warp_cells[warp - of_team + w];
    number += w < of_team ? of_warp : 0;
    cells += of_warp;
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const std::uint32_t rank = first + 32 * i;
    if ((all[i] >> thread & 1) != 0) {
      const std::uint32_t cell = number + __popc(all[i] & ((1u << thread) - 1));
      made.begins[cell] = static_cast<std::uint16_t>(rank);
      made.firsts[cell] = sorted[rank];
      if (rank > 0) made.lasts[cell - 1] = sorted[rank - 1];
    }
    number += __popc(all[i]);
  }
  if (values > 0 && of_team == 0 && thread == 0) {
    made.begins[cells] = static_cast<std::uint16_t>(values);
    made.lasts[cells - 1] = sorted[values - 1];
  }
  __syncthreads();  // the sample has been read
  return cells;
}

}  // namespace gdelta::cuda
