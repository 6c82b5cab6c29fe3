// Work mappings over workloads of the rows, nonzeros and longest row that the paper on multi-phase mapping
// lists: every atom's tile is written to its place, and verified. Prints CSV; a plan counts.
//
// Sizes of rows are drawn (seeded) from a power law cut at the longest row, whose exponent is searched so
// that average and deviation are the paper's; both, as reached, are printed to stderr. Rows of regular8 are
// equal, those of the road network between 1 and 8.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/direct_search.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/thread_mapped.cuh"
#include "gdelta/schedules/two_phase_search.cuh"
#include "gdelta/schedules/virtual_warps.cuh"

namespace gdelta::bench {
namespace {

/// A row of table 3 of the paper.
struct Workload {
  const char* name;
  std::uint64_t rows;
  std::uint64_t nonzeros;
  double deviation;
  std::uint64_t longest;
};
constexpr Workload kWorkloads[] = {
    {"regular8", 1'000'000, 8'000'000, 0.0, 8},
    {"great-britain_osm", 7'733'822, 16'313'034, 0.5, 8},
    {"cit-Patents", 3'774'768, 16'518'948, 7.5, 770},
    {"web-NotreDame", 325'729, 1'497'134, 21.4, 3'445},
    {"circuit5M", 5'558'326, 59'524'291, 1'356.6, 1'290'501},
    {"as-Skitter", 1'696'415, 22'190'596, 136.9, 35'455},
    {"kron_g500-logn20", 1'048'576, 89'239'674, 1'033.1, 413'378},
};

/// Sizes at the quantiles of a power law, scaled so that they add up; rows beyond the longest are cut.
class PowerLaw {
 public:
  PowerLaw(const Workload& w, double exponent) : exponent_(exponent), longest_(w.longest) {
    const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
    double low = 0, high = 1e6;
    for (int step = 0; step < 60; ++step) {
      scale_ = (low + high) / 2;
      (moments().first < average ? low : high) = scale_;
    }
  }
  double size(double quantile) const {
    return std::min(static_cast<double>(longest_), scale_ * std::pow(quantile, -1 / exponent_));
  }
  /// Average and deviation, by many quantiles, close together where rows are long.
  std::pair<double, double> moments() const {
    double sum = 0, squares = 0, before = 0;
    for (int i = -400; i <= 0; ++i) {
      const double quantile = std::pow(10.0, i / 50.0);
      const double s = size((before + quantile) / 2);
      sum += s * (quantile - before);
      squares += s * s * (quantile - before);
      before = quantile;
    }
    return {sum, std::sqrt(std::max(0.0, squares - sum * sum))};
  }

 private:
  double exponent_;
  double scale_ = 0;
  std::uint64_t longest_;
};

std::vector<std::uint32_t> make_offsets(const Workload& w) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::uint32_t> sizes(w.rows);
  if (w.longest <= 8) {
    for (std::uint32_t& size : sizes)
      size = w.deviation == 0 ? 8 : 2 + (random() % 9 == 0) * (random() % 2 == 0 ? 1 : -1);
  } else {
    double low = 0.3, high = 4;  // a steeper law deviates less
    for (int step = 0; step < 40; ++step) {
      const double exponent = (low + high) / 2;
      (PowerLaw(w, exponent).moments().second > w.deviation ? low : high) = exponent;
    }
    const PowerLaw law(w, low);
    for (std::uint32_t& size : sizes)
      size = static_cast<std::uint32_t>(law.size(1 - uniform(random)) + uniform(random));
  }
  sizes[w.rows / 3] = static_cast<std::uint32_t>(w.longest);
  std::uint64_t sum = 0;
  for (const std::uint32_t size : sizes) sum += size;
  while (sum != w.nonzeros) {  // the rest, one by one
    std::uint32_t& size = sizes[random() % w.rows];
    if (sum < w.nonzeros && size < w.longest) ++size, ++sum;
    if (sum > w.nonzeros && size > 0 && size < w.longest) --size, --sum;
  }
  std::vector<std::uint32_t> offsets{0};
  double squares = 0;
  for (const std::uint32_t size : sizes) {
    offsets.push_back(offsets.back() + size);
    squares += static_cast<double>(size) * size;
  }
  const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
  std::fprintf(stderr, "%s: average %.1f, deviation %.1f (the paper's: %.1f)\n", w.name, average,
               std::sqrt(squares / static_cast<double>(w.rows) - average * average), w.deviation);
  return offsets;
}

struct WriteTile {
  std::uint32_t* out;
  __device__ void operator()(const Piece& piece) const {
    for (std::uint64_t atom = piece.begin; atom < piece.end; atom += piece.step)
      out[atom] = static_cast<std::uint32_t>(piece.tile);
  }
};

__global__ void count_wrong(CsrTiles<std::uint32_t> tiles, const std::uint32_t* out,
                            unsigned long long* wrong) {
  for (std::uint64_t a = blockIdx.x * 256ull + threadIdx.x; a < tiles.atoms;
       a += gridDim.x * 256ull)
    if (out[a] >= tiles.count || a < tiles.begin(out[a]) || a >= tiles.end(out[a]))
      atomicAdd(wrong, 1ull);
}

template <class Schedule>
void measure(const Workload& w, const CsrTiles<std::uint32_t>& tiles, const char* name,
             Schedule schedule) {
  auto* const out = device_array<std::uint32_t>(tiles.atoms);
  GDELTA_CHECK(cudaMemset(out, 0xff, tiles.atoms * 4));
  char* scratch = nullptr;
  if constexpr (requires { schedule.scratch_bytes(tiles); })
    scratch = device_array<char>(schedule.scratch_bytes(tiles));
  const double seconds = median_seconds(1, 7, [&] {
    if constexpr (requires { schedule.scratch_bytes(tiles); })
      GDELTA_CHECK(schedule.plan(tiles, scratch, nullptr));
    GDELTA_CHECK(launch_schedule(schedule, tiles, WriteTile{out}, nullptr));
  });
  auto* const counter = device_array<unsigned long long>(1);
  unsigned long long wrong = 0;
  GDELTA_CHECK(cudaMemset(counter, 0, 8));
  count_wrong<<<1024, 256>>>(tiles, out, counter);
  GDELTA_CHECK(cudaMemcpy(&wrong, counter, 8, cudaMemcpyDeviceToHost));
  if (wrong != 0) {
    std::fprintf(stderr, "%s by %s: %llu tiles are wrong\n", w.name, name, wrong);
    std::exit(1);
  }
  std::printf("%s,%s,%.4f\n", w.name, name, seconds * 1e3);
  std::fflush(stdout);
  GDELTA_CHECK(cudaFree(out));
  GDELTA_CHECK(cudaFree(counter));
  GDELTA_CHECK(cudaFree(scratch));
}

void measure_all(const Workload& w) {
  const std::vector<std::uint32_t> offsets = make_offsets(w);
  auto* const on_device = device_array<std::uint32_t>(offsets.size());
  GDELTA_CHECK(cudaMemcpy(on_device, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
  const CsrTiles<std::uint32_t> tiles{on_device, w.rows, w.nonzeros};
  measure(w, tiles, "thread_mapped", ThreadMapped{});
  measure(w, tiles, "virtual_warps_2", VirtualWarps<2>{});
  measure(w, tiles, "virtual_warps_8", VirtualWarps<8>{});
  measure(w, tiles, "virtual_warps_32", VirtualWarps<32>{});
  measure(w, tiles, "warp_mapped", WarpMapped{});
  measure(w, tiles, "block_mapped", BlockMapped{});
  measure(w, tiles, "cta_warp_scan", CtaWarpScan{});
  measure(w, tiles, "merge_path", MergePath{});
  measure(w, tiles, "direct_search", DirectSearch{});
  measure(w, tiles, "two_phase_search", TwoPhaseSearch<>{});
  measure(w, tiles, "multi_phase_is1", MultiPhaseMapping<8, 1>{});
  measure(w, tiles, "multi_phase_is2", MultiPhaseMapping<8, 2>{});
  const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
  if (MultiPhaseMapping<>::is_regular(average, w.deviation))
    measure(w, tiles, "multi_phase_is2_interpolation",
            MultiPhaseMapping<8, 2>{.interpolates = true});
  GDELTA_CHECK(cudaFree(on_device));
}

}  // namespace
}  // namespace gdelta::bench

int main() {
  std::printf("workload,mapping,ms\n");
  for (const gdelta::bench::Workload& w : gdelta::bench::kWorkloads) gdelta::bench::measure_all(w);
}
