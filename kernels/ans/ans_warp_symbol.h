// What a warp that encodes symbols needs to know of a bin. Shared by host code and kernels.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"
#include "kernels/ans/ans_symbol.h"

namespace gdelta {

/// An AnsSymbol taken apart, so that encoding takes fewer instructions, and the length of the bin's offsets; sixteen bytes,
/// which a thread loads at once.
struct alignas(16) AnsWarpSymbol {
  std::uint32_t reciprocal;
  std::uint32_t most;    ///< the highest state that gives away no word before the symbol
  std::uint32_t others;  ///< slots of the table that are not the bin's
  std::uint32_t fields;  ///< up, start, offset bits; in the lowest five bits the shift

  static constexpr int kOffsetBitsAt = 8, kStartAt = 20, kUpAt = 31;

  GDELTA_HD std::uint32_t offset_bits() const { return fields >> kOffsetBitsAt & 0x7f; }
  GDELTA_HD std::uint32_t start() const { return fields >> kStartAt & 0x7ff; }
  GDELTA_HD std::uint32_t up() const { return fields >> kUpAt; }
};

/// Of a bin of a table of 2^slot_bits slots. Precondition: 1 <= frequency <= 2^slot_bits, start < 2^slot_bits.
GDELTA_HD inline AnsWarpSymbol make_ans_warp_symbol(std::uint32_t frequency, std::uint32_t start,
                                                    int slot_bits, std::uint32_t offset_bits) {
  static_assert(AnsWarpSymbol::kUpAt == AnsWarpSymbol::kStartAt + kMaxSlotBits);
  const AnsSymbol symbol = make_ans_symbol(frequency, start);
  // Of a bin that has all slots, 2^32 - 1.
  const auto most = static_cast<std::uint32_t>((std::uint64_t{frequency} << (32 - slot_bits)) - 1);
  return {.reciprocal = symbol.reciprocal,
          .most = most,
          .others = (1u << slot_bits) - frequency,
          .fields = static_cast<std::uint32_t>(symbol.shift()) |
                    offset_bits << AnsWarpSymbol::kOffsetBitsAt | start << AnsWarpSymbol::kStartAt |
                    symbol.up() << AnsWarpSymbol::kUpAt};
}

}  // namespace gdelta
