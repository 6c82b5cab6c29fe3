// Which maps a column gets that are undone in a pass of their own: whole numbers of floats, steps of
// integers, lanes less other lanes. Found in a sample, and kept if they save bits.
#pragma once

#include "codec/coders/column_maps.h"
#include "codec/plan/encode_settings.h"

namespace gdelta {

/// Empty if none saves enough. The same values and settings give the same maps everywhere.
ColumnMaps choose_column_maps(const ColumnBytes& column, const EncodeSettings& settings);

}  // namespace gdelta
