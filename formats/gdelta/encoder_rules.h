// Rules that the format leaves to the encoder and that every encoder, on host and device, must
// share to write the same bytes. The width of a group is chosen by choose_width in chunk_head.h.
#pragma once

#include <cstdint>

#include "formats/gdelta/bytes.h"

namespace gdelta {

/// Whether a pack or zstd section is smaller than raw. `part_bytes` are those of the page directory
/// or the frame sizes in the head.
GDELTA_HD constexpr bool worth_keeping(std::uint64_t section_bytes, std::uint64_t part_bytes,
                                       std::uint64_t raw_bytes) {
  return section_bytes + part_bytes < raw_bytes;
}

}  // namespace gdelta
