// Lanes with a dictionary: their indices are looked up behind everything else of a column.
// Spec: maps/dictionary.md.
#pragma once

#include <optional>

#include "codec/coders/section_to_decode.h"

namespace gdelta {

/// Makes values of the indices in `section.out`, which have the column's byte order. Gives the part of
/// check 6 of spec.md, section 8, that is about dictionaries, if it fails.
std::optional<Error> look_up_dictionaries(const SectionToDecode& section);

}  // namespace gdelta
