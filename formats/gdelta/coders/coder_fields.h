// What models say of a section beside what all of them say: the coders that have fields of their own, a row
// each. Shared by host code and CUDA kernels.
#pragma once

#include <cstdint>

#include "formats/gdelta/coders/ans_fields.h"

/// row(name): a header of this folder has `parse_NAME_fields(cursor, value_bits)`, which checks every field,
/// and the coder's row in gdelta/coders.h says `.fields = CoderFields::NAME`.
#define GDELTA_CODER_FIELDS(row) row(ans)

namespace gdelta::format {

enum class CoderFields : std::uint8_t {
  none,
#define GDELTA_ENUMERATOR(name) name,
  GDELTA_CODER_FIELDS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

/// Reads over the fields of a coder and checks them.
GDELTA_HD inline HeadError parse_coder_fields(CoderFields fields, Cursor& cursor, int value_bits) {
  switch (fields) {
    case CoderFields::none:
      break;
#define GDELTA_CASE(name) \
  case CoderFields::name: \
    return parse_##name##_fields(cursor, value_bits);
      GDELTA_CODER_FIELDS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return HeadError::none;
}

}  // namespace gdelta::format
