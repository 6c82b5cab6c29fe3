// For benches of work mappings: every atom's tile is written to its place, and verified.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "bench/mapping_workloads.h"
#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta::bench {

using Tiles = CsrTiles<std::uint32_t>;

struct WriteTile {
  std::uint32_t* out;
  __device__ void operator()(const Piece& piece) const {
    for (std::uint64_t atom = piece.begin; atom < piece.end; atom += piece.step)
      out[atom] = static_cast<std::uint32_t>(piece.tile);
  }
};

__global__ void count_wrong(Tiles tiles, const std::uint32_t* out, unsigned long long* wrong) {
  for (std::uint64_t a = blockIdx.x * 256ull + threadIdx.x; a < tiles.atoms;
       a += gridDim.x * 256ull)
    if (out[a] >= tiles.count || a < tiles.begin(out[a]) || a >= tiles.end(out[a]))
      atomicAdd(wrong, 1ull);
}

/// Ends the program if a tile is wrong.
inline void verify(const Workload& w, const Tiles& tiles, const char* name,
                   const std::uint32_t* out) {
  auto* const counter = device_array<unsigned long long>(1);
  unsigned long long wrong = 0;
  GDELTA_CHECK(cudaMemset(counter, 0, 8));
  count_wrong<<<1024, 256>>>(tiles, out, counter);
  GDELTA_CHECK(cudaMemcpy(&wrong, counter, 8, cudaMemcpyDeviceToHost));
  GDELTA_CHECK(cudaFree(counter));
  if (wrong == 0) return;
  std::fprintf(stderr, "%s by %s: %llu tiles are wrong\n", w.name, name, wrong);
  std::exit(1);
}

/// A schedule with room for its plan, if it has one.
template <class Schedule>
struct Planned {
  Schedule schedule;
  const Tiles& tiles;
  std::size_t scratch_bytes = 0;
  char* scratch = nullptr;

  Planned(Schedule given, const Tiles& all) : schedule(given), tiles(all) {
    if constexpr (kPlans) {
      scratch_bytes = schedule.scratch_bytes(tiles);
      scratch = device_array<char>(scratch_bytes);
    }
  }
  Planned(const Planned&) = delete;
  ~Planned() { cudaFree(scratch); }

  static constexpr bool kPlans = requires(Schedule s, Tiles t) { s.scratch_bytes(t); };
  void plan() {
    if constexpr (kPlans) GDELTA_CHECK(schedule.plan(tiles, scratch, nullptr));
  }
  template <class Work>
  void run(const Work& work) {
    GDELTA_CHECK(launch_schedule(schedule, tiles, work, nullptr));
  }
};

/// Median seconds of `launch`. One of little work is timed many times in a row.
template <class Launch>
double seconds_of(const Tiles& tiles, const Launch& launch) {
  const int times = tiles.atoms < 100'000 ? 50 : 1;
  return median_seconds(2, 11,
                        [&] {
                          for (int i = 0; i < times; ++i) launch();
                        }) /
         times;
}

/// A row of CSV: milliseconds of plan and launch together, scratch, threads of the launch.
template <class Schedule>
void measure(const Workload& w, const Tiles& tiles, const char* name, Schedule schedule) {
  auto* const out = device_array<std::uint32_t>(tiles.atoms);
  GDELTA_CHECK(cudaMemset(out, 0xff, tiles.atoms * 4));
  Planned<Schedule> planned(schedule, tiles);
  const double seconds = seconds_of(tiles, [&] {
    planned.plan();
    planned.run(WriteTile{out});
  });
  verify(w, tiles, name, out);
  std::printf("%s,%s,%.4f,%zu,%llu\n", w.name, name, seconds * 1e3, planned.scratch_bytes,
              static_cast<unsigned long long>(schedule.blocks(tiles)) * Schedule::kThreads);
  std::fflush(stdout);
  GDELTA_CHECK(cudaFree(out));
}

/// Calls f(workload, its tiles in device memory).
template <class F>
void for_each_workload(F f) {
  for (const Workload& w : kWorkloads) {
    const std::vector<std::uint32_t> offsets = make_offsets(w);
    auto* const on_device = device_array<std::uint32_t>(offsets.size());
    GDELTA_CHECK(cudaMemcpy(on_device, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    f(w, Tiles{on_device, w.rows, w.nonzeros});
    GDELTA_CHECK(cudaFree(on_device));
  }
}

}  // namespace gdelta::bench
