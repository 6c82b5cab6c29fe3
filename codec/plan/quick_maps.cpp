#include "codec/plan/quick_maps.h"

#include "codec/plan/exact_maps.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/quick_steps.h"

namespace gdelta {

std::shared_ptr<MappedColumn> map_quickly(const ColumnBytes& column, const EncodeSettings& settings,
                                          Workers& workers, ColumnMaps& maps) {
  const bool has_front = !settings.coder || format::codes_residuals(*settings.coder);
  const bool has_group = column.records >= format::kGroupValues;
  if (settings.plain_bytes || !has_front || !has_group) return nullptr;
  std::shared_ptr<MappedColumn> mapped = map_exactly(column, settings, workers, maps);
  if (!may_have_quick_steps(column.column.tuple)) return mapped;
  format::Front plain;
  if (!mapped && plain_maps(column.column.type, settings.level).size() > 1)
    plain = choose_plain_front(column, settings, workers);
  maps.steps = choose_quick_steps(mapped ? mapped->column() : column, plain, settings);
  if (maps.steps.empty()) return mapped;
  if (plain.map != ValueMap::none)
    maps.lanes.assign(column.column.tuple, {.map = static_cast<std::uint8_t>(plain.map)});
  return std::make_shared<MappedColumn>(column, maps, workers);
}

}  // namespace gdelta
