// gdelta.bench.delta: differences and sums of a lane, GB of values a second on one core, in cache.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "kernels/bitpack/group_pack.h"
#include "kernels/deltas/lane_delta.h"
#include "kernels/deltas/stride_delta.h"

namespace gdelta {
namespace {

constexpr int kValues = 4096;

template <class Word>
std::vector<Word> random_words(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<Word> words(count);
  for (Word& word : words) word = static_cast<Word>(random());
  return words;
}

template <class Word>
void report(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * kValues * static_cast<std::int64_t>(sizeof(Word)));
}

template <class Word>
void difference(benchmark::State& state) {
  const int order = static_cast<int>(state.range(0));
  auto words = random_words<Word>(kValues + order);
  Word states[kMaxDeltaOrder];
  for (auto _ : state) {
    difference_lane(words.data(), kValues, order, 8 * sizeof(Word), states);
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

// What decodes a page of pack: group by group, out of slots.
template <class Word>
void sum_groups(benchmark::State& state) {
  const int order = static_cast<int>(state.range(0));
  const auto slots = random_words<Word>(kValues);
  std::vector<Word> values(kValues);
  Word states[kMaxDeltaOrder] = {};
  for (auto _ : state) {
    for (int at = 0; at < kValues; at += kGroupValues)
      sum_slots(slots.data() + at, order, states, values.data() + at);
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

// What decodes the residuals of zstd.
template <class Word>
void sum(benchmark::State& state) {
  auto words = random_words<Word>(kValues);
  Word states[kMaxDeltaOrder] = {};
  for (auto _ : state) {
    sum_lane(words.data(), kValues, static_cast<int>(state.range(0)), states);
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

void sum_over_stride(benchmark::State& state) {
  auto words = random_words<std::uint32_t>(kValues);
  for (auto _ : state) {
    sum_stride(reinterpret_cast<unsigned char*>(words.data()), kValues, 4, state.range(0), 1);
    benchmark::ClobberMemory();
  }
  report<std::uint32_t>(state);
}

BENCHMARK(difference<std::uint32_t>)->Arg(1)->Arg(2)->Arg(8);
BENCHMARK(sum_groups<std::uint32_t>)->Arg(1)->Arg(2)->Arg(8);
BENCHMARK(sum<std::uint32_t>)->Arg(1)->Arg(2)->Arg(8);
BENCHMARK(difference<std::uint64_t>)->Arg(1)->Arg(2);
BENCHMARK(sum_groups<std::uint64_t>)->Arg(1)->Arg(2);
BENCHMARK(sum<std::uint64_t>)->Arg(1)->Arg(2);
BENCHMARK(sum_over_stride)->Arg(2)->Arg(64)->Arg(1000);

}  // namespace
}  // namespace gdelta
