#include "codec/plan/quick_dictionaries.h"

#include <span>

#include "codec/coders/maps/dictionary_choice.h"
#include "codec/coders/value_table.h"
#include "codec/plan/sampled_groups.h"

namespace gdelta {
namespace {

/// Whether few groups say that the lane may have few values.
template <class Word>
bool looks_few(const ColumnBytes& column, int lane, std::uint32_t most) {
  const GroupSample sample = few_values_groups(column.records);
  DistinctWords words(most);
  bool are_few = true;
  for_sampled_groups<Word>(ResidualSource(column, format::Front{}), lane, sample, 0, sample.count,
                           [&](const Word* group, std::uint64_t count) {
                             are_few = are_few &&
                                       words.add_all(std::span(group + kMaxOrder, count));
                           });
  return are_few && may_be_few(static_cast<std::uint32_t>(words.words().size()),
                               static_cast<std::uint32_t>(sample.count));
}

}  // namespace

std::optional<std::vector<std::uint64_t>> choose_quick_dictionary(const ColumnBytes& column, int lane,
                                                                  std::uint64_t bits) {
  const std::uint32_t most =
      most_quick_entries(static_cast<std::uint32_t>(column.records), bits);
  if (most < 2 || column.records < kGroupValues) return std::nullopt;
  const bool few = value_bytes(column.column.type) == 8
                       ? looks_few<std::uint64_t>(column, lane, most)
                       : looks_few<std::uint32_t>(column, lane, most);
  return few ? table_of_lane(column, lane, most) : std::nullopt;
}

}  // namespace gdelta
