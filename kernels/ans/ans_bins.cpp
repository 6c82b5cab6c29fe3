#include "kernels/ans/ans_bins.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/cut_search.h"

namespace gdelta {
namespace {

// A value that is frequent by itself is a cell by itself; others share cells. `is_full(begin, before, at)` says whether
// the one that begins at rank `begin` ends with the value at rank `before`, as the next one is at rank `at`.
template <class IsFull>
CutCells make_cells(std::span<const std::int64_t> sorted, std::size_t share,
                    const IsFull& is_full) {
  CutCells cells;
  bool alone = true;  // what is before cannot share its cell
  for (std::size_t at = 0, before = 0, end; at < sorted.size(); before = at, at = end) {
    end = at + 1;
    while (end < sorted.size() && sorted[end] == sorted[at]) ++end;
    const bool heavy = end - at > 1 && kLightest * (end - at) >= share;
    const auto value = static_cast<std::uint64_t>(sorted[at]);
    if (alone || heavy || is_full(cells.befores.back(), before, at)) {
      cells.firsts.push_back(value);
      cells.lasts.push_back(value);
      cells.befores.push_back(at);
    }
    cells.lasts.back() = value;
    alone = heavy;
  }
  cells.befores.push_back(sorted.size());
  return cells;
}

// Shared cells have about equal counts, or, for warps, begin where ranks that are known beforehand lie.
CutCells make_cells(std::span<const std::int64_t> sorted, const BinEffort& effort) {
  const std::size_t share = std::max<std::size_t>(sorted.size() / effort.cells,
                                                  effort.for_warps ? 1 : effort.fewest_of_cell);
  const int share_bits = std::bit_width(share) - 1;
  if (effort.for_warps)
    return make_cells(sorted, share, [=](std::size_t, std::size_t before, std::size_t at) {
      return at >> share_bits != before >> share_bits;
    });
  return make_cells(sorted, share, [=](std::size_t begin, std::size_t, std::size_t at) {
    return at - begin >= share;
  });
}

BinChoice cut_cells(const CutCells& cells, std::uint64_t bin_bits, bool for_warps) {
  const CutEnds best =
      for_warps ? search_short_cuts(cells, bin_bits) : search_cuts(cells, bin_bits);
  BinChoice choice{.bins = {}, .bits = best.costs.back()};
  for (std::size_t end = cells.size(); end > 0; end = best.froms[end])
    choice.bins.push_back({static_cast<std::int64_t>(cells.firsts[best.froms[end]]),
                           static_cast<std::int64_t>(cells.lasts[end - 1])});
  std::reverse(choice.bins.begin(), choice.bins.end());
  return choice;
}

// By the digits of what each is above the lowest.
template <class Key>
void sort_by_digits(std::span<std::int64_t> sample, std::uint64_t lowest, int bits) {
  // Few numbers are not worth many counts.
  const int most_digit_bits = sample.size() < 1024 ? 7 : 11;
  const int digits = (bits + most_digit_bits - 1) / most_digit_bits;
  const int digit_bits = (bits + digits - 1) / digits;
  const std::size_t numbers = std::size_t{1} << digit_bits;  // of a digit
  const auto digit_of = [=](Key key, int digit) {
    return static_cast<std::size_t>(key >> (digit * digit_bits)) & (numbers - 1);
  };
  std::vector<Key> keys(sample.size()), other(sample.size());
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(digits) * numbers);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    keys[i] = static_cast<Key>(static_cast<std::uint64_t>(sample[i]) - lowest);
    for (int digit = 0; digit < digits; ++digit)
      ++counts[static_cast<std::size_t>(digit) * numbers + digit_of(keys[i], digit)];
  }
  for (int digit = 0; digit < digits; ++digit) {
    std::uint32_t* const places = counts.data() + static_cast<std::size_t>(digit) * numbers;
    std::exclusive_scan(places, places + numbers, places, 0u);
    for (const Key key : keys) other[places[digit_of(key, digit)]++] = key;
    keys.swap(other);
  }
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = static_cast<std::int64_t>(lowest + keys[i]);
}

}  // namespace

void sort_sample(std::span<std::int64_t> sample) {
  if (sample.empty()) return;
  std::int64_t lowest = sample[0], highest = sample[0];
  for (const std::int64_t value : sample) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const auto base = static_cast<std::uint64_t>(lowest);
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(highest) - base));
  if (bits == 0) return;
  if (bits <= 32) return sort_by_digits<std::uint32_t>(sample, base, bits);
  sort_by_digits<std::uint64_t>(sample, base, bits);
}

BinChoice choose_bins(std::span<const std::int64_t> sorted, const BinEffort& effort) {
  if (sorted.empty()) return {};
  const CutCells cells = make_cells(sorted, effort);
  std::uint64_t bin_bits = effort.bin_bits + 1;
  BinChoice choice = cut_cells(cells, bin_bits, effort.for_warps);
  while (choice.bins.size() > effort.most_bins) {
    bin_bits *= 2;
    choice = cut_cells(cells, bin_bits, effort.for_warps);
  }
  return choice;
}

}  // namespace gdelta
