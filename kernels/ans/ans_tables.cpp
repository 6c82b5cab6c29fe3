#include "kernels/ans/ans_tables.h"

namespace gdelta {

template <class Word>
AnsDecodeTables<Word>::AnsDecodeTables(const AnsTables<Word>& from)
    : slot_bits(from.slot_bits),
      span_bits(from.span_bits),
      num_tables(static_cast<int>(from.tables.size())) {
  slots.reserve(from.tables.size() << slot_bits);
  for (const std::vector<AnsBin<Word>>& table : from.tables)
    for (const AnsBin<Word>& bin : table) {
      const auto number = static_cast<std::uint32_t>(lowers.size());
      for (std::uint32_t place = 0; place < bin.frequency; ++place)
        slots.push_back(make_ans_slot(bin.frequency, place, number).bits);
      lowers.push_back(bin.lower);
      offset_bits.push_back(bin.offset_bits);
    }
}

template struct AnsDecodeTables<std::uint32_t>;
template struct AnsDecodeTables<std::uint64_t>;

}  // namespace gdelta
