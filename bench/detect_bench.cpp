// gdelta.bench.detect: looking for type and tuple at -1, beside compressing with what was found, on one
// core. Random walks of two lanes; the argument is their length in bytes. A search should take no longer
// than compressing does.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "codec/detect/detect.h"
#include "gdelta/codec.h"

namespace gdelta {
namespace {

constexpr int kLevel = 1;

template <class Value>
std::vector<std::byte> random_walk(std::size_t bytes) {
  std::mt19937_64 random(bytes);
  std::vector<Value> values(bytes / sizeof(Value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value before = i < 2 ? Value{1000} : values[i - 2];
    values[i] = static_cast<Value>(before + static_cast<Value>(random() % 61) - 30);
  }
  std::vector<std::byte> walk(bytes);
  std::memcpy(walk.data(), values.data(), bytes);
  return walk;
}

template <class Value>
void search(benchmark::State& state) {
  const auto bytes = random_walk<Value>(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(detect_layout(bytes, kLevel).columns.data());
}

template <class Value>
void encode(benchmark::State& state) {
  const auto bytes = random_walk<Value>(static_cast<std::size_t>(state.range(0)));
  EncodeOptions options;
  options.level = kLevel;
  options.device = "cpu";
  options.threads = 1;
  options.layout = detect_layout(bytes, kLevel);
  state.SetLabel(to_string(*options.layout));
  for (auto _ : state) benchmark::DoNotOptimize(compress(bytes, options)->data());
}

void lengths(benchmark::internal::Benchmark* bench) {
  for (const int kib : {4, 16, 64, 128, 256, 400, 1024, 4096}) bench->Arg(kib << 10);
  bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK(search<std::int16_t>)->Apply(lengths);
BENCHMARK(encode<std::int16_t>)->Apply(lengths);
BENCHMARK(search<std::int32_t>)->Apply(lengths);
BENCHMARK(encode<std::int32_t>)->Apply(lengths);
BENCHMARK(search<std::int64_t>)->Apply(lengths);
BENCHMARK(encode<std::int64_t>)->Apply(lengths);

}  // namespace
}  // namespace gdelta
