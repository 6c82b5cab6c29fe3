// Dynamic virtual warps with dynamic parallelism, as mappings_bench measures the others. A program of its
// own, since only this mapping wants relocatable device code. Prints CSV.
#include "bench/mapping_timing.cuh"
#include "gdelta/schedules/dynamic_virtual_warps.cuh"

int main() {
  using namespace gdelta;
  std::printf("workload,mapping,ms,scratch_bytes,threads\n");
  bench::for_each_workload([](const bench::Workload& w, const bench::Tiles& tiles) {
    const unsigned width = DynamicVirtualWarps::width_for(tiles);
    bench::measure(w, tiles, "dynamic_virtual_warps", DynamicVirtualWarps{.width = width});
  });
}
