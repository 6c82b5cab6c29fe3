// gdelta.bench.checksum: the check of a part's contents, GB a second on one core, in cache.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "kernels/checksum/part_check.h"

namespace gdelta {
namespace {

void check(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(state.range(0)));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  for (auto _ : state) {
    std::uint32_t value = part_check(bytes.size(), bytes.data(), bytes.size());
    benchmark::DoNotOptimize(value);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(check)->Arg(512)->Arg(16384);

}  // namespace
}  // namespace gdelta
