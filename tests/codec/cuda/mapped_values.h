// Values that maps of lanes make of words, for tests of what undoes them.
#pragma once

#include <bit>
#include <cstdlib>
#include <vector>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/chunk_encode.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::test {

constexpr std::uint8_t number_of(ValueMap map) { return static_cast<std::uint8_t>(map); }

/// Words that rise and fall, as large as maps of the width leave room for.
inline std::uint64_t word_at(int bytes, int lane, std::uint64_t record) {
  constexpr std::int64_t kAmounts[] = {1, 37, 4099, 4099, 0, 0, 0, std::int64_t{3} << 35};
  const auto place = static_cast<std::int64_t>((record + 13 * static_cast<unsigned>(lane)) % 60);
  return static_cast<std::uint64_t>((std::abs(place - 30) - 15) * kAmounts[bytes - 1]);
}

/// The value that a map makes of a word.
inline std::uint64_t value_of(const LaneMapping& mapping, int bytes, std::uint64_t word) {
  const auto undo = [&](auto own) {
    with_lane_map(mapping, [&](auto map) { own = map.undo(own, 8 * bytes); });
    return std::uint64_t{own};
  };
  return bytes == 8 ? undo(word) : undo(static_cast<std::uint32_t>(word));
}

/// Records of which the last column has values that `maps` makes of words, and one in `exception_every` anything.
/// Steps do not matter: lanes may be anything before them.
inline Bytes mapped_values(const Layout& layout, const ColumnMaps& maps, std::uint64_t records,
                           unsigned exception_every) {
  Bytes bytes;
  std::uint64_t random = 7;
  for (std::uint64_t record = 0; record < records; ++record)
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      const Column& column = layout.columns[c];
      const int width = value_bytes(column.type);
      for (int lane = 0; lane < column.tuple; ++lane) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const bool mapped = c + 1 == layout.columns.size() && !maps.lanes.empty();
        const LaneMapping mapping =
            mapped ? maps.lanes[static_cast<std::size_t>(lane)] : LaneMapping{};
        const bool exception = exception_every > 0 && (random >> 32) % exception_every == 0;
        const std::uint64_t value =
            exception ? random >> 5 : value_of(mapping, width, word_at(width, lane, record));
        for (int b = 0; b < width; ++b)
          bytes.push_back(
              static_cast<std::byte>(value >> 8 * (column.big_endian ? width - 1 - b : b)));
      }
    }
  return bytes;
}

/// A map for each lane, of `turn` and those behind it in a round.
inline std::vector<LaneMapping> maps_in_turn(const Column& column, unsigned turn) {
  const LaneMapping decimal{.map = number_of(ValueMap::decimal), .step = 2};
  const LaneMapping scaled{.map = number_of(ValueMap::scaled),
                           .step = std::bit_cast<std::uint64_t>(0.0625)};
  const LaneMapping multiple{.map = number_of(ValueMap::multiple), .step = 3, .offset = 2};
  const LaneMapping ordered{.map = number_of(ValueMap::ordered)};
  const std::vector<LaneMapping> round =
      is_float(column.type) ? std::vector{decimal, scaled, ordered} : std::vector{multiple, {}};
  std::vector<LaneMapping> lanes;
  for (unsigned lane = 0; lane < column.tuple; ++lane)
    lanes.push_back(round[(turn + lane) % round.size()]);
  return lanes;
}

}  // namespace gdelta::test
