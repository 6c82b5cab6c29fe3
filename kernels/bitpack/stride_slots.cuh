// Slots in the shared memory of a block, each for a page: some warps decode pages into them, others sum these along their
// strides, one behind the other, and store them. Barriers join the two, so that nobody waits for the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/deltas/stride_sums.cuh"
#include "kernels/device/halves.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_kernels.h"
#include "kernels/pages/page_tile.cuh"

namespace gdelta::cuda {

// ---- Policy: changes speed, never bytes

/// Warps that sum pages and store them, at most.
inline constexpr int kMostStrideSummers = 8;
/// Warps that decode pages, at most: more of them leave too few slots for pages that wait.
constexpr int most_stride_decoders(int value_bytes) {
  return value_bytes == 1 ? 16 : (value_bytes == 2 ? 12 : 8);
}
constexpr int most_stride_threads(int value_bytes) {
  return 32 * (most_stride_decoders(value_bytes) + kMostStrideSummers);
}

// ---- Slots and what joins warps

inline constexpr std::uint32_t kMostStrideSlots = 32;
inline constexpr int kMostLinks = 2;

/// How many of them a block has.
struct StrideRing {
  std::uint32_t decoders;  // warps
  std::uint32_t summers;   // warps
  std::uint32_t slots;     // more than decoders, and no fewer than summers
};

struct StrideShared {
  unsigned long long decoded[kMostStrideSlots];  // a slot has its page
  unsigned long long carried[kMostLinks]
                            [kMostStrideSlots];  // the sums of a link are those behind its page
  unsigned long long summed[kMostStrideSlots];   // together, by all warps that sum
  unsigned long long stored[kMostStrideSlots];   // nobody reads the slot any more
  alignas(16) unsigned char tasks[kMostStrideSummers][sizeof(ColumnTask)];
  alignas(16) unsigned char sums[kStrideSumsBytes];

  /// Of those that sum, as many sum pages together, while others store them.
  GDELTA_HD static constexpr std::uint32_t warps_together(const StrideRing& ring) {
    return ring.summers / 2;
  }

  /// All threads of a warp arrive at each barrier. One thread of the block calls it, and the block waits behind it.
  __device__ void open(const StrideRing& ring) {
    for (std::uint32_t i = 0; i < kMostStrideSlots; ++i) {
      device::barrier_init(decoded + i, 32);
      for (auto& of_link : carried) device::barrier_init(of_link + i, 32);
      device::barrier_init(summed + i, static_cast<int>(32 * max(warps_together(ring), 1u)));
      device::barrier_init(stored + i, 32);
    }
  }
};

/// The slot of a page, of all that a block decodes in order, and how often it has been used before: odd or even.
struct StrideTurn {
  std::uint32_t slot;
  int parity = 0;

