// Lanes that hardly gain from being less others, for tests of strides.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "codec/chunk/chunk_cases.h"

namespace gdelta::test {

/// A chunk of 128 tuples of four bytes, lanes 2 and 3 near lanes 0 and 1: less those they take 2 % less, which is hardly not worth
/// coding, for ten values are far off. `repeats(lane)`: that lane is the same every 32 tuples.
inline Bytes near_lanes(const std::function<bool(int)>& repeats) {
  std::mt19937_64 random(11);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const auto make = [&](const std::function<std::uint64_t(int)>& value, bool repeated) {
    std::vector<std::uint64_t> lane;
    for (int i = 0; i < 128; ++i)
      lane.push_back(repeated && i >= 32 ? lane[static_cast<std::size_t>(i) - 32] : value(i));
    return lane;
  };
  std::vector<std::vector<std::uint64_t>> lanes(4);
  for (int near = 0; near < 2; ++near) {
    const int one = repeats(near) ? near : near + 2, other = one == near ? near + 2 : near;
    lanes[static_cast<std::size_t>(one)] = make([&](int) { return below(256); }, true);
    auto apart = make([&](int) { return below(128) - 64; }, repeats(other));
    for (const std::size_t far : {3, 37, 52, 71, 103}) apart[far] = 100;
    for (std::size_t i = 0; i < 128; ++i)
      lanes[static_cast<std::size_t>(other)].push_back(lanes[static_cast<std::size_t>(one)][i] +
                                                       (one == near ? apart[i] : 0 - apart[i]));
  }
  Bytes bytes;
  for (std::size_t i = 0; i < 128; ++i)
    for (const auto& lane : lanes) put_value(bytes, lane[i], 1, false);
  return bytes;
}

}  // namespace gdelta::test
