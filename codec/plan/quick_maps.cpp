#include "codec/plan/quick_maps.h"

#include "codec/plan/exact_maps.h"
#include "codec/plan/quick_steps.h"

namespace gdelta {

std::shared_ptr<MappedColumn> map_quickly(const ColumnBytes& column, const EncodeSettings& settings,
                                          Workers& workers, ColumnMaps& maps,
                                          std::optional<PlainFronts>& plain) {
  const bool has_front = !settings.coder || format::codes_residuals(*settings.coder);
  const bool has_group = column.records >= format::kGroupValues;
  if (settings.plain_bytes || !has_front || !has_group) return nullptr;
  std::shared_ptr<MappedColumn> mapped = map_exactly(column, settings, workers, maps, plain);
  if (!may_have_quick_steps(column.column.tuple)) return mapped;
  if (!mapped && !plain) plain = choose_plain_fronts(column, settings, workers);
  const format::Front front = mapped ? format::Front{} : plain->best_front();
  maps.steps = choose_quick_steps(mapped ? mapped->column() : column, front, settings);
  if (maps.steps.empty()) return mapped;
  if (front.map != ValueMap::none)
    maps.lanes.assign(column.column.tuple, {.map = static_cast<std::uint8_t>(front.map)});
  return std::make_shared<MappedColumn>(column, maps, workers);
}

}  // namespace gdelta