  /// Of a page of that number.
  __device__ static StrideTurn of(std::uint32_t page, std::uint32_t slots) {
    return {page % slots, static_cast<int>(page / slots % 2)};
  }
  /// So many pages on, at most as many as there are slots.
  __device__ void advance(std::uint32_t pages, std::uint32_t slots) {
    slot += pages;
    if (slot < slots) return;
    slot -= slots;
    parity ^= 1;
  }
  __device__ StrideTurn before(std::uint32_t slots) const {
    if (slot > 0) return {slot - 1, parity};
    return {slots - 1, parity ^ 1};
  }
};

/// What a slot holds: tiles one behind the other, as warps put them into shared memory, of values that have whole words
/// or parts of one.
template <int ValueBytes, int Tuple>
struct StrideSlot {
  static constexpr int kValueBytes = ValueBytes == 3 ? 4 : ValueBytes;  // in the slot
  using OfPage = UnpackWarpShape<ValueBytes, Tuple>;
  using Shape = TileShape<kValueBytes, Tuple, OfPage::kRunTuples>;
  static constexpr int kTileBytes = 32 * Shape::kRunBytes;
  static constexpr int kTiles =
      (kWarpPathGroups / Tuple + OfPage::kStripGroups - 1) / OfPage::kStripGroups;
  // While a page is decoded, the groups of its tiles wait where values have not come to yet.
  static constexpr int kGroupBytes = std::max(4 * OfPage::kBitWords, kTileBytes);
  static constexpr int kBytes = kTiles * kGroupBytes;
  // So a byte is found by its number in the page.
  using Slots = PieceSlots<Shape::kRunPieces>;
  static_assert(!Slots::kSpread || kTileBytes / Shape::kPieceBytes % (8 * Slots::kSpan) == 0);
};

/// What a warp that decodes into slots has beside them.
template <int ValueBytes, int Tuple>
struct StrideStages {
  using Slot = StrideSlot<ValueBytes, Tuple>;
  static constexpr int kPages = 3, kTiles = Slot::kTiles;
  static constexpr bool kKeepsGroups = false;
  static constexpr int kGroupStep = Slot::kGroupBytes / 4;  // words
};
template <int ValueBytes, int Tuple>
using StrideWarpShared =
    UnpackWarpShared<ValueBytes, Tuple,
                     WarpPatches<ValueBytes, Tuple, StrideStages<ValueBytes, Tuple>>>;

// ---- A block

/// Its shared memory, part by part. kTogether: it takes columns whose pages several warps sum together, else those of which each
/// page is a warp's. They are never mixed: only where all warps have pages every so often can they tell two turns of a slot apart
/// by their parity.
template <int ValueBytes, int Tuple, bool kTogether>
struct StrideBlock {
  using Slot = StrideSlot<ValueBytes, Tuple>;
  using OfWarp = StrideWarpShared<ValueBytes, Tuple>;
  static_assert(sizeof(StrideShared) % 16 == 0 && sizeof(OfWarp) % 16 == 0);

  static constexpr std::size_t bytes(const StrideRing& ring) {
    return sizeof(StrideShared) + ring.decoders * sizeof(OfWarp) +
           std::size_t{ring.slots} * Slot::kBytes;
  }
  /// As many of both as find room; no decoders if there is too little.
  static StrideRing ring_in(std::size_t room) {
    constexpr std::size_t kFewest = sizeof(StrideShared) + Slot::kBytes;
    if (room < kFewest) return {};
    const std::size_t decoders = std::min<std::size_t>(
        (room - kFewest) / (sizeof(OfWarp) + Slot::kBytes), most_stride_decoders(ValueBytes));
    const std::size_t left = room - sizeof(StrideShared) - decoders * sizeof(OfWarp);
    const std::size_t slots = std::min<std::size_t>(left / Slot::kBytes, kMostStrideSlots);
    return {static_cast<std::uint32_t>(decoders),
            static_cast<std::uint32_t>(std::min<std::size_t>(slots, kMostStrideSummers)),
            static_cast<std::uint32_t>(slots)};
  }

  __device__ StrideBlock(unsigned char* shared, const StrideRing& with)
      : ring(with),
        joined(*reinterpret_cast<StrideShared*>(shared)),
        warps(reinterpret_cast<OfWarp*>(shared + sizeof(StrideShared))),
        slots(shared + sizeof(StrideShared) + with.decoders * sizeof(OfWarp)) {}

  /// Values that are summed as one unit: a row of a stride is made of whole ones.
  __device__ static int across(const ColumnTask& task, int link) {
    constexpr int kWide = 16 / Slot::kValueBytes;
    const std::uint32_t values = task.strides[link].stride * Tuple;
    if (values % kWide == 0) return kWide;
    return kWide > 4 && values % 4 == 0 ? 4 : 1;
  }
  __device__ std::uint32_t warps_together() const { return StrideShared::warps_together(ring); }
  /// Whether the pages of a column are summed by several warps together.
  __device__ bool sums_together(const ColumnTask& task) const {
    return warps_together() > 0 && task.num_strides == 1 &&
           task.strides[0].stride * Tuple / across(task, 0) > kMostSumsOfPages;
  }

  __device__ bool takes(const ColumnTask& task) const {
    return task.is_summed_by_block() && sums_together(task) == kTogether;
  }

  __device__ unsigned char* slot(const StrideTurn& turn) const {
    return slots + turn.slot * Slot::kBytes;
  }

