#include "codec/plan/exact_maps.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "codec/coders/coder.h"
#include "codec/coders/maps/value_map.h"
#include "codec/coders/value_table.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/quick_dictionaries.h"
#include "codec/plan/sampled_groups.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/words/map_lane.h"
#include "kernels/words/maps/exact_maps.h"

namespace gdelta {
namespace {

using format::Front;

class ExactMapChoice {
 public:
  ExactMapChoice(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers)
      : column_(column),
        settings_(settings),
        policy_(level_policy(settings.level)),
        workers_(workers) {}

  std::shared_ptr<MappedColumn> map(ColumnMaps& maps, std::optional<PlainFronts>& of_plain) const {
    Found found;
    for (int lane = 0; lane < column_.column.tuple; ++lane)
      found.push_back(is_wide() ? find<std::uint64_t>(lane) : find<std::uint32_t>(lane));
    of_plain = choose_plain_fronts(column_, settings_, workers_);
    const Front& plain = of_plain->best_front();
    for (int lane = 0; lane < column_.column.tuple; ++lane)
      settle(lane, of_plain->lane_bits[static_cast<std::size_t>(lane)], found);
    while (has_any(found)) {
      maps = maps_of(found, plain.map);
      auto mapped = std::make_shared<MappedColumn>(column_, maps, workers_);
      if (mapped->exceptions() == 0) return mapped;
      const std::vector<bool> has_exceptions = mapped->lanes_with_exceptions();
      for (std::size_t lane = 0; lane < found.size(); ++lane)
        if (has_exceptions[lane]) found[lane].reset();
    }
    maps = {};
    return nullptr;
  }

 private:
  struct LaneFound {
    LaneMapping mapping;
    std::uint64_t bits;  // of the lane behind it
    std::vector<std::uint64_t> table = {};
  };
  using Found = std::vector<std::optional<LaneFound>>;

  static bool has_any(const Found& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const auto& lane) { return lane.has_value(); });
  }

  static ColumnMaps maps_of(const Found& found, ValueMap plain) {
    ColumnMaps maps;
    bool any_table = false;
    for (const auto& lane : found) {
      maps.lanes.push_back(lane ? lane->mapping
                                : LaneMapping{.map = static_cast<std::uint8_t>(plain)});
      maps.tables.push_back(lane ? lane->table : std::vector<std::uint64_t>{});
      any_table |= !maps.tables.back().empty();
    }
    if (!any_table) maps.tables.clear();
    return maps;
  }

  bool is_wide() const { return value_bytes(column_.column.type) == 8; }

  GroupSample sample() const {
    return sample_groups(column_.records, column_.column.tuple, policy_.orders.groups);
  }

  OrderEffort effort() const { return {policy_.orders.highest, policy_.orders.groups}; }

  /// Sampled groups of a lane: words of whole groups, and with the history that each has.
  template <class Word>
  struct LaneGroups {
    std::vector<Word> words, with_history;
  };

  template <class Word>
  void add_groups(int lane, const GroupSample& sample, std::uint64_t begin, std::uint64_t end,
                  LaneGroups<Word>& groups) const {
    for_sampled_groups<Word>(
        ResidualSource(column_, Front{}), lane, sample, begin, end,
        [&](const Word* group, std::uint64_t count) {
          groups.with_history.insert(groups.with_history.end(), group, group + kHistoryAndGroup);
          groups.words.insert(groups.words.end(), group + kMaxOrder, group + kMaxOrder + count);
        });
  }

  /// Of the mappings that give these words back the one behind which they differ least; of equals the first.
  template <class Word>
  std::optional<ExactMapping> find_mapping(const std::vector<Word>& words) const {
    std::optional<ExactMapping> best;
    for (std::uint32_t maps = exact_maps_of(column_.column.type); maps != 0; maps &= maps - 1) {
      const auto map = static_cast<ValueMap>(std::countr_zero(maps));
      const auto find = column_value_map(map).find_exact.template of<Word>();
      const auto found = find(words, value_bits(column_.column.type));
      if (found && (!best || found->spread < best->spread)) best = found;
    }
    return best;
  }

