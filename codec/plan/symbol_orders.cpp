#include "codec/plan/symbol_orders.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "codec/plan/sampled_groups.h"
#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"
#include "kernels/ans/residual_classes.h"
#include "kernels/cpu/cpu_targets.h"

namespace gdelta {
namespace {

// Fewer are not worth another thread.
constexpr std::uint64_t kFewestGroups = 128;

// How many residuals of each of so many bins there are at each order.
template <int kBins>
struct OrderCounts {
  static constexpr int kCopies = 2;  // neighbours are counted apart: they are often in the same bin

  explicit OrderCounts(int last) : counts(static_cast<std::size_t>(last + 1) * kCopies * kBins) {}
  std::vector<std::uint32_t> counts;

  std::uint32_t* of(int order) { return counts.data() + order * kCopies * kBins; }
  void add(const OrderCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  }
  /// Of all copies.
  void add_up(int order, std::uint32_t* sums) {
    for (int number = 0; number < kBins; ++number)
      sums[number] = of(order)[number] + of(order)[kBins + number];
  }
};

// Classes, or, of one-byte residuals, each by itself.
constexpr int kByteValues = 256;
using ClassCounts = OrderCounts<kResidualClasses>;
using ByteCounts = OrderCounts<kByteValues>;

// words: kMaxOrder values before the group, then `count` of it; destroyed.
template <class Word>
GDELTA_ALWAYS_INLINE void count_classes(Word* words, std::uint64_t count, int last, int value_bits,
                                        ClassCounts& counts) {
  using Signed = std::make_signed_t<Word>;
  const int spare = static_cast<int>(8 * sizeof(Word)) - value_bits;
  Word residuals[kGroupValues];
  std::uint16_t classes[kGroupValues];
  for (int order = 0; order <= last; ++order) {
    const Word* const group = words + kMaxOrder - order;
    for (std::uint64_t i = 0; i < count; ++i)
      residuals[i] = static_cast<Word>(static_cast<Signed>(group[i] << spare) >> spare);
    find_fine_classes(residuals, count, classes);
    std::uint32_t* const even = counts.of(order);
    std::uint32_t* const odd = even + kResidualClasses;
    for (std::uint64_t i = 0; i + 1 < count; i += 2) {
      ++even[kCoarseClass[classes[i]]];
      ++odd[kCoarseClass[classes[i + 1]]];
    }
    if (count % 2 == 1) ++even[kCoarseClass[classes[count - 1]]];
    for (std::uint64_t i = 0; i + 1 < kMaxOrder - order + count; ++i)
      words[i] = words[i + 1] - words[i];
  }
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX2 void count_classes_avx2(Word* words, std::uint64_t count, int last, int value_bits,
                                    ClassCounts& counts) {
  count_classes(words, count, last, value_bits, counts);
}
#endif

template <class Word>
void count_group(Word* words, std::uint64_t count, int last, int value_bits, ClassCounts& counts) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return count_classes_avx2(words, count, last, value_bits, counts);
#endif
  count_classes(words, count, last, value_bits, counts);
}

// As above; `words` have the byte lowest.
void count_bytes(const std::uint32_t* words, std::uint64_t count, int last, ByteCounts& counts) {
  std::uint8_t bytes[kHistoryAndGroup];
  const std::uint64_t all = kMaxOrder + count;
  for (std::uint64_t i = 0; i < all; ++i) bytes[i] = static_cast<std::uint8_t>(words[i]);
  for (int order = 0; order <= last; ++order) {
    const std::uint8_t* const group = bytes + kMaxOrder - order;
    std::uint32_t* const even = counts.of(order);
    std::uint32_t* const odd = even + kByteValues;
    for (std::uint64_t i = 0; i + 1 < count; i += 2) {
      ++even[group[i]];
      ++odd[group[i + 1]];
    }
    if (count % 2 == 1) ++even[group[count - 1]];
    for (std::uint64_t i = 0; i + 1 < all - static_cast<std::uint64_t>(order); ++i)
      bytes[i] = static_cast<std::uint8_t>(bytes[i + 1] - bytes[i]);
  }
}

// The bits of a lane, if the sample is like the rest of it.
std::uint64_t bits_of(const std::uint32_t* counts, std::uint64_t residuals) {
  std::uint64_t sampled = 0, bits = 0, bins = 0;
  for (int number = 0; number < kResidualClasses; ++number) sampled += counts[number];
  const std::uint64_t all = fixed_log2(sampled);
  constexpr int kAtOnce = 8;  // most classes have none
  for (int number = 0; number < kResidualClasses; ++number) {
    if (number % kAtOnce == 0)
      while (number < kResidualClasses - kAtOnce &&
             std::accumulate(counts + number, counts + number + kAtOnce, 0u) == 0)
        number += kAtOnce;
    if (counts[number] == 0) continue;
    const std::uint64_t offset_bits =
        static_cast<std::uint64_t>(ResidualClasses::offset_bits(number)) << kFixedLog2Bits;
    bits += counts[number] * (all - fixed_log2(counts[number]) + offset_bits);
    ++bins;
  }
  return (bits >> kFixedLog2Bits) * residuals / sampled + bins * kTableClassBits;
}

// If each byte is a symbol, and if classes are, whichever is less: text has few bytes that are often far from 0.
std::uint64_t bits_of_bytes(const std::uint32_t* counts, std::uint64_t residuals) {
  std::uint32_t classes[kResidualClasses] = {};
  std::uint64_t sampled = 0, bins = 0;
  for (int byte = 0; byte < kByteValues; ++byte) {
    const std::uint32_t count = counts[byte];
    const int residual = byte < kByteValues / 2 ? byte : byte - kByteValues;
    classes[ResidualClasses::of(static_cast<std::uint32_t>(residual))] += count;
    sampled += count;
    bins += count > 0 ? 1 : 0;
  }
  std::uint64_t bits = sampled * fixed_log2(sampled);
  for (int byte = 0; byte < kByteValues; ++byte)
    if (counts[byte] > 0) bits -= counts[byte] * fixed_log2(counts[byte]);
  return std::min((bits >> kFixedLog2Bits) * residuals / sampled + bins * kTableClassBits,
                  bits_of(classes, residuals));
}

// Calls bits(order) for those that are looked at.
template <class BitsOfOrder>
void add_best_order(int lane, std::optional<int> asked, int last, LaneOrders& chosen,
                    const BitsOfOrder& bits_at) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int order = asked.value_or(0); order <= last; ++order) {
    const std::uint64_t bits = bits_at(order);
    if (bits >= least) continue;
    least = bits;
    chosen.orders[lane] = static_cast<std::uint8_t>(order);
  }
  chosen.bits += least;
}

