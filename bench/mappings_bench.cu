// Work mappings over workloads like those of the paper on multi-phase mapping. Prints CSV; a plan counts.
//
// usage: mappings_bench [phases]
// With `phases`: two-phase and multi-phase mapping in parts. Loading is the chunks' tiles alone, searching
// is what pieces cost that nobody stores, storing is the rest.
#include <cstring>

#include "bench/mapping_timing.cuh"
#include "gdelta/schedules/block_search.cuh"
#include "gdelta/schedules/choose_schedule.cuh"
#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/direct_search.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/local_warp_search.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/thread_mapped.cuh"
#include "gdelta/schedules/two_phase_search.cuh"
#include "gdelta/schedules/virtual_warps.cuh"

namespace gdelta::bench {
namespace {

bool is_regular(const Workload& w) {
  const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
  return MultiPhaseMapping<>::is_regular(average, w.deviation);
}

/// The look at the tiles, and what it chooses.
void measure_choice(const Workload& w, const Tiles& tiles) {
  auto* const on_device = device_array<TileStatistics>(1);
  const double seconds =
      seconds_of(tiles, [&] { GDELTA_CHECK(measure_tiles(tiles, on_device, nullptr)); });
  TileStatistics statistics{};
  GDELTA_CHECK(cudaMemcpy(&statistics, on_device, sizeof statistics, cudaMemcpyDeviceToHost));
  GDELTA_CHECK(cudaFree(on_device));
  std::printf("%s,statistics,%.4f,%zu,\n", w.name, seconds * 1e3, sizeof statistics);
  const ScheduleChoice choice = choose_schedule(tiles.count, tiles.atoms, statistics);
  char name[40];
  std::snprintf(name, sizeof name, "chosen:%s%.0d",
                choice.width == 0 ? "multi_phase" : "virtual_warps_", choice.width);
  with_schedule(choice, [&](auto schedule) { measure(w, tiles, name, schedule); });
}

void measure_all(const Workload& w, const Tiles& tiles) {
  measure(w, tiles, "thread_mapped", ThreadMapped{});
  measure(w, tiles, "virtual_warps_2", VirtualWarps<2>{});
  measure(w, tiles, "virtual_warps_4", VirtualWarps<4>{});
  measure(w, tiles, "virtual_warps_8", VirtualWarps<8>{});
  measure(w, tiles, "virtual_warps_16", VirtualWarps<16>{});
  measure(w, tiles, "virtual_warps_32", VirtualWarps<32>{});
  measure(w, tiles, "local_warp_search", LocalWarpSearch{});
  measure(w, tiles, "block_search", BlockSearch{});
  measure(w, tiles, "warp_mapped", WarpMapped{});
  measure(w, tiles, "block_mapped", BlockMapped{});
  measure(w, tiles, "cta_warp_scan", CtaWarpScan{});
  measure(w, tiles, "merge_path", MergePath{});
  measure(w, tiles, "direct_search", DirectSearch{});
  measure(w, tiles, "two_phase_search", TwoPhaseSearch<>{});
  measure(w, tiles, "multi_phase_is1", MultiPhaseMapping<8, 1>{});
  measure(w, tiles, "multi_phase_is2", MultiPhaseMapping<8, 2>{});
  if (is_regular(w))
    measure(w, tiles, "multi_phase_is1_interpolation",
            MultiPhaseMapping<8, 1>{.interpolates = true});
  measure_choice(w, tiles);
}

/// Loads the tiles of its chunks, and that is all.
template <int kChunk>
struct LoadOnly {
  static constexpr int kThreads = 128;
  const std::uint64_t* first_tiles;
  std::uint64_t blocks(const Tiles& tiles) const {
    return schedules::some_blocks(schedules::divide_up(tiles.atoms, kChunk));
  }
  template <class Work>
  __device__ void operator()(const Tiles& tiles, const Work& work) const {
    __shared__ unsigned room[kChunk + 1];
    for (std::uint64_t chunk = blockIdx.x; chunk * kChunk < tiles.atoms; chunk += gridDim.x) {
      const schedules::ChunkTiles<kChunk + 1, unsigned, Tiles> own(
          tiles, first_tiles[chunk], first_tiles[chunk + 1], chunk * kChunk, room);
      work(Piece{.tile = own.first + room[threadIdx.x % own.count],
                 .begin = 0,
                 .end = 0,
                 .step = 1,
                 .whole = false});
    }
  }
};

/// Takes pieces as if it needed them.
struct LookAtTile {
  std::uint32_t* out;
  __device__ void operator()(const Piece& piece) const {
    if (piece.tile + piece.begin + piece.end == ~0ull) *out = 0;
  }
};

template <class Schedule>
void measure_phases(const Workload& w, const Tiles& tiles, const char* name, Schedule schedule) {
  auto* const out = device_array<std::uint32_t>(tiles.atoms);
  Planned<Schedule> planned(schedule, tiles);
  const double partition = seconds_of(tiles, [&] { planned.plan(); });
  Planned<LoadOnly<Schedule::kChunk>> loading({planned.schedule.first_tiles}, tiles);
  const double load = seconds_of(tiles, [&] { loading.run(LookAtTile{out}); });
  const double search = seconds_of(tiles, [&] { planned.run(LookAtTile{out}); });
  const double expansion = seconds_of(tiles, [&] { planned.run(WriteTile{out}); });
  std::printf("%s,%s,%.4f,%.4f,%.4f,%.4f,%.4f\n", w.name, name, partition * 1e3, expansion * 1e3,
              load * 1e3, (search - load) * 1e3, (expansion - search) * 1e3);
  GDELTA_CHECK(cudaFree(out));
}

void measure_all_phases(const Workload& w, const Tiles& tiles) {
  measure_phases(w, tiles, "two_phase_search", TwoPhaseSearch<>{});
  measure_phases(w, tiles, "multi_phase_is1", MultiPhaseMapping<8, 1>{});
  measure_phases(w, tiles, "multi_phase_is2", MultiPhaseMapping<8, 2>{});
  if (is_regular(w))
    measure_phases(w, tiles, "multi_phase_is1_interpolation",
                   MultiPhaseMapping<8, 1>{.interpolates = true});
}

}  // namespace
}  // namespace gdelta::bench

int main(int argc, char** argv) {
  using namespace gdelta::bench;
  if (argc > 1 && std::strcmp(argv[1], "phases") == 0) {
    std::printf("workload,mapping,partition_ms,expansion_ms,load_ms,search_ms,store_ms\n");
    for_each_workload(measure_all_phases);
  } else {
    std::printf("workload,mapping,ms,scratch_bytes,threads\n");
    for_each_workload(measure_all);
  }
}
