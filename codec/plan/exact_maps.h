// The maps in a pass of their own that low levels look for, and the planner of a device with them
// (codec/cuda/container/plan_chunks.cu): those that give every value of a lane back, without exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "codec/coders/column_maps.h"
#include "codec/plan/encode_settings.h"
#include "codec/plan/lane_orders.h"

namespace gdelta {

/// The maps that are tried of values of a type, a bit for each by its number: none unless values are as wide as words, for words
/// take the places of values.
std::uint32_t exact_maps_of(ValueType type);

/// A column with a whole group behind such maps; empty if none saves enough. A lane gets one if
///   1. some mapping of it (ColumnValueMap::find_exact) gives back the values of all groups that orders are chosen by, of
///      which there is a whole one; of several the one behind which they differ least,
///   2. it gives back all others, too,
///   3. the groups are packed in clearly fewer bits, each at its best order, than behind the map without fields that suits
///      the column best. Other lanes have that one, or
///   4. whatever they have so far, a dictionary that takes much less (quick_dictionaries.h).
/// `maps` becomes what it is behind, `plain` what plain maps do for the column, if that was looked at.
std::shared_ptr<MappedColumn> map_exactly(const ColumnBytes& column, const EncodeSettings& settings,
                                          Workers& workers, ColumnMaps& maps,
                                          std::optional<PlainFronts>& plain);

}  // namespace gdelta
