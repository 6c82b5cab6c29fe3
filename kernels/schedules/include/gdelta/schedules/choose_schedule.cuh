// Which schedule, by what is cheap to know: the numbers of tiles and atoms, and for more than a few
// atoms a look at the tiles (tile_statistics.cuh). Static mappings cost what their warps' steps cost,
// multi-phase mapping costs by the atom and a search before.
#pragma once

#include <algorithm>

#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/tile_statistics.cuh"
#include "gdelta/schedules/virtual_warps.cuh"

namespace gdelta {

struct ScheduleChoice {
  int width;  ///< of virtual warps: 1, 2, ... 32; or 0: multi-phase mapping
};

namespace schedules {

/// Nanoseconds on an H200, fitted to bench/results/h200/mappings.csv (gdelta.bench.mappings).
struct MappingCosts {
  double step = 0.02;       ///< of a warp
  double warp = 0.077;      ///< to find its tiles
  double lone_step = 4;     ///< of a warp that the others wait for
  double plan = 12'000;     ///< multi-phase mapping: its partition
  double atom = 0.0022;
  double tile = 0.001;
};

/// Fewer atoms than this are done before a look at their tiles would be.
constexpr std::uint64_t kFewAtoms = 10'000;

}  // namespace schedules

/// By the numbers alone, for few atoms.
inline ScheduleChoice choose_schedule(std::uint64_t tiles, std::uint64_t atoms) {
  int width = 1;
  while (width < 32 && 4 * static_cast<std::uint64_t>(width) * tiles < atoms) width *= 2;
  return {width};
}

/// By a look at the tiles, whose result the host has read.
inline ScheduleChoice choose_schedule(std::uint64_t tiles, std::uint64_t atoms,
                                      const TileStatistics& statistics) {
  if (atoms < schedules::kFewAtoms) return choose_schedule(tiles, atoms);
  const schedules::MappingCosts costs;
  double best = costs.plan + costs.atom * static_cast<double>(atoms) +
                costs.tile * static_cast<double>(tiles);
  ScheduleChoice choice{0};
  for (int w = 0; w < TileStatistics::kWidths; ++w) {
    const double warps = static_cast<double>(tiles) * (1 << w) / 32;
    const double tail = costs.lone_step * static_cast<double>(statistics.longest >> w);
    const double all =
        costs.step * static_cast<double>(statistics.warp_steps[w]) + costs.warp * warps;
    const double cost = std::max(tail, all);
    if (cost >= best) continue;
    best = cost;
    choice.width = 1 << w;
  }
  return choice;
}

/// Calls run(schedule) with the chosen one.
template <class Run>
auto with_schedule(const ScheduleChoice& choice, Run run) {
  switch (choice.width) {
    case 1:
      return run(VirtualWarps<1>{});
    case 2:
      return run(VirtualWarps<2>{});
    case 4:
      return run(VirtualWarps<4>{});
    case 8:
      return run(VirtualWarps<8>{});
    case 16:
      return run(VirtualWarps<16>{});
    case 32:
      return run(VirtualWarps<32>{});
    default:
      return run(MultiPhaseMapping<8, 1>{});
  }
}

}  // namespace gdelta
