// At which levels of libzstd a frame is compressed.
#pragma once

namespace gdelta {

/// A frame is the shortest of those that libzstd makes at these levels, the first if they tie.
/// Residuals have few long matches, and its fastest level often wins over those in the middle; it
/// costs little beside them.
struct ZstdLevels {
  int first = 1;
  int second = 0;  // 0: there is none

  friend constexpr bool operator==(const ZstdLevels&, const ZstdLevels&) = default;
};

}  // namespace gdelta
