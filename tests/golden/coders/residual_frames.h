// Zigzagged residuals as bytes, coded part by part: what zstd, lzma and adaptive have in common.
#pragma once

#include <span>

#include "../plain_choice.h"

namespace gdelta::plain::detail {

/// `compressed` makes a frame or stream of bytes.
template <class Compressed>
void append_frames(Bytes& section, const std::vector<Lane>& lanes, std::vector<Lane>& states,
                   std::size_t begin, std::size_t end, const Choice& choice, const Column& column,
                   Compressed compressed) {
  const std::size_t n = end - begin;
  const std::size_t width = static_cast<std::size_t>(value_bytes(column.type));
  const bool planes = choice.model.section.arrangement != format::Arrangement::values;
  Bytes arranged(n * lanes.size() * width);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t z = step(states[lane], lanes[lane][begin + i], column);
      for (std::size_t b = 0; b < width; ++b) {
        const std::size_t to =
            planes ? (lane * width + b) * n + i : (i * lanes.size() + lane) * width + b;
        arranged[to] = static_cast<std::byte>(z >> (8 * b));
      }
    }
  const bool apart = choice.model.section.arrangement == format::Arrangement::plane_frames;
  const std::size_t piece = apart ? n : arranged.size();
  for (std::size_t at = 0; at < arranged.size(); at += piece) {
    const Bytes frame = compressed(std::span<const std::byte>(arranged.data() + at, piece));
    section.insert(section.end(), frame.begin(), frame.end());
  }
}

}  // namespace gdelta::plain::detail
