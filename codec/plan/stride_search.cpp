#include "codec/plan/stride_search.h"

#include <algorithm>
#include <bit>
#include <span>

#include "codec/plan/stride_rules.h"
#include "kernels/cpu/cpu_targets.h"
#include "kernels/deltas/stride_cost.h"

namespace gdelta {
namespace {

// So often every value is in a window that narrowing the whole lane at once pays for its memory.
constexpr std::uint64_t kOften = 4;
constexpr std::uint64_t kMostAtOnce = 1 << 20;  // values: there is little room beside the columns

constexpr std::uint64_t kToldPlaces = 8;  // telling takes as long as a place

// Words in 32 bits such that differences keep their leading bits: narrow types at the top, so that
// they wrap as they should; 64-bit ones without the low bits that their spread leaves no room for.
GDELTA_ALWAYS_INLINE void narrow_words(const std::uint32_t* words, std::size_t count,
                                       int value_bits, std::uint32_t* out) {
  const int spare = 32 - value_bits;
  for (std::size_t i = 0; i < count; ++i) out[i] = words[i] << spare;
}

// The low bits that there is no room for.
GDELTA_ALWAYS_INLINE int spare_bits(const std::uint64_t* words, std::size_t count) {
  const std::uint64_t first = words[0];
  std::uint64_t spread = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t difference = words[i] - first;
    spread |= difference ^ (0 - (difference >> 63));
  }
  return std::max(0, static_cast<int>(std::bit_width(spread)) - 31);
}

GDELTA_ALWAYS_INLINE void narrow_words(const std::uint64_t* words, std::size_t count,
                                       int /*value_bits*/, std::uint32_t* out) {
  const std::uint64_t first = words[0];
  const int shift = spare_bits(words, count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint32_t>((words[i] - first) >> shift);
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void narrow_avx2(const Word* words, std::size_t count, int value_bits,
                             std::uint32_t* out) {
  narrow_words(words, count, value_bits, out);
}
template <class Word>
GDELTA_AVX512 void narrow_avx512(const Word* words, std::size_t count, int value_bits,
                                 std::uint32_t* out) {
  narrow_words(words, count, value_bits, out);
}
#endif

template <class Word>
void narrow(std::span<const Word> words, int value_bits, std::uint32_t* out) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return narrow_avx512(words.data(), words.size(), value_bits, out);
  if (cpu_has_avx2()) return narrow_avx2(words.data(), words.size(), value_bits, out);
#endif
  narrow_words(words.data(), words.size(), value_bits, out);
}

// Whether every window of them loses the same bits, so that all can be narrowed at once.
bool narrow_alike(std::span<const std::uint32_t> /*words*/) { return true; }
bool narrow_alike(std::span<const std::uint64_t> words) {
  return spare_bits(words.data(), words.size()) == 0;
}

// Local minima of the cost below `limit`, lowest first; among equals the shortest.
std::vector<std::uint32_t> lowest_minima(const std::vector<std::uint32_t>& cost,
                                         std::uint32_t limit) {
  // Without a branch: noise makes minima everywhere.
  std::vector<std::uint32_t> found(cost.size());
  std::size_t minima = 0;
  for (std::uint32_t stride = 2; stride + 1 < cost.size(); ++stride) {
    found[minima] = stride;
    minima += std::size_t{cost[stride] < limit} & std::size_t{cost[stride] < cost[stride - 1]} &
              std::size_t{cost[stride] <= cost[stride + 1]};
  }
  found.resize(minima);
  const std::size_t keep = std::min<std::size_t>(kStridesOfSignal, found.size());
  std::partial_sort(found.begin(), found.begin() + keep, found.end(),
                    [&](auto a, auto b) { return cost[a] != cost[b] ? cost[a] < cost[b] : a < b; });
  found.resize(keep);
  return found;
}

// Stretches of a lane, narrowed: loaded one by one, or all of the lane at once if stretches would load more of it;
// narrowed likewise.
template <class Word>
class LaneWindows {
 public:
  LaneWindows(const ResidualSource& source, int lane, std::uint64_t length, std::uint64_t stretches)
      : source_(source),
        lane_(lane),
        length_(length),
        whole_(source.records() <= length * stretches),
        words_(whole_ ? source.records() : length) {
    if (whole_) source.values(lane, 0, source.records(), words_.data());
    at_once_ = source.records() <= std::min(length * stretches / kOften, kMostAtOnce) &&
               narrow_alike(words());
    narrowed_.resize(at_once_ ? words_.size() : length);
    if (at_once_) narrow_to_front(words());
  }

  const std::uint32_t* at(std::uint64_t first) {
    if (at_once_) return narrowed_.data() + first;
    if (!whole_) source_.values(lane_, first, length_, words_.data());
    narrow_to_front(words().subspan(whole_ ? first : 0, length_));
    return narrowed_.data();
  }

 private:
  std::span<const Word> words() const { return words_; }

  void narrow_to_front(std::span<const Word> words) {
    narrow(words, value_bits(source_.column().column.type), narrowed_.data());
  }

  const ResidualSource& source_;
  int lane_;
  std::uint64_t length_;
  bool whole_;
  bool at_once_ = false;
  std::vector<Word> words_;
  std::vector<std::uint32_t> narrowed_;
};

template <class Word>
std::vector<std::uint32_t> find_strides_of(const ResidualSource& source, int lane,
                                           const StridePolicy& policy, Work* work) {
  const std::uint64_t longest = std::min(longest_stride(source.records()), policy.longest);
  if (longest < 3) return {};
  const auto where = StrideWindows::of(source.records(), longest, policy.comparisons);
  // Reversed costs: window[k] lies longest + 1 - k values before the sample.
  std::vector<std::uint32_t> value_cost(where.window), difference_cost(where.window);
  LaneWindows<Word> windows(source, lane, where.length(), where.count);
  for (std::uint64_t number = 0; number < where.count; ++number) {
    add_stride_costs(windows.at(where.place(number)), where.window, where.spacing,
                     value_cost.data(), difference_cost.data());
    if (work != nullptr && number % kToldPlaces == kToldPlaces - 1)
      work->add(static_cast<double>(kToldPlaces) / static_cast<double>(where.count));
  }
  // cost[P] for distance P = window - k.
  std::reverse(value_cost.begin(), value_cost.end());
  value_cost.insert(value_cost.begin(), 0);
  std::reverse(difference_cost.begin() + 1, difference_cost.end());
  const std::uint32_t limit = most_stride_cost(value_cost[1]);
  std::vector<std::uint32_t> found = lowest_minima(value_cost, limit);
  for (const std::uint32_t stride : lowest_minima(difference_cost, limit)) {
    if (std::find(found.begin(), found.end(), stride) == found.end()) found.push_back(stride);
  }
  return found;
}

}  // namespace

TriedStrides strides_tried_first(const EncodeSettings& settings) {
  const std::uint64_t asked = settings.stride;
  const bool is_open = asked == 0 || asked == kFindStride;
  if (!is_open || level_policy(settings.level).strides.most > 0) return {.stride = asked};
  const auto legal = [](std::uint64_t records) { return is_stride(records) ? records : 0; };
  const std::uint64_t row = legal(settings.rows.row_records);
  const std::uint64_t plane = legal(settings.rows.plane_records);
  if (row == 0) return {.stride = asked};
  return {.stride = row, .other = plane};
}

std::vector<std::uint32_t> find_strides(const ResidualSource& source, int lane,
                                        const StridePolicy& policy, Work* work) {
  return value_bytes(source.column().column.type) == 8
             ? find_strides_of<std::uint64_t>(source, lane, policy, work)
             : find_strides_of<std::uint32_t>(source, lane, policy, work);
}

}  // namespace gdelta
