#include "kernels/ans/ans_bins.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/cpu/cpu_targets.h"

namespace gdelta {
namespace {

struct Cell {
  ResidualRange range;
  std::uint64_t before;  // values of the sample in cells before it
};

// A value that is frequent by itself is a cell by itself; others share cells of about equal count.
std::vector<Cell> make_cells(std::span<const std::int64_t> sorted, std::uint32_t wanted) {
  const std::size_t share = std::max<std::size_t>(sorted.size() / wanted, 1);
  std::vector<Cell> cells;
  bool open = false;
  for (std::size_t at = 0, end; at < sorted.size(); at = end) {
    end = at + 1;
    while (end < sorted.size() && sorted[end] == sorted[at]) ++end;
    const bool heavy = end - at > 1 && kLightest * (end - at) >= share;
    if (!open || heavy) cells.push_back({{sorted[at], sorted[at]}, at});
    cells.back().range.last = sorted[at];
    open = !heavy && end - cells.back().before < share;
  }
  return cells;
}

constexpr std::uint64_t kFewValues = 4096;
constexpr auto kLogs = [] {
  std::array<std::uint16_t, kFewValues> logs{};
  for (std::uint64_t x = 1; x < kFewValues; ++x)
    logs[x] = static_cast<std::uint16_t>(fixed_log2(x));
  return logs;
}();
std::uint32_t log2_of(std::uint64_t values) {
  return values < kFewValues ? kLogs[values] : fixed_log2(values);
}

struct Cut {
  std::uint64_t cost;
  std::size_t from;  // the cell that begins the last bin
};

// The least cost of the cells before each, and after all of them.
GDELTA_ALWAYS_INLINE void find_cuts(const std::vector<Cell>& cells, std::uint64_t count,
                                    std::uint64_t bin_bits, Cut* best) {
  const std::uint32_t all = fixed_log2(count);
  best[0] = {0, 0};
  for (std::size_t end = 1; end <= cells.size(); ++end) {
    const std::uint64_t before_end = end < cells.size() ? cells[end].before : count;
    const auto last = static_cast<std::uint64_t>(cells[end - 1].range.last);
    Cut least{~std::uint64_t{0}, 0};
    for (std::size_t from = end; from-- > 0;) {
      const std::uint64_t values = before_end - cells[from].before;
      const auto offset_bits = static_cast<std::uint64_t>(
          std::bit_width(last - static_cast<std::uint64_t>(cells[from].range.first)));
      const std::uint64_t bits_of_one = all - log2_of(values) + (offset_bits << kFixedLog2Bits);
      const std::uint64_t bits = values * bits_of_one;
      const std::uint64_t cost = best[from].cost + bits + bin_bits;
      if (cost < least.cost) least = {cost, from};
      // Longer bins are worse by more and more.
      if (cost - least.cost > (values << kFixedLog2Bits) * kHopeless + 4 * bin_bits) break;
    }
    best[end] = least;
  }
}

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 void find_cuts_avx2(const std::vector<Cell>& cells, std::uint64_t count,
                                std::uint64_t bin_bits, Cut* best) {
  find_cuts(cells, count, bin_bits, best);
}
#endif

BinChoice cut_cells(const std::vector<Cell>& cells, std::uint64_t count, std::uint64_t bin_bits) {
  std::vector<Cut> best(cells.size() + 1);
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) {
    find_cuts_avx2(cells, count, bin_bits, best.data());
  } else
#endif
    find_cuts(cells, count, bin_bits, best.data());
  BinChoice choice{.bins = {}, .bits = best.back().cost};
  for (std::size_t end = cells.size(); end > 0; end = best[end].from)
    choice.bins.push_back({cells[best[end].from].range.first, cells[end - 1].range.last});
  std::reverse(choice.bins.begin(), choice.bins.end());
  return choice;
}

}  // namespace

void sort_sample(std::vector<std::int64_t>& sample) {
  if (sample.empty()) return;
  std::int64_t lowest = sample[0], highest = sample[0];
  for (const std::int64_t value : sample) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const auto base = static_cast<std::uint64_t>(lowest);
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(highest) - base));
  constexpr int kMostDigitBits = 11;
  const int digits = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const int digit_bits = digits == 0 ? 1 : (bits + digits - 1) / digits;
  std::vector<std::int64_t> other(sample.size());
  for (int digit_at = 0; digit_at < bits; digit_at += digit_bits) {
    const auto digit_of = [=](std::int64_t value) {
      return (static_cast<std::uint64_t>(value) - base) >> digit_at & ((1u << digit_bits) - 1);
    };
    std::uint32_t places[(1u << kMostDigitBits) + 1] = {};
    for (const std::int64_t value : sample) ++places[digit_of(value) + 1];
    for (std::size_t d = 1; d < std::size_t{1} << digit_bits; ++d) places[d] += places[d - 1];
    for (const std::int64_t value : sample) other[places[digit_of(value)]++] = value;
    sample.swap(other);
  }
}

BinChoice choose_bins(std::span<const std::int64_t> sorted, const BinEffort& effort) {
  if (sorted.empty()) return {};
  const std::vector<Cell> cells = make_cells(sorted, effort.cells);
  std::uint64_t bin_bits = effort.bin_bits + 1;
  BinChoice choice = cut_cells(cells, sorted.size(), bin_bits);
  while (choice.bins.size() > effort.most_bins) {
    bin_bits *= 2;
    choice = cut_cells(cells, sorted.size(), bin_bits);
  }
  return choice;
}

}  // namespace gdelta
