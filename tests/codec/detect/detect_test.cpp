// Finding type and tuple of bare streams.
#include "codec/detect/detect.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "codec/detect/layout_cost.h"
#include "codec/stream/stream_tools.h"
#include "kernels/bitpack/stretch_cost.h"

namespace gdelta {
namespace {

using test::Bytes;
using test::read_file;

/// A small generator with the same numbers everywhere.
class Random {
 public:
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t x = state_ ^ state_ >> 29;
    return x * 0xbf58476d1ce4e5b9u ^ x >> 32;
  }
  /// About normal, with deviation `scale`.
  double noise(double scale) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += static_cast<double>(bits() >> 11) * 0x1p-53 - 0.5;
    return scale * sum * 1.4;
  }

 private:
  std::uint64_t state_ = 1;
};

void append(Bytes& bytes, std::uint64_t value, int width, bool big_endian) {
  for (int i = 0; i < width; ++i)
    bytes.push_back(static_cast<std::byte>(value >> (8 * (big_endian ? width - 1 - i : i))));
}

std::uint64_t float_bits(double value, ValueType type) {
  if (type == ValueType::f64) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  const auto single = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &single, 4);
  return type == ValueType::f32 ? bits : bits >> 16;
}

/// Lanes that wander, each around a place of its own, with noise that fills a quarter of the type.
Bytes wandering(const Column& column, int tuples) {
  Random random;
  Bytes bytes;
  const int width = value_bytes(column.type);
  std::vector<double> at(column.tuple);
  const double range = std::ldexp(1.0, 8 * width - 3);
  for (int lane = 0; lane < column.tuple; ++lane)
    at[static_cast<std::size_t>(lane)] = is_float(column.type)
                                             ? (lane % 2 ? -1 : 1) * (3.0 + 40 * lane)
                                             : range * (lane + 1) / (column.tuple + 1) - range / 3;
  for (int i = 0; i < tuples; ++i)
    for (double& value : at) {
      if (is_float(column.type)) {
        value += random.noise(0.02);
        append(bytes, float_bits(value, column.type), width, column.big_endian);
      } else {
        value += random.noise(std::ldexp(1.0, 3 * width));
        append(bytes, static_cast<std::uint64_t>(std::llround(value)), width, column.big_endian);
      }
    }
  return bytes;
}

/// What every level finds, which is expected to be the same; else what each of them does.
std::string found_in(const Bytes& bytes) {
  const auto found_at = [&](int level) { return to_string(detect_layout(bytes, level)); };
  const std::string quick = found_at(1), normal = found_at(5), thorough = found_at(9);
  if (quick == normal && normal == thorough) return normal;
  return fmt::format("{} at -1, {} at -5, {} at -9", quick, normal, thorough);
}

TEST(Detect, FindsTypeTupleAndByteOrderOfWanderingLanes) {
  for (const char* type : {"i16", "i24", "i32", "i64", "f32", "f64"})
    for (const bool big_endian : {false, true})
      for (const int tuple : {1, 2, 3, 5, 8}) {
        std::string name = type;
        if (big_endian) name += ":be";
        if (tuple > 1) name += fmt::format("x{}", tuple);
        EXPECT_EQ(found_in(wandering(parse_record(name)->columns[0], 6000)), name);
      }
}

TEST(Detect, FindsBytesInTuples) {
  for (const int tuple : {2, 3, 4}) {
    const Column column{ValueType::u8, static_cast<std::uint8_t>(tuple), false};
    EXPECT_EQ(found_in(wandering(column, 8000)), fmt::format("u8x{}", tuple));
  }
}

TEST(Detect, FindsLongTuplesByTheirPeriod) {
  for (const char* name : {"i16x16", "i16x24", "i32x12", "f32x32", "i16x64"})
    EXPECT_EQ(found_in(wandering(parse_record(name)->columns[0], 8000)), name);
}

TEST(Detect, TellsShortFloatsByTheirSignsAndExponents) {
  Random random;
  Bytes brain, half;
  double value = 0;
  for (int i = 0; i < 20000; ++i) {
    value = 0.9 * value + random.noise(0.3);
    append(brain, float_bits(value, ValueType::bf16), 2, false);
    // The upper bits of an f16, from those of an f32: exponent bias 15 for 127.
    const std::uint64_t bits = float_bits(value, ValueType::f32);
    const auto exponent = static_cast<int>(bits >> 23 & 0xff) - 112;
    const std::uint64_t magnitude =
        exponent <= 0 ? 0 : static_cast<std::uint64_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
    append(half, bits >> 31 << 15 | magnitude, 2, false);
  }
  EXPECT_EQ(found_in(brain), "bf16");
  EXPECT_EQ(found_in(half), "f16");
}

TEST(Detect, MissingValuesDoNotHideFloats) {
  Random random;
  Bytes bytes;
  double value = 280;
  for (int i = 0; i < 20000; ++i) {
    value += random.noise(0.05);
    const bool missing = i / 300 % 2;
    append(bytes, missing ? 0x7fc00000u : float_bits(value, ValueType::f32), 4, false);
  }
  EXPECT_EQ(found_in(bytes), "f32");
}

