// The tables of the ans coder: which bins there are, and how the slots of a table belong to them. A bin is
// a range of residuals, 2^offset_bits of them from `lower` up, modulo 2^w; a residual is coded as its bin
// and, plainly, its offset in it. Spec: coders/ans.md.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ans/ans_layout.h"

namespace gdelta {

template <class Word>
struct AnsBin {
  Word lower = 0;  // sign-extended from the width of the type
  std::uint16_t frequency = 0;
  std::uint8_t offset_bits = 0;
};

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

/// The tables for decoding: slots of table t from t << slot_bits on, bins of all tables one after the other.
template <class Word>
struct AnsDecodeTables {
  explicit AnsDecodeTables(const AnsTables<Word>& tables);

  int slot_bits, span_bits, num_tables;
  std::vector<std::uint32_t> slots;  // AnsSlot
  std::vector<Word> lowers;
  std::vector<std::uint8_t> offset_bits;
};

}  // namespace gdelta