// What add(words, count, counts) counts in the sampled groups.
template <class Word, class Counts, class Add>
Counts count_sample(const ResidualSource& source, int lane, int last, std::uint64_t column_groups,
                    Workers& workers, Work* work, const Add& add) {
  const GroupSample sample =
      sample_groups(source.records(), source.column().column.tuple, column_groups);
  Counts counts(last);
  std::mutex mutex;
  workers.for_ranges(
      sample.count, kFewestGroups, work, [&](std::uint64_t begin, std::uint64_t end) {
        Counts own(last);
        for_sampled_groups<Word>(source, lane, sample, begin, end,
                                 [&](Word* words, std::uint64_t count) { add(words, count, own); });
        const std::lock_guard lock(mutex);
        counts.add(own);
      });
  return counts;
}

template <class Word>
void add_lane(const ResidualSource& source, int lane, std::optional<int> asked, OrderEffort effort,
              Workers& workers, Work* work, LaneOrders& chosen) {
  const int last = asked.value_or(effort.max_order);
  const int bits_of_value = value_bits(source.column().column.type);
  auto counts =
      count_sample<Word, ClassCounts>(source, lane, last, effort.column_groups, workers, work,
                                      [&](Word* words, std::uint64_t count, ClassCounts& own) {
                                        count_group(words, count, last, bits_of_value, own);
                                      });
  add_best_order(lane, asked, last, chosen, [&](int order) {
    std::uint32_t of_order[kResidualClasses];
    counts.add_up(order, of_order);
    return bits_of(of_order, source.records());
  });
}

void add_lane_of_bytes(const ResidualSource& source, int lane, std::optional<int> asked,
                       OrderEffort effort, Workers& workers, Work* work, LaneOrders& chosen) {
  const int last = asked.value_or(effort.max_order);
  auto counts = count_sample<std::uint32_t, ByteCounts>(
      source, lane, last, effort.column_groups, workers, work,
      [&](const std::uint32_t* words, std::uint64_t count, ByteCounts& own) {
        count_bytes(words, count, last, own);
      });
  add_best_order(lane, asked, last, chosen, [&](int order) {
    std::uint32_t of_order[kByteValues];
    counts.add_up(order, of_order);
    return bits_of_bytes(of_order, source.records());
  });
}

}  // namespace

LaneOrders choose_symbol_orders(const ResidualSource& source, std::optional<int> asked,
                                const std::uint8_t* highest, std::uint64_t column_groups,
                                ByteSymbols byte_symbols, Workers& workers, Work* work) {
  LaneOrders chosen;
  const Column& column = source.column().column;
  for (int lane = 0; lane < column.tuple; ++lane) {
    WorkPart of_lane(work, 1.0 / column.tuple);
    const OrderEffort effort{.max_order = highest[lane], .column_groups = column_groups};
    if (value_bytes(column.type) == 1 && byte_symbols == ByteSymbols::one_by_one) {
      add_lane_of_bytes(source, lane, asked, effort, workers, &of_lane, chosen);
    } else if (value_bytes(column.type) == 8) {
      add_lane<std::uint64_t>(source, lane, asked, effort, workers, &of_lane, chosen);
    } else {
      add_lane<std::uint32_t>(source, lane, asked, effort, workers, &of_lane, chosen);
    }
  }
  return chosen;
}

}  // namespace gdelta
