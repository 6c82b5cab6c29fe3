// What every schedule is held to, on a GPU and on the simulated device: each atom comes once, with its
// tile, and a whole piece is a whole tile.
#pragma once

#include <algorithm>

#include "gdelta/schedules/add_to_tile.cuh"
#include "gdelta/schedules/block_search.cuh"
#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/direct_search.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/local_warp_search.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/thread_mapped.cuh"
#include "gdelta/schedules/two_phase_search.cuh"
#include "gdelta/schedules/virtual_warps.cuh"
#include "kernels/segments_cases.h"

namespace gdelta::segments_test {

struct Record {
  const std::uint32_t* offsets;
  std::uint64_t* tiles;  ///< of atoms
  unsigned* visits;      ///< of atoms
  unsigned* mistakes;
  __device__ void operator()(const Piece& piece) const {
    for (std::uint64_t atom = piece.begin; atom < piece.end; atom += piece.step) {
      tiles[atom] = piece.tile;
      atomicAdd(visits + atom, 1u);
    }
    const bool is_tile = piece.begin == offsets[piece.tile] && piece.step == 1 &&
                         piece.end == offsets[piece.tile + 1];
    if (piece.whole && !is_tile) atomicAdd(mistakes, 1u);
  }
};

/// Sizes of tiles: regular, power law, some empty (more in a row than a block has room for), all empty,
/// one huge among tiny.
inline std::vector<std::pair<std::string, Lengths>> tile_sizes(std::uint64_t tiles) {
  std::mt19937 random(9);
  std::vector<std::pair<std::string, Lengths>> all{
      {"no atoms", Lengths(tiles, 0)}, {"ones", Lengths(tiles, 1)}, {"eights", Lengths(tiles, 8)}};
  Lengths power, holes, huge;
  for (std::uint64_t t = 0; t < tiles; ++t) {
    power.push_back(std::min<std::uint64_t>(2000, 1 + 40 / (1 + random() % 100) * (random() % 50)));
    holes.push_back(t < 3 || t + 4 > tiles || t % 2500 < 2300 ? 0 : random() % 5);
    huge.push_back(t == tiles / 2 ? 5 * tiles : random() % 2);
  }
  all.insert(all.end(), {{"power law", power}, {"holes", holes}, {"huge", huge}});
  return all;
}

template <class Schedule, class Tiles, class Work>
void launch_planned(Schedule schedule, const Tiles& tiles, const Work& work) {
  std::size_t bytes = 0;
  if constexpr (requires { schedule.scratch_bytes(tiles); }) bytes = schedule.scratch_bytes(tiles);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  if constexpr (requires { schedule.scratch_bytes(tiles); }) {
    ASSERT_EQ(schedule.plan(tiles, scratch.data(), nullptr), cudaSuccess);
  }
  ASSERT_EQ(launch_schedule(schedule, tiles, work, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

template <class Schedule, class Tiles>
void expect_every_atom(Schedule schedule, const Tiles& tiles, const Lengths& sizes,
                       const std::uint32_t* offsets, const std::string& what) {
  std::vector<std::uint64_t> expected;
  for (std::size_t t = 0; t < sizes.size(); ++t) expected.insert(expected.end(), sizes[t], t);
  const OnDevice<std::uint64_t> found(std::vector<std::uint64_t>(tiles.atoms, ~0ull));
  const OnDevice<unsigned> visits(std::vector<unsigned>(tiles.atoms, 0));
  const OnDevice<unsigned> mistakes(std::vector<unsigned>(1, 0));
  launch_planned(schedule, tiles,
                 Record{.offsets = offsets,
                        .tiles = found.data(),
                        .visits = visits.data(),
                        .mistakes = mistakes.data()});
  EXPECT_EQ(difference(found.values(), expected), "") << what;
  EXPECT_EQ(difference(visits.values(), std::vector<unsigned>(tiles.atoms, 1)), "") << what;
  EXPECT_EQ(mistakes.values()[0], 0u) << what;
}

/// Sums of what `value_of` says of a tile's atoms.
struct SumUp {
  std::uint32_t* sums;
  __host__ __device__ static std::uint32_t value_of(std::uint64_t atom) {
    return static_cast<std::uint32_t>(atom * 2654435761u);
  }
  __device__ void operator()(const Piece& piece) const {
    std::uint32_t sum = 0;
    for (std::uint64_t atom = piece.begin; atom < piece.end; atom += piece.step)
      sum += value_of(atom);
    add_to_tile(sums, piece, sum);
  }
};

template <class Schedule, class Tiles>
void expect_sums(Schedule schedule, const Tiles& tiles, const Lengths& sizes,
                 const std::string& what) {
  std::vector<std::uint32_t> expected(sizes.size());
  std::uint64_t atom = 0;
  for (std::size_t t = 0; t < sizes.size(); ++t)
    for (std::uint64_t i = 0; i < sizes[t]; ++i) expected[t] += SumUp::value_of(atom++);
  const OnDevice<std::uint32_t> sums(std::vector<std::uint32_t>(sizes.size(), 0));
  launch_planned(schedule, tiles, SumUp{sums.data()});
  EXPECT_EQ(difference(sums.values(), expected), "") << what << ", sums";
}

/// Calls f(schedule, name) for every schedule.
template <class F>
void for_each_schedule(F f) {
  f(ThreadMapped{}, "thread mapped");
  f(VirtualWarps<4>{}, "virtual warps of 4");
  f(VirtualWarps<32>{}, "virtual warps of 32");
  f(GroupMapped<8>{}, "group mapped");
  f(LocalWarpSearch{}, "local warp search");
  f(BlockSearch{}, "block search");
  f(WarpMapped{}, "warp mapped");
  f(BlockMapped{}, "block mapped");
  f(CtaWarpScan{}, "CTA, warp, scan");
  f(MergePath{}, "merge path");
  f(DirectSearch{}, "direct search");
  f(TwoPhaseSearch<>{}, "two-phase search");
  f(MultiPhaseMapping<>{}, "multi-phase mapping");
  f(MultiPhaseMapping<>{.interpolates = true}, "multi-phase mapping by interpolation");
}

/// Calls f(tiles, sizes, name) for tiles of all kinds of sizes.
template <class F>
void for_each_tile_set(std::uint64_t tile_count, F f) {
  for (const auto& [name, sizes] : tile_sizes(tile_count)) {
    const auto offsets = offsets_of<std::uint32_t>(sizes);
    const OnDevice<std::uint32_t> device_offsets(offsets);
    f(CsrTiles<std::uint32_t>{device_offsets.data(), sizes.size(), offsets.back()}, sizes, name);
  }
}

inline void expect_all_schedules(std::uint64_t tile_count) {
  for_each_tile_set(
      tile_count, [](const auto& tiles, const Lengths& sizes, const std::string& name) {
        for_each_schedule([&](auto schedule, const char* schedule_name) {
          expect_every_atom(schedule, tiles, sizes, tiles.offsets, name + " by " + schedule_name);
          expect_sums(schedule, tiles, sizes, name + " by " + schedule_name);
        });
        std::vector<std::uint32_t> of_atoms;
        for (std::size_t t = 0; t < sizes.size(); ++t)
          of_atoms.insert(of_atoms.end(), sizes[t], static_cast<std::uint32_t>(t));
        const OnDevice<std::uint32_t> device_of_atoms(of_atoms);
        const CooTiles<std::uint32_t> coo{device_of_atoms.data(), sizes.size(), of_atoms.size()};
        expect_every_atom(MergePath{}, coo, sizes, tiles.offsets, name + ", COO, merge path");
        expect_every_atom(MultiPhaseMapping<>{}, coo, sizes, tiles.offsets,
                          name + ", COO, multi-phase mapping");
      });
}

}  // namespace gdelta::segments_test
