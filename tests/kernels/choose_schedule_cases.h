// What the look at tiles, and the choice by it, are held to: on a GPU and on the simulated device.
#pragma once

#include "gdelta/schedules/choose_schedule.cuh"
#include "kernels/schedules_cases.h"

namespace gdelta::segments_test {

/// Steps of all warps whose tiles go to virtual warps of so many threads, one warp after the other.
inline unsigned long long serial_warp_steps(const Lengths& sizes, std::size_t width) {
  const std::size_t together = 32 / width;
  unsigned long long steps = 0;
  for (std::size_t first = 0; first < sizes.size(); first += together) {
    const std::size_t last = std::min(first + together, sizes.size());
    const auto largest = *std::max_element(sizes.begin() + first, sizes.begin() + last);
    steps += (largest + width - 1) / width;
  }
  return steps;
}

inline void expect_statistics_and_choice(std::uint64_t tile_count) {
  for_each_tile_set(tile_count, [](const auto& tiles, const Lengths& sizes,
                                   const std::string& name) {
    const OnDevice<TileStatistics> on_device(
        std::vector<TileStatistics>(1, TileStatistics{{7}, 7}));
    ASSERT_EQ(measure_tiles(tiles, on_device.data(), nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const TileStatistics statistics = on_device.values()[0];
    EXPECT_EQ(statistics.longest, *std::max_element(sizes.begin(), sizes.end())) << name;
    for (int w = 0; w < TileStatistics::kWidths; ++w)
      EXPECT_EQ(statistics.warp_steps[w], serial_warp_steps(sizes, 1u << w)) << name << ", " << w;
    for (const auto& choice : {choose_schedule(tiles.count, tiles.atoms),
                               choose_schedule(tiles.count, tiles.atoms, statistics),
                               choose_schedule(tiles.count, tiles.atoms, statistics, kSumCosts),
                               choose_schedule(tiles.count, tiles.atoms, statistics, kReduceCosts)})
      with_schedule(choice, [&](auto schedule) {
        expect_every_atom(schedule, tiles, sizes, tiles.offsets, name + ", chosen");
      });
  });
}

}  // namespace gdelta::segments_test
