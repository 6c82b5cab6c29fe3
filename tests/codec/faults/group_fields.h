// Groups of the pack coder written field by field, whether a reader accepts them or not.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "kernels/bitpack/group_layout.h"

namespace gdelta::faults {

/// A position and a number.
using AtPosition = std::pair<int, std::uint64_t>;

struct GroupFields {
  int width = 1;
  std::vector<AtPosition> slots;       // what the residuals' slots hold; the others hold zero
  std::vector<AtPosition> exceptions;  // highs
  int high_bytes = 1;
};

/// What a reader makes of a residual that refuses nothing.
inline std::uint64_t residual_of(const GroupFields& group, int position, int value_bits) {
  std::uint64_t residual = 0;
  for (const auto& [at, bits] : group.slots)
    if (at == position) residual |= bits;
  for (const auto& [at, high] : group.exceptions)
    if (at == position && group.width < 64) residual |= high << group.width;
  return residual & (~std::uint64_t{0} >> (64 - value_bits));
}

/// A page, lane after lane; the states come first.
inline std::vector<std::byte> page_of_groups(std::span<const std::byte> states,
                                             std::span<const GroupFields> groups) {
  std::vector<std::byte> page(states.begin(), states.end());
  for (const GroupFields& group : groups)
    format::append_le(
        page, 2,
        make_descriptor(group.width, static_cast<int>(group.exceptions.size()), group.high_bytes)
            .bits);
  for (const GroupFields& group : groups) {
    const std::size_t at = page.size();
    page.resize(at + 16 * static_cast<std::size_t>(group.width));
    for (const auto& [position, bits] : group.slots)
      for (int bit = 0; bit < group.width; ++bit) {
        const int to = (16 * (position % 8) + position / 8) * group.width + bit;
        if ((bits >> bit) & 1)
          page[at + static_cast<std::size_t>(to / 8)] |= std::byte{1} << (to % 8);
      }
  }
  for (const GroupFields& group : groups) {
    for (const auto& [position, high] : group.exceptions)
      format::append_le(page, 1, static_cast<std::uint64_t>(position));
    for (const auto& [position, high] : group.exceptions)
      format::append_le(page, group.high_bytes, high);
  }
  return page;
}

}  // namespace gdelta::faults
