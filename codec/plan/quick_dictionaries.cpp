#include "codec/plan/quick_dictionaries.h"

#include <span>

#include "codec/coders/maps/dictionary_choice.h"
#include "codec/plan/sampled_groups.h"

namespace gdelta {
namespace {

/// Whether few groups say that the lane may have few values.
template <class Word>
bool looks_few(const ColumnBytes& column, int lane, std::uint32_t most) {
  const GroupSample sample = few_values_groups(column.records);
  std::vector<std::uint8_t> seen_by(kFewPlaces);  // bit 0: even groups, bit 1: odd ones
  PlacesSeen seen;
  std::uint8_t group_bit = 1;
  for_sampled_groups<Word>(ResidualSource(column, format::Front{}), lane, sample, 0, sample.count,
                           [&](const Word* group, std::uint64_t count) {
                             for (const Word value : std::span(group + kMaxOrder, count)) {
                               std::uint8_t& place = seen_by[few_place(value)];
                               if ((place & group_bit) != 0) continue;
                               place |= group_bit;
                               ++(group_bit == 1 ? seen.even : seen.odd);
                               seen.both += place == 3 ? 1 : 0;
                             }
                             group_bit ^= 3;
                           });
  return may_be_few(seen, most);
}

}  // namespace

std::optional<std::vector<std::uint64_t>> choose_quick_dictionary(const ColumnBytes& column,
                                                                  int lane, std::uint64_t bits) {
  const std::uint32_t most = most_quick_entries(static_cast<std::uint32_t>(column.records), bits);
  if (most < 2 || column.records < kGroupValues) return std::nullopt;
  const bool few = value_bytes(column.column.type) == 8
                       ? looks_few<std::uint64_t>(column, lane, most)
                       : looks_few<std::uint32_t>(column, lane, most);
  return few ? table_of_lane(column, lane, most) : std::nullopt;
}

}  // namespace gdelta
