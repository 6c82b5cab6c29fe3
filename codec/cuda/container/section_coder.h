// Which coder of the format has made what the kernels of pack leave: a section of theirs, one tuple, or
// the values as they are.
#pragma once

#include "gdelta/coders.h"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

static_assert(static_cast<int>(SectionKind::raw) == static_cast<int>(Coder::raw));
static_assert(static_cast<int>(SectionKind::constant) == static_cast<int>(Coder::constant));
static_assert(static_cast<int>(SectionKind::pack) == static_cast<int>(Coder::pack));

GDELTA_HD constexpr Coder coder_of(SectionKind kind) { return static_cast<Coder>(kind); }

}  // namespace gdelta::cuda
