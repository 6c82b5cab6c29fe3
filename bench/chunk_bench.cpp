// gdelta.bench.chunk: whole chunks on one core, GB of values a second, beside a copy, memset and zstd.
// Random walks of 16 MiB (several times the L2 cache) in chunks of 1 MiB, so that order 1 suits
// them. `bits` is how far a step goes. Beside them records of several columns, random bytes, and equal values.
// Verification is part of decoding unless the name says otherwise; every result is compared with the input before anything is timed.
#include <benchmark/benchmark.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "bench/random_walks.h"
#include "codec/chunk/chunk_decode.h"
#include "codec/plan/planner.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kBytes = 16 << 20;
constexpr std::size_t kChunkBytes = 1 << 20;

template <class Value>
Bytes random_walk(int tuple, int bits) {
  std::mt19937_64 random(tuple * 100 + bits);
  std::vector<Value> values(kBytes / sizeof(Value));
  const std::uint64_t mask = (1ull << bits) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value before = i < static_cast<std::size_t>(tuple) ? Value{1000} : values[i - tuple];
    values[i] = static_cast<Value>(before + (random() & mask) - mask / 2);
  }
  Bytes bytes(kBytes);
  std::memcpy(bytes.data(), values.data(), kBytes);
  return bytes;
}

struct Case {
  Bytes values;
  Layout layout;
  EncodeSettings settings;
  std::size_t chunk_bytes = 0;
  std::vector<Bytes> blocks;

  std::span<const std::byte> chunk(std::size_t at) const {
    return std::span(values).subspan(at, std::min(chunk_bytes, values.size() - at));
  }
};

Bytes encode(const Case& c, std::span<const std::byte> chunk) {
  return encode_chunk(chunk, c.layout, false, plan_chunk(chunk, c.layout, false, c.settings));
}

bool decode(const Case& c, const Bytes& block, std::span<std::byte> out, bool verify) {
  const auto parsed = format::parse_chunk_block(block, 0, c.layout);
  return parsed && !decode_chunk({.parsed = *parsed, .block = block, .byte = 0, .layout = c.layout},
                                 out, verify, Workers::alone());
}

Case make_case(const Layout& layout, Bytes values, const EncodeSettings& settings) {
  Case c{.values = std::move(values),
         .layout = layout,
         .settings = settings,
         .chunk_bytes = 0,
         .blocks = {}};
  const std::size_t record = c.layout.record_bytes();
  c.values.resize(c.values.size() / record * record);
  c.chunk_bytes = kChunkBytes / record * record;
  for (std::size_t at = 0; at < c.values.size(); at += c.chunk_bytes) {
    c.blocks.push_back(encode(c, c.chunk(at)));
    Bytes out(c.chunk(at).size());
    if (!decode(c, c.blocks.back(), out, true) ||
        std::memcmp(out.data(), c.chunk(at).data(), out.size()) != 0)
      std::abort();
  }
  return c;
}

void report(benchmark::State& state, const Case& c) {
  std::size_t compressed = 0;
  for (const Bytes& block : c.blocks) compressed += block.size();
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(c.values.size()));
  state.counters["ratio"] = static_cast<double>(c.values.size()) / static_cast<double>(compressed);
}

void encode_all(benchmark::State& state, const Case& c) {
  for (auto _ : state) {
    for (std::size_t at = 0; at < c.values.size(); at += c.chunk_bytes)
      benchmark::DoNotOptimize(encode(c, c.chunk(at)).data());
  }
  report(state, c);
}

void decode_all(benchmark::State& state, const Case& c, bool verify) {
  Bytes out(c.values.size());
  for (auto _ : state) {
    std::size_t at = 0;
    for (const Bytes& block : c.blocks) {
      const std::size_t bytes = c.chunk(at).size();
      decode(c, block, std::span(out).subspan(at, bytes), verify);
      at += bytes;
    }
    benchmark::ClobberMemory();
  }
  report(state, c);
}

void copy(benchmark::State& state) {
  const Bytes from = random_walk<std::uint32_t>(1, 10);
  Bytes to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(from.size()));
}
BENCHMARK(copy);

