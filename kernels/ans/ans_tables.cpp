#include "kernels/ans/ans_tables.h"

#include <algorithm>

namespace gdelta {

template <class Word>
AnsDecodeTables<Word>::AnsDecodeTables(const AnsTables<Word>& from)
    : slot_bits(from.slot_bits),
      span_bits(from.span_bits),
      num_tables(static_cast<int>(from.tables.size())) {
  slots.reserve(from.tables.size() << slot_bits);
  if constexpr (sizeof(Word) != 4) lowers.reserve(from.tables.size() << slot_bits);
  for (const std::vector<AnsBin<Word>>& table : from.tables)
    for (const AnsBin<Word>& bin : table) {
      for (std::uint32_t place = 0; place < bin.frequency; ++place) {
        const AnsCoreSlot slot{make_ans_slot(bin.frequency, place, bin.offset_bits).bits};
        if constexpr (sizeof(Word) == 4) {
          slots.push_back({slot, bin.lower});
        } else {
          slots.push_back(slot);
        }
      }
      if constexpr (sizeof(Word) != 4) lowers.insert(lowers.end(), bin.frequency, bin.lower);
      most_offset_bits = std::max<int>(most_offset_bits, bin.offset_bits);
    }
}

template struct AnsDecodeTables<std::uint32_t>;
template struct AnsDecodeTables<std::uint64_t>;

}  // namespace gdelta