TEST(Detect, TakesTextForBytes) {
  std::string table = "time,value\n";
  for (int i = 0; i < 40000; ++i)
    table += "2024-01-01 00:" + std::to_string(10 + i / 60 % 50) + ":" +
             std::to_string(10 + i % 60) + "," + std::to_string(73.0 + i % 17 * 0.25) + "\n";
  const auto* first = reinterpret_cast<const std::byte*>(table.data());
  EXPECT_EQ(found_in(Bytes(first, first + table.size())), "u8");
}

TEST(Detect, TakesNoiseForBytes) {
  Random random;
  for (const std::size_t size : {64, 100, 1000, 4096, 100000, 1 << 20}) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits() >> 40);
    EXPECT_EQ(found_in(bytes), "u8") << size;
  }
}

TEST(Detect, FindsLoudSamplesThoughTheyGainLittle) {
  Random random;
  Bytes bytes;
  double value = 0;
  for (int i = 0; i < 60000; ++i) {
    value = 0.8 * value + random.noise(2000);
    append(bytes, static_cast<std::uint64_t>(std::llround(value)), 2, false);
  }
  EXPECT_EQ(found_in(bytes), "i16");
}

TEST(Detect, AnswersForAnyLength) {
  const Bytes stream = wandering({ValueType::i32, 3, false}, 400);
  for (std::size_t size = 0; size <= stream.size(); size += size < 200 ? 1 : 131) {
    const Layout layout = detect_layout(std::span(stream).first(size), size % 9 + 1);
    EXPECT_TRUE(check_layout(layout)) << size;
    EXPECT_EQ(layout.columns.size(), 1u);
  }
  for (const std::size_t size : {0, 1, 63, 64, 65, 4096, 5000000})
    for (const int value : {0, 1, 0xff, 0x3f}) {
      EXPECT_EQ(found_in(Bytes(size, static_cast<std::byte>(value))), "u8") << size << ' ' << value;
    }
}

TEST(Detect, LooksAtTheFirstPartAlone) {
  Bytes stream = wandering({ValueType::i16, 2, false}, (kMostSampleBytes + 400000) / 4);
  const std::string found = found_in(stream);
  EXPECT_EQ(found, "i16x2");
  Random random;
  for (std::size_t i = kMostSampleBytes; i < stream.size(); ++i)
    stream[i] = static_cast<std::byte>(random.bits());
  EXPECT_EQ(found_in(stream), found);
}

TEST(Detect, LeavesTextAndMixedRecordingsToByteCoders) {
  const char* folder = std::getenv("GDELTA_TEST_DATA");
  if (!folder) GTEST_SKIP() << "GDELTA_TEST_DATA names no folder of recordings";
  std::string missing;
  for (const char* name : {"machine_temperature.csv", "matrix_bcsstk16.mtx", "mesh_bunny.ply"}) {
    const auto path = std::filesystem::path(folder) / "originals" / name;
    if (!std::filesystem::exists(path)) {
      missing += std::string(" ") + name;
      continue;
    }
    EXPECT_EQ(found_in(read_file(path)), "u8") << name;
  }
  if (!missing.empty()) GTEST_SKIP() << "not among the recordings:" << missing;
}

/// Recordings whose names say what they are: NAME.f32x3.bin.
TEST(Detect, FindsWhatRecordingsAreOrSomethingAsGood) {
  const char* folder = std::getenv("GDELTA_TEST_DATA");
  if (!folder) GTEST_SKIP() << "GDELTA_TEST_DATA names no folder of recordings";
  constexpr Stretches kAll{256, 4096};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".bin") continue;
    std::string name = entry.path().stem().extension().string().substr(1);
    const auto truth = parse_record(name);
    ASSERT_TRUE(truth) << entry.path();
    const Bytes bytes = read_file(entry.path());
    const auto sample = std::span(bytes).first(std::min(bytes.size(), kMostSampleBytes));

    const Column found = detect_layout(sample, 5).columns[0];
    const Column right = truth->columns[0];
    const auto cost = [&](const Column& column) {
      const Cut cut{static_cast<std::uint8_t>(value_bytes(column.type)), column.tuple,
                    column.big_endian};
      return layout_cost(sample, cut, kAll, kMostWeighedOrders);
    };
    const double ratio = static_cast<double>(cost(found)) / static_cast<double>(cost(right));
    printf("%-36s is %-6s found %-6s cost %.3f of the right one\n", entry.path().filename().c_str(),
           name.c_str(), to_string(Layout{{found}}).c_str(), ratio);
    const bool same = value_bytes(found.type) == value_bytes(right.type) &&
                      found.tuple == right.tuple && found.big_endian == right.big_endian &&
                      is_float(found.type) == is_float(right.type);
    EXPECT_TRUE(same || ratio <= 1.02) << entry.path();
  }
}

}  // namespace
}  // namespace gdelta
