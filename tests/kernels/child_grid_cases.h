// What dynamic virtual warps are held to. On a GPU large tiles become grids of their own.
#pragma once

#include "gdelta/schedules/dynamic_virtual_warps.cuh"
#include "kernels/schedules_cases.h"

namespace gdelta::segments_test {

inline void expect_dynamic_virtual_warps(std::uint64_t tile_count) {
  for_each_tile_set(
      tile_count, [](const auto& tiles, const Lengths& sizes, const std::string& name) {
        for (const unsigned width : {1u, 2u, 8u, 32u}) {
          for (const std::uint64_t child_from : {1000, 1 << 14}) {
            const DynamicVirtualWarps schedule{.width = width, .child_from = child_from};
            expect_every_atom(schedule, tiles, sizes, tiles.offsets,
                              name + " by dynamic virtual warps of " + std::to_string(width));
          }
        }
        EXPECT_LE(DynamicVirtualWarps::width_for(tiles), 32u);
      });
}

}  // namespace gdelta::segments_test
