#include "codec/plan/quick_dictionaries.h"

#include <bitset>
#include <span>

#include "codec/coders/maps/dictionary_choice.h"
#include "codec/plan/sampled_groups.h"

namespace gdelta {
namespace {

/// Whether few groups say that the lane may have few values.
template <class Word>
bool looks_few(const ColumnBytes& column, int lane, std::uint32_t most) {
  const GroupSample sample = few_values_groups(column.records);
  std::bitset<kFewPlaces> of_even, of_odd;
  PlacesSeen seen;
  bool is_even = true;
  for_sampled_groups<Word>(ResidualSource(column, format::Front{}), lane, sample, 0, sample.count,
                           [&](const Word* group, std::uint64_t count) {
                             auto& own = is_even ? of_even : of_odd;
                             const auto& other = is_even ? of_odd : of_even;
                             std::uint32_t& own_places = is_even ? seen.even : seen.odd;
                             for (const Word value : std::span(group + kMaxOrder, count)) {
                               const std::uint32_t place = few_place(value);
                               const std::uint32_t added = own[place] ? 0 : 1;
                               own_places += added;
                               seen.both += other[place] ? added : 0;
                               own[place] = true;
                             }
                             is_even = !is_even;
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
