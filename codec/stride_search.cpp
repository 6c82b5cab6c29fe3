#include "codec/stride_search.h"

#include <algorithm>
#include <bit>

namespace gdelta {
namespace {

constexpr std::size_t kCandidatesPerSignal = 4;

struct SearchEffort {
  std::uint64_t longest;  // distance
  std::uint64_t samples;
};

SearchEffort search_effort(std::uint64_t records, int level) {
  const std::uint64_t bound = level <= 4   ? 1024
                              : level <= 6 ? 4096
                              : level <= 8 ? 1u << 16
                                           : kMaxStride;
  const std::uint64_t longest = std::min(records / 4, bound);
  const std::uint64_t budget = level <= 4 ? 1u << 18 : level <= 6 ? 1u << 20 : 1u << 26;
  return {longest, std::clamp<std::uint64_t>(budget / (longest + 1), 64, 1024)};
}

// Bits of |difference|, 0 for none, from the exponent of a float: one instruction of a vector unit,
// and exact enough to rank (a value just below a power of two counts as one bit more, everywhere).
std::uint32_t difference_bits(std::uint32_t a, std::uint32_t b) {
  const auto exponent =
      (std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(a - b))) >> 23) &
      0xff;
  return std::max(exponent, 126u) - 126u;
}

// to[k] += bits of x - window[k]
void add_costs(std::uint32_t x, const std::uint32_t* __restrict window, std::size_t count,
               std::uint32_t* __restrict to) {
  for (std::size_t k = 0; k < count; ++k) to[k] += difference_bits(x, window[k]);
}

// Words in 32 bits such that differences keep their leading bits: narrow types at the top, so that
// they wrap as they should; 64-bit ones without the low bits that their spread leaves no room for.
void narrow_words(const std::vector<std::uint32_t>& words, int value_bits, int /*shift*/,
                  std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < words.size(); ++i) out[i] = words[i] << (32 - value_bits);
}

void narrow_words(const std::vector<std::uint64_t>& words, int /*value_bits*/, int shift,
                  std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < words.size(); ++i)
    out[i] = static_cast<std::uint32_t>((words[i] - words[0]) >> shift);
}

template <class Word>
int spread_shift(const std::vector<Word>& words) {
  Word spread = 0;
  for (const Word word : words) {
    const Word difference = word - words[0];
    spread |= (difference >> (8 * sizeof(Word) - 1)) != 0 ? ~difference : difference;
  }
  return std::max(0, static_cast<int>(std::bit_width(spread)) - 31);
}

// Local minima of the cost, lowest first; among equals the shortest.
std::vector<std::uint32_t> lowest_minima(const std::vector<std::uint32_t>& cost) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t stride = 2; stride + 1 < cost.size(); ++stride) {
    if (cost[stride] < cost[stride - 1] && cost[stride] <= cost[stride + 1])
      found.push_back(stride);
  }
  const std::size_t keep = std::min(kCandidatesPerSignal, found.size());
  std::partial_sort(found.begin(), found.begin() + keep, found.end(),
                    [&](auto a, auto b) { return cost[a] != cost[b] ? cost[a] < cost[b] : a < b; });
  found.resize(keep);
  return found;
}

template <class Word>
std::vector<std::uint32_t> find_strides_of(const ResidualSource& source, int lane, int level) {
  const auto [longest, samples] = search_effort(source.records(), level);
  if (longest < 3) return {};
  // Reversed costs: window[k] lies longest + 1 - k values before the sample.
  const std::size_t window = longest + 1;
  std::vector<std::uint32_t> value_cost(window), difference_cost(window);
  std::vector<Word> words(window + 1);
  std::vector<std::uint32_t> narrow(window + 1), differences(window + 1);
  const std::uint64_t room = source.records() - window;
  for (std::uint64_t k = 0; k < samples; ++k) {
    // Scattered a little, so that a period of the sampling does not fall on one of the data.
    const std::uint64_t spacing = room / samples;
    const std::uint64_t at =
        window + k * room / samples + (spacing > 0 ? k * k * 7919 % spacing : 0);
    if (at >= source.records()) break;
    source.values(lane, at - window, window + 1, words.data());
    narrow_words(words, value_bits(source.column().column.type), spread_shift(words), narrow);
    add_costs(narrow[window], narrow.data(), window, value_cost.data());
    for (std::size_t i = 1; i <= window; ++i) differences[i] = narrow[i] - narrow[i - 1];
    add_costs(differences[window], differences.data() + 1, window - 1, difference_cost.data() + 1);
  }
  // cost[P] for distance P = window - k.
  std::reverse(value_cost.begin(), value_cost.end());
  value_cost.insert(value_cost.begin(), 0);
  std::reverse(difference_cost.begin() + 1, difference_cost.end());
  std::vector<std::uint32_t> found = lowest_minima(value_cost);
  for (const std::uint32_t stride : lowest_minima(difference_cost)) {
    if (std::find(found.begin(), found.end(), stride) == found.end()) found.push_back(stride);
  }
  return found;
}

}  // namespace

std::vector<std::uint32_t> find_strides(const ResidualSource& source, int lane, int level) {
  return value_bytes(source.column().column.type) == 8
             ? find_strides_of<std::uint64_t>(source, lane, level)
             : find_strides_of<std::uint32_t>(source, lane, level);
}

}  // namespace gdelta
