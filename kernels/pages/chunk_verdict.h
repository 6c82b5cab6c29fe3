// What becomes of a chunk that kernels decode: they note the lowest offset at which something is wrong, and in the end
// that is the verdict.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta::cuda {

/// One chunk's verdict; the layout is that of gdelta::ChunkStatus.
struct ChunkVerdict {
  std::int32_t code;  // 0: its bytes are right
  std::uint32_t reserved;
  std::uint64_t byte;  // offset in the stream if the code is not 0
};

inline constexpr std::uint64_t kNoDamage = ~std::uint64_t{0};

/// Makes the verdict on a chunk whose head was right of what has been found behind it: the first check that failed, where
/// pages that break a rule come before those whose content is another. `corrupt` is the code for both.
GDELTA_HD inline void settle_verdict(ChunkVerdict& verdict, std::uint64_t damaged_at,
                                     std::uint64_t differs_at, std::int32_t corrupt) {
  const std::uint64_t at = damaged_at == kNoDamage ? differs_at : damaged_at;
  if (at != kNoDamage) verdict = {corrupt, 0, at};
}

}  // namespace gdelta::cuda