void fill(benchmark::State& state) {
  Bytes to(kBytes);
  for (auto _ : state) {
    std::memset(to.data(), 1, to.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(to.size()));
}
BENCHMARK(fill)->Name("memset");

void zstd_of_values(benchmark::State& state, bool decode) {
  const Bytes values = random_walk<std::uint32_t>(1, 10);
  Bytes packed(ZSTD_compressBound(values.size())), out(values.size());
  const int level = static_cast<int>(state.range(0));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), values.data(), values.size(), level));
  const std::size_t compressed = packed.size();
  packed.resize(ZSTD_compressBound(values.size()));
  for (auto _ : state) {
    const std::size_t size =
        decode ? ZSTD_decompress(out.data(), out.size(), packed.data(), compressed)
               : ZSTD_compress(packed.data(), packed.size(), values.data(), values.size(), level);
    benchmark::DoNotOptimize(size);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
  state.counters["ratio"] = static_cast<double>(values.size()) / static_cast<double>(compressed);
}
BENCHMARK_CAPTURE(zstd_of_values, encode, false)->Arg(1)->Arg(3);
BENCHMARK_CAPTURE(zstd_of_values, decode, true)->Arg(3);

// One lambda a case, so that the data is made when the case runs.
template <class Values>
void add_case(const std::string& name, const char* record, const EncodeSettings& settings,
              const Values& values) {
  const Layout layout = parse_record(record).value();
  const auto with_case = [=](auto&& run) {
    return [=](benchmark::State& state) {
      const Case c = make_case(layout, values(layout), settings);
      run(state, c);
    };
  };
  benchmark::RegisterBenchmark(("encode/" + name).c_str(), with_case(encode_all));
  benchmark::RegisterBenchmark(("decode/" + name).c_str(),
                               with_case([](auto& state, auto& c) { decode_all(state, c, true); }));
  benchmark::RegisterBenchmark(
      ("decode_unverified/" + name).c_str(),
      with_case([](auto& state, auto& c) { decode_all(state, c, false); }));
}

template <class Value>
auto walks(int bits) {
  return [bits](const Layout& layout) { return random_walk<Value>(layout.columns[0].tuple, bits); };
}

Bytes record_walks(const Layout& layout) {
  Bytes bytes(kBytes / layout.record_bytes() * layout.record_bytes());
  bench::fill_record_walks(bytes, layout, 1, .01, 1);
  return bytes;
}

Bytes random_bytes(const Layout&) {
  std::mt19937_64 random(1);
  Bytes bytes(kBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 13);
  return bytes;
}

Bytes equal_values(const Layout& layout) {
  return Bytes(kBytes / layout.record_bytes() * layout.record_bytes(), std::byte{17});
}

const bool kRegistered = [] {
  EncodeSettings pack;  // the bar: i32, order 1, pack, nothing left to plan
  pack.level = 1;
  pack.order = 1;
  pack.coder = Coder::pack;
  add_case("i32_order1_pack", "i32", pack, walks<std::uint32_t>(10));
  add_case("i32x3_order1_pack", "i32x3", pack, walks<std::uint32_t>(10));
  add_case("i16x2_order1_pack", "i16x2", pack, walks<std::uint16_t>(6));
  add_case("i64_order1_pack", "i64", pack, walks<std::uint64_t>(20));
  EncodeSettings fast, normal, device, ans;
  fast.level = 1;
  device.device_decodable = true;
  add_case("i32_level1", "i32", fast, walks<std::uint32_t>(10));
  add_case("i32_level5", "i32", normal, walks<std::uint32_t>(10));
  add_case("i32_level5_device_decodable", "i32", device, walks<std::uint32_t>(10));
  ans.order = 1;
  ans.coder = Coder::ans;
  add_case("i32_order1_ans", "i32", ans, walks<std::uint32_t>(10));
  add_case("records_level1", "i32x3,u16,u8x2", fast, record_walks);
  add_case("records_level5", "i32x3,u16,u8x2", normal, record_walks);
  add_case("columns_level1", "f32,f32,f32,u32", fast, record_walks);
  add_case("columns_level5", "f32,f32,f32,u32", normal, record_walks);
  add_case("random_level5", "u8", normal, random_bytes);
  add_case("equal_level5", "i32", normal, equal_values);
  return true;
}();

}  // namespace
}  // namespace gdelta
