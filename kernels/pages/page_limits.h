// Numbers of pages that loops and kernels share.
#pragma once

namespace gdelta {

inline constexpr int kGroupValues = 128;     ///< residuals of a group
inline constexpr int kMaxPageGroups = 2048;  ///< a page has, all lanes together
inline constexpr int kMaxLanes = 64;
inline constexpr int kMaxDeltaOrder = 8;

}  // namespace gdelta
