// Which coder of the format has made what the kernels leave: a section of residuals, one tuple, or
// the values as they are.
#pragma once

#include "formats/gdelta/coder_traits.h"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

GDELTA_HD constexpr Coder coder_of(SectionKind kind) { return static_cast<Coder>(kind); }

static_assert(coder_of(SectionKind::raw) == format::coder_chosen_by(format::ChosenBy::no_gain));
static_assert(coder_of(SectionKind::constant) ==
              format::coder_chosen_by(format::ChosenBy::equal_tuples));
static_assert(coder_of(SectionKind::pack) == format::coder_chosen_by(format::ChosenBy::widths));
static_assert(format::coder_traits(coder_of(SectionKind::ans)).fields == format::CoderFields::ans);

}  // namespace gdelta::cuda