  StrideRing ring;
  StrideShared& joined;
  OfWarp* warps;
  unsigned char* slots;
};

/// The columns that a block takes, one a round. Places among blocks change from round to round: chunks of a recording that is
/// repeated, or columns of a record, differ in length in turn.
struct BlockColumns {
  __device__ explicit BlockColumns(const UnpackArgs& args)
      : first(args.first_task),
        end(args.end_task),
        rounds((args.end_task - args.first_task + gridDim.x - 1) / gridDim.x) {}

  /// None in the last round perhaps: then it is `end` or above.
  __device__ std::uint32_t in_round(std::uint32_t round) const {
    return first + round * gridDim.x + (blockIdx.x + round) % gridDim.x;
  }

  /// Whether there is one that the kernel takes. The whole warp calls it.
  template <class Block>
  __device__ bool has_any(const Block& block, const UnpackArgs& args) const {
    bool mine = false;
    for (std::uint32_t round = device::thread_of_warp(); round < rounds; round += 32) {
      const std::uint32_t column = in_round(round);
      mine |= column < end && block.takes(args.tasks[column]);
    }
    return __any_sync(device::kWholeWarp, mine) != 0;
  }

  std::uint32_t first, end, rounds;
};

// ---- Values in a slot

/// The sums of the values in two words, each modulo its own width.
template <int kValueBytes>
__device__ inline WordOf<kValueBytes> add_parts(WordOf<kValueBytes> a, WordOf<kValueBytes> b) {
  if constexpr (kValueBytes >= 4) return a + b;
  if constexpr (kValueBytes == 2) return device::add_halves(a, b);
  constexpr std::uint32_t kHighest = 0x80808080u;
  return ((a & ~kHighest) + (b & ~kHighest)) ^ ((a ^ b) & kHighest);
}

/// Neighbouring values, which go together.
template <int kValueBytes, int kValues>
struct alignas(kValueBytes* kValues) Neighbours {
  using Part = WordOf<kValueBytes>;  // has one value, or some
  static constexpr int kParts = kValueBytes * kValues / static_cast<int>(sizeof(Part));
  Part parts[kParts];

  __device__ Neighbours& operator+=(const Neighbours& other) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) parts[i] = add_parts<kValueBytes>(parts[i], other.parts[i]);
    return *this;
  }
  __device__ Neighbours operator+(const Neighbours& other) const {
    return Neighbours(*this) += other;
  }
};

/// Those of the thread so many below.
template <class Value>
__device__ Value from_below(Value mine, std::uint32_t distance) {
  return __shfl_up_sync(device::kWholeWarp, mine, distance);
}
template <int kValueBytes, int kValues>
__device__ Neighbours<kValueBytes, kValues> from_below(const Neighbours<kValueBytes, kValues>& mine,
                                                       std::uint32_t distance) {
  Neighbours<kValueBytes, kValues> below;
#pragma unroll
  for (int i = 0; i < Neighbours<kValueBytes, kValues>::kParts; ++i)
    below.parts[i] = __shfl_up_sync(device::kWholeWarp, mine.parts[i], distance);
  return below;
}

/// What a slot has, in units of so many values.
template <class Slot, int kValues>
struct SlotUnits {
  static constexpr int kBytes = Slot::kValueBytes, kAcross = kValues;
  using Word = std::conditional_t<kValues == 1, WordOf<kBytes>, Neighbours<kBytes, kValues>>;
  /// As it stands in the slot.
  using Unit = std::conditional_t<(kValues > 1 || kBytes >= 4), Word,
                                  std::conditional_t<kBytes == 2, std::uint16_t, unsigned char>>;

  __device__ Word load(std::uint32_t i) const { return static_cast<Word>(unit(i)); }
  __device__ void store(std::uint32_t i, const Word& word) const {
    unit(i) = static_cast<Unit>(word);
  }

  unsigned char* slot;

 private:
  __device__ Unit& unit(std::uint32_t i) const {
    return *reinterpret_cast<Unit*>(slot + piece_byte<typename Slot::Shape>(kBytes * kValues * i));
  }
};

}  // namespace gdelta::cuda
