// How residuals lie in a page of the ans coder, and the limits of its tables. Spec: coders/ans.md.
// Shared by host code and kernels.
//
// The coder is a range variant of asymmetric numeral systems (rANS): states of 32 bits that take words of
// 16, so that a page's states, interleaved, are decoded side by side by a warp or by vectors.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/pages/page_limits.h"

namespace gdelta {

inline constexpr int kAnsRun = 8;  ///< consecutive residuals that a state decodes in a tile
inline constexpr int kMaxAnsStates = 32;
inline constexpr std::uint64_t kManyAnsResiduals = 4096;  ///< a page of fewer has few states
inline constexpr int kMaxAnsTile = kAnsRun * kMaxAnsStates;
inline constexpr int kMinSlotBits = 5, kMaxSlotBits = 11;  ///< of a table
inline constexpr int kMinSpanBits = 3, kMaxSpanBits = 8;
inline constexpr int kMaxAnsTables = 16;
inline constexpr int kMaxAnsSlots = 4096;  ///< of all tables of a column
inline constexpr int kMaxAnsBins = 1024;   ///< of all tables of a column
inline constexpr int kMaxTableBins = 256;  ///< of one
inline constexpr int kAnsStateBytes = 4;
inline constexpr std::uint32_t kAnsLowest = 1u << 16;  ///< of a state between two residuals

/// States of a page with so many residuals, all lanes together, a power of two. A short page has one for each
/// 512, because half of the 4 bytes that each costs says nothing; all others have as many as a warp.
GDELTA_HD constexpr int ans_states(std::uint64_t residuals) {
  if (residuals >= kManyAnsResiduals) return kMaxAnsStates;
  int states = 1;
  while (1024ull * states <= residuals) states *= 2;
  return states;
}

inline constexpr std::uint64_t kUsualAnsPage = 16384;

/// Groups of a lane in a page of a column with so many tuples. States take 128 bytes of a page, so it is
/// longer than one of pack: about `page_residuals`, of 64 bits half as many. The pages of a column are a power
/// of two, for a device decodes so many of them side by side.
GDELTA_HD inline std::uint32_t ans_page_groups(int value_bytes, int tuple, std::uint64_t records,
                                               std::uint64_t page_residuals = kUsualAnsPage) {
  const std::uint64_t about = value_bytes == 8 ? page_residuals / 2 : page_residuals;
  std::uint64_t pages = 1;
  while (3 * pages * about < 2 * records * tuple) pages *= 2;
  const std::uint64_t groups = (records + kGroupValues * pages - 1) / (kGroupValues * pages);
  const auto most = static_cast<std::uint64_t>(kMaxPageGroups / tuple);
  return static_cast<std::uint32_t>(groups < 1 ? 1 : groups < most ? groups : most);
}

/// Bits of a selector among so many tables.
GDELTA_HD constexpr int selector_bits(int tables) {
  int bits = 0;
  while (1 << bits < tables) ++bits;
  return bits;
}

/// What a page's number of tuples says about its layout. A tile is `kAnsRun` consecutive tuples for each
/// state; each lane of a tile has selectors, one for each span of residuals, that name its tables.
struct AnsPageShape {
  std::uint64_t tuples;
  std::uint64_t tiles;
  int tuple;
  int states;
  int spans;      ///< of a lane of a tile
  int span_bits;  ///< base-2 logarithm of the residuals in a span
  int selector_bits;

  GDELTA_HD int tile_tuples() const { return kAnsRun * states; }
  GDELTA_HD std::uint64_t selectors() const { return tiles * tuple * spans; }
  GDELTA_HD std::uint64_t selector_bytes() const { return (selectors() * selector_bits + 7) / 8; }
  /// Bytes before the words: their number, states, selectors.
  GDELTA_HD std::uint64_t head_bytes() const {
    return 4 + std::uint64_t{kAnsStateBytes} * states + selector_bytes();
  }
};

GDELTA_HD constexpr AnsPageShape ans_page_shape(std::uint64_t tuples, int tuple, int span_bits,
                                                int tables) {
  const int states = ans_states(tuples * tuple);
  int log2_tile = 3;  // states are a power of two
  while (1 << log2_tile < kAnsRun * states) ++log2_tile;
  const int bits = span_bits < log2_tile ? span_bits : log2_tile;
  return {.tuples = tuples,
          .tiles = (tuples + (1 << log2_tile) - 1) >> log2_tile,
          .tuple = tuple,
          .states = states,
          .spans = 1 << (log2_tile - bits),
          .span_bits = bits,
          .selector_bits = selector_bits(tables)};
}

/// A slot of a decoding table: the frequency of its bin, its place among the bin's slots, and which bin of
/// the column's it is.
struct AnsSlot {
  std::uint32_t bits;
  GDELTA_HD std::uint32_t frequency() const { return (bits >> 21) + 1; }
  GDELTA_HD std::uint32_t place() const { return (bits >> 10) & 0x7ff; }
  GDELTA_HD std::uint32_t bin() const { return bits & 0x3ff; }
};

GDELTA_HD constexpr AnsSlot make_ans_slot(std::uint32_t frequency, std::uint32_t place,
                                          std::uint32_t bin) {
  return {(frequency - 1) << 21 | place << 10 | bin};
}

}  // namespace gdelta
