#include "codec/plan/noise.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kBytes = 200'000;

ColumnBytes column_of_bytes(const Bytes& values, int tuple = 1, ValueType type = ValueType::u8) {
  const Column column{type, static_cast<std::uint8_t>(tuple), false};
  const auto record_bytes = static_cast<std::uint64_t>(column.bytes());
  return {.first = reinterpret_cast<const unsigned char*>(values.data()),
          .record_bytes = record_bytes,
          .records = values.size() / record_bytes,
          .column = column};
}

/// Bytes that draw(i) gives.
template <class Draw>
Bytes bytes_of(const Draw& draw) {
  Bytes values(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) values[i] = static_cast<std::byte>(draw(i));
  return values;
}

TEST(Noise, BytesDrawnAtRandomAreNoise) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    const Bytes values = bytes_of([&](std::size_t) { return random() >> 13 & 0xff; });
    EXPECT_TRUE(looks_like_noise(column_of_bytes(values))) << seed;
    EXPECT_TRUE(looks_like_noise(column_of_bytes(values, 3))) << seed;
  }
}

TEST(Noise, WhatACoderMakesShorterIsNone) {
  std::mt19937_64 random(1);
  const auto any = [&] { return random() >> 13 & 0xff; };
  // Two bytes are twice as frequent as others.
  EXPECT_FALSE(looks_like_noise(column_of_bytes(bytes_of([&](std::size_t) {
    const std::uint64_t byte = any();
    return byte < 4 ? 200 + byte % 2 : byte;
  }))));
  // The lower half in one stretch, the upper one in the next.
  EXPECT_FALSE(looks_like_noise(
      column_of_bytes(bytes_of([&](std::size_t i) { return any() / 2 + i / 1000 % 2 * 128; }))));
  // Sums of what is no noise, and sums of those.
  std::uint64_t sum = 0, sums = 0;
  EXPECT_FALSE(
      looks_like_noise(column_of_bytes(bytes_of([&](std::size_t) { return sum += any() % 250; }))));
  EXPECT_FALSE(looks_like_noise(
      column_of_bytes(bytes_of([&](std::size_t) { return sums += sum += any() % 250; }))));
}

TEST(Noise, WiderValuesAndFewAreNone) {
  std::mt19937_64 random(1);
  Bytes values = bytes_of([&](std::size_t) { return random() >> 13 & 0xff; });
  EXPECT_FALSE(looks_like_noise(column_of_bytes(values, 1, ValueType::i16)));
  values.resize(16'000);
  EXPECT_FALSE(looks_like_noise(column_of_bytes(values)));
  EXPECT_FALSE(looks_like_noise(column_of_bytes({})));
}

}  // namespace
}  // namespace gdelta::test
