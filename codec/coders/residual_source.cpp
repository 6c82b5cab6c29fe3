#include "codec/coders/residual_source.h"

#include <algorithm>

#include "kernels/deltas/lane_delta.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kPiece = 1024;

template <class Word>
void add_scaled(Word* to, const Word* from, std::uint64_t count, Word coefficient) {
  if (coefficient == static_cast<Word>(-1)) {
    for (std::uint64_t i = 0; i < count; ++i) to[i] -= from[i];
  } else {
    for (std::uint64_t i = 0; i < count; ++i) to[i] += coefficient * from[i];
  }
}

}  // namespace

ResidualSource::ResidualSource(const ColumnBytes& column, ValueMap map,
                               std::span<const format::StrideLink> strides)
    : column_(column), map_(map), terms_{{0, 1}} {
  for (const format::StrideLink& link : strides) {
    for (int pass = 0; pass < link.order; ++pass) {
      // Times 1 - z^-stride; equal distances are merged, so that order k has k + 1 terms.
      std::vector<Term> product = terms_;
      for (const Term& term : terms_) {
        const std::uint64_t distance = term.distance + link.stride;
        const auto same = std::find_if(product.begin(), product.end(),
                                       [&](const Term& t) { return t.distance == distance; });
        if (same != product.end()) {
          same->coefficient -= term.coefficient;
        } else {
          product.push_back({distance, 0 - term.coefficient});
        }
      }
      terms_ = std::move(product);
    }
  }
}

template <class Word>
void ResidualSource::values(int lane, std::uint64_t first, std::uint64_t count, Word* words) const {
  const LaneFormat format = column_.format(map_);
  load_lane(column_.at(first, lane), column_.record_bytes, count, format, words);
  for (std::size_t t = 1; t < terms_.size(); ++t) {
    const auto [distance, coefficient] = terms_[t];
    // Before the chunk there is nothing to add.
    std::uint64_t i = distance > first ? std::min(distance - first, count) : 0;
    Word piece[kPiece];
    while (i < count) {
      const std::uint64_t length = std::min(kPiece, count - i);
      load_lane(column_.at(first + i - distance, lane), column_.record_bytes, length, format,
                piece);
      add_scaled(words + i, piece, length, static_cast<Word>(coefficient));
      i += length;
    }
  }
}

template <class Word>
void ResidualSource::values_with_history(int lane, std::uint64_t first, std::uint64_t count,
                                         int before, History history, Word* words) const {
  const std::uint64_t there = std::min<std::uint64_t>(first, before);
  const std::uint64_t missing = before - there;
  values(lane, first - there, there + count, words + missing);
  if (missing == 0) return;
  Word fill = 0;
  if (history == History::first_value) values(lane, 0, 1, &fill);
  std::fill(words, words + missing, fill);
}

template <class Word>
void ResidualSource::residuals(int lane, std::uint64_t first, std::uint64_t count, int order,
                               History history, Word* words, Word* states) const {
  values_with_history(lane, first, count, order, history, words);
  difference_lane(words, count, order, value_bits(column_.column.type), states);
}

template <class Word>
void ResidualSource::signed_residuals(int lane, std::uint64_t first, std::uint64_t count, int order,
                                      History history, Word* words, Word* states,
                                      Word* residuals) const {
  values_with_history(lane, first, count, order, history, words);
  difference_residuals(words, count, order, value_bits(column_.column.type), states, residuals);
}

#define GDELTA_INSTANTIATE(Word)                                                                  \
  template void ResidualSource::values(int, std::uint64_t, std::uint64_t, Word*) const;           \
  template void ResidualSource::values_with_history(int, std::uint64_t, std::uint64_t, int,       \
                                                    History, Word*) const;                        \
  template void ResidualSource::residuals(int, std::uint64_t, std::uint64_t, int, History, Word*, \
                                          Word*) const;                                           \
  template void ResidualSource::signed_residuals(int, std::uint64_t, std::uint64_t, int, History, \
                                                 Word*, Word*, Word*) const;
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta
