// Numbers by which tables of the ans coder are fitted, the same on host and device.
#pragma once

#include <cstdint>

namespace gdelta {

inline constexpr std::uint64_t kAnsBinBits = 32;  ///< about what a bin takes in a head

// Of clusters.
inline constexpr std::uint64_t kFewestOfTable = 1024;  ///< residuals
inline constexpr std::uint64_t kTableClassBits = 28;   ///< what a class adds to a table, about
inline constexpr int kSpanUnits = 2;                   ///< of the spans that are clustered
/// Where warps look for bins, every so many-th residual of a span says which table it has.
inline constexpr int kChoiceStep = 2;

// Of bins.
inline constexpr std::uint32_t kFewestOfCell =
    4;  ///< values that share one, unless an effort looks closer
inline constexpr std::uint32_t kLightest = 4;  ///< a value of this part of a cell's share is heavy
inline constexpr std::uint32_t kHopeless = 1;  ///< bits a value: so much worse than the best
/// Cells that a bin has at most where warps look for bins: a thread looks at each of its beginnings.
inline constexpr std::uint32_t kMostBinCells = 32;

}  // namespace gdelta
