#include "codec/plan/column_map_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "codec/coders/maps/lane_map.h"
#include "codec/coders/maps/value_map.h"
#include "codec/plan/levels.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

/// The value maps that a level tries on values of a type, in the order of their numbers.
std::vector<ValueMap> tried_maps(ValueType type, int level) {
  std::vector<ValueMap> maps;
  for (int number = 1; number < kNumValueMaps; ++number) {
    const auto map = static_cast<ValueMap>(number);
    if (format::map_takes(map, type) && format::map_traits(map).tried_from_level <= level)
      maps.push_back(map);
  }
  return maps;
}

std::vector<LaneMap> tried_lane_maps(int level) {
  std::vector<LaneMap> maps;
  for (int number = 1; number < kNumLaneMaps; ++number)
    if (column_lane_map(static_cast<LaneMap>(number)).tried_from_level <= level)
      maps.push_back(static_cast<LaneMap>(number));
  return maps;
}

/// None, one without fields, or, if that saves as much as a second pass has to, one with fields: the first kind that
/// suits the lane better than none, or a table.
template <class Word>
MapTrial<Word> choose_map(const ColumnBytes& column, int number, const LaneSample<Word>& lane,
                          const EncodeSettings& settings) {
  const std::uint64_t gain_permille = level_policy(settings.level).strides.gain_permille;
  const std::vector<ValueMap> maps = tried_maps(column.column.type, settings.level);
  MapTrial<Word> plain;
  MapTrial<Word> best;
  try_map(lane, {}, plain);
  for (const ValueMap map : maps)
    if (!format::has_fields(map)) try_map(lane, {.map = static_cast<std::uint8_t>(map)}, plain);
  for (const ValueMap map : maps) {
    const auto find = column_value_map(map).find.template of<Word>();
    if (find == nullptr || best.cost < plain.cost) continue;
    for (const LaneMapping& mapping : find(lane)) try_map(lane, mapping, best);
  }
  const auto less = [&](std::uint64_t cost) { return cost * (1000 - gain_permille) / 1000; };
  const bool saves = best.cost < plain.cost && saves_a_pass(best.cost, plain.cost, gain_permille);
  if (!saves) best = std::move(plain);
  if (!settings.dictionaries) return best;
  for (const ValueMap map : maps) {
    const auto try_table = column_value_map(map).try_table.template of<Word>();
    if (try_table == nullptr) continue;
    auto trial = try_table(column, number, lane, less(best.cost));
    if (trial) best = std::move(*trial);
  }
  return best;
}

template <class Word>
std::uint64_t cost_of_all(const std::vector<MapTrial<Word>>& lanes) {
  return std::accumulate(
      lanes.begin(), lanes.end(), std::uint64_t{0},
      [](std::uint64_t sum, const MapTrial<Word>& lane) { return sum + lane.cost; });
}

/// The steps of the lane map that saves most, if that is enough.
template <class Word>
std::vector<LaneStep> choose_steps(const std::vector<MapTrial<Word>>& lanes, int level) {
  const std::uint64_t gain_permille = level_policy(level).strides.gain_permille;
  const std::uint64_t before = cost_of_all(lanes);
  std::uint64_t least = before;
  std::vector<LaneStep> best;
  for (const LaneMap map : tried_lane_maps(level)) {
    std::vector<MapTrial<Word>> changed = lanes;
    std::vector<LaneStep> steps =
        column_lane_map(map).choose.template of<Word>()(changed, gain_permille);
    const std::uint64_t cost = cost_of_all(changed);
    if (cost >= least || !saves_a_pass(cost, before, gain_permille)) continue;
    least = cost;
    best = std::move(steps);
  }
  return best;
}

template <class Word>
ColumnMaps choose_maps(const ColumnBytes& column, const EncodeSettings& settings) {
  std::vector<MapTrial<Word>> lanes;
  bool fields = false;
  for (int lane = 0; lane < column.column.tuple; ++lane) {
    lanes.push_back(choose_map(column, lane, sample_lane<Word>(column, lane), settings));
    fields |= format::has_fields(static_cast<ValueMap>(lanes.back().mapping.map));
  }
  ColumnMaps maps;
  maps.steps = choose_steps(lanes, settings.level);
  if (!fields && maps.steps.empty()) return {};
  const bool looks_up =
      std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return !lane.table.empty(); });
  for (MapTrial<Word>& lane : lanes) {
    maps.lanes.push_back(lane.mapping);
    if (looks_up) maps.tables.push_back(std::move(lane.table));
  }
  return maps;
}

/// Whether a level has something to choose from.
bool any_is_tried(ValueType type, int level) {
  const std::vector<ValueMap> maps = tried_maps(type, level);
  return std::any_of(maps.begin(), maps.end(), format::has_fields) ||
         !tried_lane_maps(level).empty();
}

}  // namespace

ColumnMaps choose_column_maps(const ColumnBytes& column, const EncodeSettings& settings) {
  const bool has_numbers = !settings.plain_bytes && column.records >= kSampleStretch;
  const bool has_front = !settings.coder || format::codes_residuals(*settings.coder);
  if (!has_numbers || !has_front || !any_is_tried(column.column.type, settings.level)) return {};
  return value_bytes(column.column.type) == 8 ? choose_maps<std::uint64_t>(column, settings)
                                              : choose_maps<std::uint32_t>(column, settings);
}

}  // namespace gdelta
