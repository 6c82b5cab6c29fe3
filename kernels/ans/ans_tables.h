// The tables of the ans coder: which bins there are, and how the slots of a table belong to them. Spec:
// coders/ans.md.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_bin.h"
#include "kernels/ans/ans_layout.h"

namespace gdelta {

/// Tables as heads say them.
template <class Word>
struct AnsTables {
  int slot_bits = kMinSlotBits;
  int span_bits = kMaxSpanBits;
  std::vector<std::vector<AnsBin<Word>>> tables;  // bins from the lowest up
};

/// Other names for tables and their bins: table `tables[t]` is called t, and its bin `bins[t ×
/// kMaxTableBins + b]` is called b.
struct AnsNames {
  std::vector<std::uint8_t> tables;
  std::vector<std::uint8_t> bins;
};

/// A slot as cores decode by it: what its bin is to residuals stands in it, so that they need not look for the bin.
struct AnsCoreSlot {
  std::uint32_t bits;
  std::uint32_t frequency() const { return (bits >> 21) + 1; }
  std::uint32_t place() const { return (bits >> 10) & 0x7ff; }
  std::uint32_t offset_bits() const { return bits & 0x3ff; }
};

/// The same with the lower end of its bin: what vectors load of a slot comes at once.
struct AnsWholeSlot : AnsCoreSlot {
  std::uint32_t lower;
};
static_assert(sizeof(AnsWholeSlot) == 8);

/// The tables for decoding: slots of table t from t << slot_bits on.
template <class Word>
struct AnsDecodeTables {
  /// Lower ends of 64 bits have no room in a slot.
  using Slot = std::conditional_t<sizeof(Word) == 4, AnsWholeSlot, AnsCoreSlot>;

  explicit AnsDecodeTables(const AnsTables<Word>& tables);

  /// Of the slot's bin.
  Word lower(std::uint32_t slot) const {
    if constexpr (sizeof(Word) == 4) {
      return slots[slot].lower;
    } else {
      return lowers[slot];
    }
  }

  int slot_bits, span_bits, num_tables;
  int most_offset_bits = 0;
  std::vector<Slot> slots;
  std::vector<Word> lowers;  // of each slot's bin, where they do not stand in the slots
};

}  // namespace gdelta
