// Which schedule, by what is cheap to know (Osama, Porumbescu and Owens choose by the numbers of rows and
// entries): few tiles and atoms need no look at them, others are looked at once (tile_statistics.cuh).
// Static mappings cost what steps their warps take; a mapping that balances all costs by the atom, and a
// search before.
#pragma once

#include <algorithm>

#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/tile_statistics.cuh"
#include "gdelta/schedules/virtual_warps.cuh"

namespace gdelta {

struct ScheduleChoice {
  int width;  ///< of virtual warps: 1, 2, ... 32; or 0: what balances all
};

/// What mappings cost a work, in nanoseconds on an H200.
struct MappingCosts {
  double step;  ///< static: of a warp
  double warp;  ///< to find its tiles
  double static_atom;
  double lone_step;  ///< of the warp that all others wait for
  double plan;       ///< balanced: before the first atom
  double atom;
  double tile;
  /// Up to so many tiles and atoms, a warp a tile: there are more threads than work, and the longest tile counts.
  std::uint64_t few = 10'000;
};
/// Of work that stores something for every atom (bench/results/h200/mappings.csv, 2026-11-22).
inline constexpr MappingCosts kStoreCosts{.step = 0.02,
                                          .warp = 0.077,
                                          .static_atom = 0.0005,
                                          .lone_step = 5.5,
                                          .plan = 7'000,
                                          .atom = 0.0017,
                                          .tile = 0.002};
/// Of work that gathers and sums up, balanced by merge path (docs/history/segments.md).
inline constexpr MappingCosts kSumCosts{.step = 0.02,
                                        .warp = 0.077,
                                        .static_atom = 0.0095,
                                        .lone_step = 130,
                                        .plan = 10'000,
                                        .atom = 0.0078,
                                        .tile = 0.015};
/// Of the same work, balanced by gdelta/primitives/segmented_reduce.cuh (bench/results/h100/spmv.csv, 2026-11-26, at the
/// speed of an H200). Nothing is cleared before, which takes static mappings longer than all that is balanced begins with.
inline constexpr MappingCosts kReduceCosts{.step = 0.02,
                                           .warp = 0.077,
                                           .static_atom = 0.0095,
                                           .lone_step = 130,
                                           .plan = 0,
                                           .atom = 0.0072,
                                           .tile = 0.0075,
                                           .few = 0};

namespace schedules {

/// A thread a tile is for tiles shorter than half a sector of memory, whose neighbours share sectors:
/// rows of 8 words take three times as long as by two threads.
constexpr std::uint64_t kThreadAtoms = 4;

}  // namespace schedules

/// Chooses by the numbers alone. Few: a warp a tile, which is group mapping, not thread mapping. Many: what
/// balances all.
inline ScheduleChoice choose_schedule(std::uint64_t tiles, std::uint64_t atoms,
                                      const MappingCosts& costs = kStoreCosts) {
  return {std::max(tiles, atoms) <= costs.few ? 32 : 0};
}

/// Chooses by a look at the tiles, too, whose result the host has read.
inline ScheduleChoice choose_schedule(std::uint64_t tiles, std::uint64_t atoms,
                                      const TileStatistics& statistics,
                                      const MappingCosts& costs = kStoreCosts) {
  ScheduleChoice choice = choose_schedule(tiles, atoms, costs);
  if (choice.width != 0) return choice;
  const auto num_tiles = static_cast<double>(tiles), num_atoms = static_cast<double>(atoms);
  double best = costs.plan + costs.atom * num_atoms + costs.tile * num_tiles;
  for (int w = 0; w < TileStatistics::kWidths; ++w) {
    const int width = 1 << w;
    if (width == 1 && atoms >= schedules::kThreadAtoms * tiles) continue;
    const double all = costs.step * static_cast<double>(statistics.warp_steps[w]) +
                       costs.warp * num_tiles * width / 32 + costs.static_atom * num_atoms;
    const double cost =
        std::max(all, costs.lone_step * static_cast<double>(statistics.longest) / width);
    if (cost >= best) continue;
    best = cost;
    choice.width = width;
  }
  return choice;
}

/// Calls run(schedule) with what was chosen. `balanced` is what balances all: multi-phase mapping,
/// whose neighbours get neighbouring atoms; for sums, merge path, whose threads get atoms that follow
/// each other.
template <class Run, class Balanced = MultiPhaseMapping<8, 1>>
auto with_schedule(const ScheduleChoice& choice, Run run, Balanced balanced = {}) {
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
      return run(balanced);
  }
}

}  // namespace gdelta
