// gdelta.bench.detect: looking for type and tuple at -1, beside compressing with what was found, on one
// core. Random walks of two lanes, the argument is their length in bytes; and, where GDELTA_TEST_DATA names a
// folder of recordings, the first 1, 2, 4, 16 and 64 KiB of each. A search should take no longer than compressing does.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
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

void search(benchmark::State& state, std::span<const std::byte> bytes) {
  for (auto _ : state) benchmark::DoNotOptimize(detect_layout(bytes, kLevel).columns.data());
}

void encode(benchmark::State& state, std::span<const std::byte> bytes) {
  EncodeOptions options;
  options.level = kLevel;
  options.device = "cpu";
  options.threads = 1;
  options.layout = detect_layout(bytes, kLevel);
  state.SetLabel(to_string(*options.layout));
  for (auto _ : state) benchmark::DoNotOptimize(compress(bytes, options)->data());
}

template <class Value>
void search_walk(benchmark::State& state) {
  search(state, random_walk<Value>(static_cast<std::size_t>(state.range(0))));
}

template <class Value>
void encode_walk(benchmark::State& state) {
  encode(state, random_walk<Value>(static_cast<std::size_t>(state.range(0))));
}

void lengths(benchmark::internal::Benchmark* bench) {
  for (const int kib : {4, 16, 64, 128, 256, 400, 1024, 4096}) bench->Arg(kib << 10);
  bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK(search_walk<std::int16_t>)->Apply(lengths);
BENCHMARK(encode_walk<std::int16_t>)->Apply(lengths);
BENCHMARK(search_walk<std::int32_t>)->Apply(lengths);
BENCHMARK(encode_walk<std::int32_t>)->Apply(lengths);
BENCHMARK(search_walk<std::int64_t>)->Apply(lengths);
BENCHMARK(encode_walk<std::int64_t>)->Apply(lengths);

std::vector<std::byte> beginning_of(const std::filesystem::path& file, std::size_t bytes) {
  std::vector<std::byte> beginning(std::min<std::size_t>(bytes, file_size(file)));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(beginning.data()),
            static_cast<std::streamsize>(beginning.size()));
  return beginning;
}

bool add_recordings(const char* folder) {
  std::vector<std::filesystem::path> files;
  if (folder != nullptr)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".bin") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files)
    for (const std::size_t kib : {1, 2, 4, 16, 64}) {
      const std::vector<std::byte> bytes = beginning_of(file, kib << 10);
      const std::string name = file.stem().string() + "/" + std::to_string(bytes.size());
      for (const auto& [what, measure] :
           {std::pair(std::string("search/"), &search), std::pair(std::string("encode/"), &encode)})
        benchmark::RegisterBenchmark((what + name).c_str(), [bytes,
                                                             measure](benchmark::State& state) {
          measure(state, bytes);
        })->Unit(benchmark::kMicrosecond);
    }
  return true;
}
const bool kRecordingsAreAdded = add_recordings(std::getenv("GDELTA_TEST_DATA"));

}  // namespace
}  // namespace gdelta
