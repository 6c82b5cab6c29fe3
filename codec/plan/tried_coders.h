// Coders that say themselves from which level on an encoder tries them.
#pragma once

#include <optional>
#include <vector>

#include "codec/plan/encode_settings.h"
#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/model.h"

namespace gdelta {

/// Lists those that are chosen for this reason, ChosenBy::trial or ChosenBy::patience, and are tried: the one that was
/// asked for, else what the level allows, of which a stream that a device is to decode may have some.
std::vector<Coder> tried_coders(format::ChosenBy reason, std::optional<Coder> asked, int level,
                                bool device_decodable);

/// Lists those that may code tables of dictionaries of such a column: coders that are tried, if the column is the
/// host's anyway.
std::vector<Coder> table_coders(const format::ColumnModel& model, const EncodeSettings& settings);

}  // namespace gdelta
