// Integers alone, so that the bytes are the same with every mathematical library.
#include "sample_generators.h"
#include "sample_noise.h"

namespace {

/// Below `bound`.
std::uint64_t draw(Noise& noise, std::uint64_t bound) { return noise.bits() % bound; }

/// Between -bound and bound; small numbers are the likely ones.
std::int64_t shake(Noise& noise, std::int64_t bound) {
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += static_cast<std::int64_t>(draw(noise, static_cast<std::uint64_t>(bound))) - bound / 2;
  return sum / 2;
}

}  // namespace

std::vector<std::int16_t> make_voice(std::size_t num_samples) {
  Noise noise(4);
  std::vector<std::int16_t> samples;
  samples.reserve(num_samples);
  std::int64_t before = 0, now = 0, pitch = 100, loudness = 0, goal = 3000;
  for (std::size_t i = 0; i < num_samples; ++i) {
    if (i % 4000 == 0) {
      goal = static_cast<std::int64_t>(draw(noise, 4)) * 1500;
      pitch = 80 + static_cast<std::int64_t>(draw(noise, 60));
    }
    loudness += (goal - loudness) / 256;
    const bool pulse = i % static_cast<std::size_t>(pitch) == 0;
    // A resonance that rings after every pulse of the throat.
    const std::int64_t next =
        (1800 * now - 960 * before) / 1024 + (pulse ? 2 * loudness : shake(noise, 24));
    before = now;
    now = next;
    samples.push_back(static_cast<std::int16_t>(now));
  }
  return samples;
}

std::vector<double> make_temperatures(std::size_t num_rows) {
  Noise noise(5);
  std::vector<double> rows;
  rows.reserve(num_rows);
  std::int64_t hundredths = 2150;
  for (std::size_t i = 0; i < num_rows; ++i) {
    if (draw(noise, 4) == 0) hundredths += shake(noise, 6);
    rows.push_back(static_cast<double>(hundredths) / 100.0);
  }
  return rows;
}

std::vector<std::int64_t> make_times(std::size_t num_rows) {
  Noise noise(6);
  std::vector<std::int64_t> rows;
  rows.reserve(num_rows);
  std::int64_t now = 1'700'000'000'000'000;
  for (std::size_t i = 0; i < num_rows; ++i) {
    now += draw(noise, 500) == 0 ? 3'000'000 : 10'000 + shake(noise, 40);
    rows.push_back(now);
  }
  return rows;
}

std::vector<std::int32_t> make_sparse_columns(std::size_t num_entries) {
  Noise noise(7);
  std::vector<std::int32_t> columns;
  columns.reserve(num_entries);
  std::int32_t row = 0;
  while (columns.size() < num_entries) {
    // A grid of unknowns: neighbours in it, three to a place.
    for (const std::int32_t place : {-200, -1, 0, 1, 200}) {
      if (draw(noise, 50) == 0) continue;
      for (std::int32_t part = 0; part < 3; ++part)
        columns.push_back(row / 3 * 3 + 3 * place + 600 + part);
    }
    ++row;
  }
  columns.resize(num_entries);
  return columns;
}

std::vector<std::int32_t> make_grid(std::size_t num_rows) {
  constexpr std::size_t kColumns = 150;
  Noise noise(8);
  std::vector<std::int32_t> heights(kColumns), grid;
  grid.reserve(num_rows * kColumns);
  for (std::int32_t& height : heights) height = static_cast<std::int32_t>(draw(noise, 90'000));
  for (std::size_t row = 0; row < num_rows; ++row)
    for (std::int32_t& height : heights) {
      height += static_cast<std::int32_t>(shake(noise, 16));
      grid.push_back(height);
    }
  return grid;
}

std::string make_table(std::size_t num_rows) {
  static constexpr const char* kStations[] = {"north pier", "harbour", "light house", "mill"};
  Noise noise(9);
  std::string table = "time,station,level,flow\n";
  std::int64_t level = 412, minute = 0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    minute += 1 + static_cast<std::int64_t>(draw(noise, 3));
    level += shake(noise, 6);
    table += "2024-03-" + std::to_string(10 + minute / 1440 % 20) + " " +
             std::to_string(10 + minute / 60 % 14) + ":" + std::to_string(10 + minute % 50) + "," +
             kStations[draw(noise, 4)] + "," + std::to_string(level) + "," +
             std::to_string(draw(noise, 9)) + "." + std::to_string(draw(noise, 100)) + "\n";
  }
  return table;
}
