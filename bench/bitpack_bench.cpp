// gdelta.bench.bitpack: packing and unpacking of groups, GB of values a second on one core.
// The values lie in cache, as they do when a page is decoded; `copy` is a copy of as many bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/bitpack/group_pack.h"

namespace gdelta {
namespace {

constexpr int kGroups = 32;  // a page of 4096 values

template <class Word>
std::vector<Word> residuals_of(int width) {
  std::mt19937_64 random(width);
  std::vector<Word> residuals(kGroups * kGroupValues);
  for (Word& residual : residuals)
    residual = static_cast<Word>(random() & (~std::uint64_t{0} >> (64 - width)));
  return residuals;
}

template <class Word>
void report(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * kGroups * kGroupValues *
                          static_cast<std::int64_t>(sizeof(Word)));
}

template <class Word>
void copy(benchmark::State& state) {
  const auto from = residuals_of<Word>(32);
  std::vector<Word> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(Word));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

template <class Word>
void pack(benchmark::State& state) {
  const int width = static_cast<int>(state.range(0));
  const auto residuals = residuals_of<Word>(width);
  std::vector<unsigned char> packed(kGroups * 16 * width);
  for (auto _ : state) {
    for (int g = 0; g < kGroups; ++g)
      pack_group(residuals.data() + g * kGroupValues, width, packed.data() + g * 16 * width);
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

template <class Word>
void unpack(benchmark::State& state) {
  const int width = static_cast<int>(state.range(0));
  const auto residuals = residuals_of<Word>(width);
  std::vector<unsigned char> packed(kGroups * 16 * width + kUnpackSlack);
  for (int g = 0; g < kGroups; ++g)
    pack_group(residuals.data() + g * kGroupValues, width, packed.data() + g * 16 * width);
  std::vector<Word> slots(kGroupValues);
  for (auto _ : state) {
    for (int g = 0; g < kGroups; ++g) {
      unpack_slots(packed.data() + g * 16 * width, width, slots.data());
      benchmark::DoNotOptimize(slots.data());
    }
  }
  report<Word>(state);
}

template <class Word>
void count(benchmark::State& state) {
  const auto residuals = residuals_of<Word>(static_cast<int>(state.range(0)));
  std::uint8_t counts[65];
  for (auto _ : state) {
    for (int g = 0; g < kGroups; ++g) {
      count_bit_lengths(residuals.data() + g * kGroupValues, counts);
      benchmark::DoNotOptimize(counts);
    }
  }
  report<Word>(state);
}

BENCHMARK(copy<std::uint32_t>);
BENCHMARK(pack<std::uint32_t>)->Arg(3)->Arg(9)->Arg(20)->Arg(32);
BENCHMARK(unpack<std::uint32_t>)->Arg(3)->Arg(9)->Arg(20)->Arg(32);
BENCHMARK(count<std::uint32_t>)->Arg(9);
BENCHMARK(pack<std::uint64_t>)->Arg(9)->Arg(40)->Arg(64);
BENCHMARK(unpack<std::uint64_t>)->Arg(9)->Arg(40)->Arg(64);
BENCHMARK(count<std::uint64_t>)->Arg(40);

}  // namespace
}  // namespace gdelta
