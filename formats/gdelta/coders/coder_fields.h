// The coders whose models have fields of their own, a row each: what a model says of the section beside what
// all of them say. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/coders/ans_fields.h"

/// row(name): a header of this folder has `parse_NAME_fields(cursor, value_bits)`, which checks every field.
#define GDELTA_CODER_FIELDS(row) row(ans)

namespace gdelta::format {

#define GDELTA_ONE(name) +(1 << static_cast<int>(Coder::name))
constexpr bool rows_are_those_with_fields() {
  int with_fields = 0;
  for (int number = 0; number < kNumCoders; ++number)
    with_fields |= coder_traits(static_cast<Coder>(number)).has_fields ? 1 << number : 0;
  return with_fields == GDELTA_CODER_FIELDS(GDELTA_ONE);
}
#undef GDELTA_ONE
static_assert(rows_are_those_with_fields());

/// Reads over the fields of a coder that has some.
GDELTA_HD inline HeadError parse_coder_fields(Coder coder, Cursor& cursor, int value_bits) {
  switch (coder) {
#define GDELTA_CASE(name) \
  case Coder::name:       \
    return parse_##name##_fields(cursor, value_bits);
    GDELTA_CODER_FIELDS(GDELTA_CASE)
#undef GDELTA_CASE
    default:
      return HeadError::none;
  }
}

}  // namespace gdelta::format
