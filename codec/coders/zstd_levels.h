// At which levels of libzstd a frame is compressed.
#pragma once

namespace gdelta {

/// A frame is the shortest of those that libzstd makes at these levels, the first if they tie.
/// Residuals have few long matches, and its fastest levels often win over those in the middle; they
/// cost little beside them.
struct ZstdLevels {
  int first = 1;
  int second = 0;  // 0: there is none, and no third
  int third = 0;

  constexpr int count() const { return second == 0 ? 1 : third == 0 ? 2 : 3; }

  friend constexpr bool operator==(const ZstdLevels&, const ZstdLevels&) = default;
};

}  // namespace gdelta
