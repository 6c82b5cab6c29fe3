// The maps in a pass of their own that low levels look for: none is looked up in tables, and none has exceptions.
#pragma once

#include <memory>
#include <optional>

#include "codec/coders/column_maps.h"
#include "codec/plan/encode_settings.h"
#include "codec/plan/lane_orders.h"

namespace gdelta {

/// A column behind value maps that give every value back (exact_maps.h), and behind them lanes less others (quick_steps.h); empty
/// if nothing saves enough, or the column has no whole group, or its coder codes no residuals. `maps` becomes what it is behind,
/// `plain` what plain maps do for the column, if that was looked at.
std::shared_ptr<MappedColumn> map_quickly(const ColumnBytes& column, const EncodeSettings& settings,
                                          Workers& workers, ColumnMaps& maps,
                                          std::optional<PlainFronts>& plain);

}  // namespace gdelta
