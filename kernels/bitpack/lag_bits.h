// How long the differences of values are that lie some places apart: what tells at little cost which
// layouts of a stream are worth weighing. Word is the narrowest unsigned integer that holds a value;
// values lie in its upper bits, so that differences wrap at their width. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// `ways` runs of `length` values each, one behind the other. Two lags of values lie before the place that
/// a run is about, so that many are behind the last.
struct LagRuns {
  int ways = 0;
  std::size_t length = 0;
};

/// The most runs that `count` values have for this lag, at most four, whose length is a multiple of it;
/// none if they are fewer than three lags.
constexpr LagRuns lag_runs(std::size_t count, std::size_t lag) {
  const std::size_t lags = count / lag;
  if (lags < 3) return {};
  const std::size_t ways = lags - 2 < 4 ? lags - 2 : 4;
  return {static_cast<int>(ways), (lags - 2) / ways * lag};
}

/// Values behind the last that are read, whatever they are.
inline constexpr std::size_t kLagPadding = 31;

/// Sum of bits, one number for each place of a run: those of the longest zigzag at that place of all runs,
/// of the values or of their differences of order 1 or 2, whichever is shortest. So values of a lane are
/// taken together, as groups take them.
/// in  values [ways · length + 2 · lag], `spare_bits` lower ones of which do not count; kLagPadding more
///     can be read
template <class Word>
std::uint64_t lag_bits(const Word* values, LagRuns runs, std::size_t lag, int spare_bits);

/// Of bytes that are compared with earlier ones, a multiple of this many is compared.
inline constexpr std::size_t kRepeatBlock = 224;

/// Adds to repeats[lag], for each lag from 1 on, how many of `count` bytes equal the one `lag` before them.
/// in   bytes [-longest, count), a multiple of kRepeatBlock
/// out  repeats [1, longest]
void add_lag_repeats(const std::uint8_t* bytes, std::size_t count, std::size_t longest,
                     std::uint64_t* repeats);

}  // namespace gdelta
