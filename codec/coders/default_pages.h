// How long pages are if nothing speaks for other ones.
#pragma once

#include <cstdint>

#include "formats/gdelta/model.h"

namespace gdelta {

/// Groups of a lane in a page. Small tuples get pages of about 4096 values, which one thread block
/// decodes; larger ones pages that still amortise their states.
GDELTA_HD constexpr std::uint32_t default_page_groups(int tuple) {
  return tuple <= 4 ? static_cast<std::uint32_t>(32 / tuple) : 8u;
}

/// Tuples of such a page.
GDELTA_HD constexpr std::uint64_t default_page_tuples(int tuple) {
  return std::uint64_t{format::kGroupValues} * default_page_groups(tuple);
}

}  // namespace gdelta