  /// What gives the values of all sampled groups back.
  template <class Word>
  std::optional<LaneFound> find(int lane) const {
    LaneGroups<Word> groups;
    add_groups(lane, sample(), 0, 1, groups);
    // Mostly one group refuses them all.
    const auto& words = groups.words;
    const bool all_alike =
        std::all_of(words.begin(), words.end(), [&](Word word) { return word == words.front(); });
    if (!all_alike && !find_mapping(words)) return std::nullopt;
    add_groups(lane, sample(), 1, sample().count, groups);
    const auto found = find_mapping(words);
    if (!found) return std::nullopt;
    return LaneFound{found->mapping, bits_behind(found->mapping, groups.with_history)};
  }

  template <class Word>
  std::uint64_t bits_behind(const LaneMapping& mapping, std::vector<Word>& groups) const {
    std::vector<std::uint64_t> exceptions;
    map_lane(groups.data(), groups.size(), value_bits(column_.column.type), mapping, 0, exceptions);
    return least_lane_bits<Word>(groups, column_.column, column_.records, settings_.order,
                                 effort());
  }

  /// Leaves of a lane what saves enough of the bits that it takes without: what was found, or a dictionary.
  void settle(int lane, std::uint64_t bits, Found& found) const {
    std::optional<LaneFound>& own = found[static_cast<std::size_t>(lane)];
    if (own && !saves_a_pass(own->bits, bits, policy_.strides.gain_permille)) own.reset();
    if (own) bits = own->bits;
    if (!settings_.dictionaries || !may_have_quick_dictionaries(column_.column.tuple)) return;
    auto table = choose_quick_dictionary(column_, lane, bits);
    if (!table) return;
    const std::uint64_t table_bytes = encode_table(*table, column_.column.type).bytes.size();
    const std::uint64_t index_bits = is_wide() ? bits_of_indices<std::uint64_t>(lane, *table)
                                               : bits_of_indices<std::uint32_t>(lane, *table);
    if (!dictionary_pays(table_bytes, index_bits, bits)) return;
    own = {.mapping = {.map = kMapNumber<DictionaryMap>},
           .bits = index_bits,
           .table = std::move(*table)};
  }

  template <class Word>
  std::uint64_t bits_of_indices(int lane, const std::vector<std::uint64_t>& table) const {
    LaneGroups<Word> groups;
    add_groups(lane, sample(), 0, sample().count, groups);
    DistinctWords words(table.size());
    for (const std::uint64_t value : table) words.add(value);
    words.find_numbers(std::span(groups.with_history));
    return least_lane_bits<Word>(groups.with_history, column_.column, column_.records,
                                 settings_.order, effort());
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const LevelPolicy& policy_;
  Workers& workers_;
};

}  // namespace

std::uint32_t exact_maps_of(ValueType type) {
  std::uint32_t maps = 0;
  for (int number = 1; number < kNumValueMaps; ++number) {
    const auto map = static_cast<ValueMap>(number);
    const auto& find = column_value_map(map).find_exact;
    const bool has_whole_words = value_bits(type) == 64
                                     ? find.wide != nullptr
                                     : value_bits(type) == 32 && find.narrow != nullptr;
    if (has_whole_words && format::map_takes(map, type)) maps |= 1u << number;
  }
  return maps;
}

std::shared_ptr<MappedColumn> map_exactly(const ColumnBytes& column, const EncodeSettings& settings,
                                          Workers& workers, ColumnMaps& maps,
                                          std::optional<PlainFronts>& plain) {
  if (exact_maps_of(column.column.type) == 0) return nullptr;
  return ExactMapChoice(column, settings, workers).map(maps, plain);
}

}  // namespace gdelta
