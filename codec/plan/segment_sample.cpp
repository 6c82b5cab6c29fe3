#include "codec/plan/segment_sample.h"

#include <algorithm>
#include <vector>

#include "codec/coders/linear_front.h"
#include "codec/coders/residual_source.h"
#include "codec/coders/workers.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/segment_choice.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kStretches = 16, kStretchTuples = 4 * kGroupValues;
constexpr std::uint64_t kSampleTuples = kStretches * kStretchTuples;
constexpr std::uint64_t kFewestSamples = 4;  // in a column

// Stretches of the column one behind the other, in segments: those that a stretch cuts count with what it has of them.
class SegmentSample {
 public:
  SegmentSample(const ColumnBytes& column, ValueMap map, std::span<const std::uint32_t> lengths)
      : column_(column), map_(map), lengths_(lengths) {}

  void add(std::uint64_t first) {
    while (end_of_segment_ <= first) end_of_segment_ += lengths_[segment_++];
    const std::uint64_t end = first + kStretchTuples;
    append_length(std::min(end_of_segment_, end) - first);
    while (end_of_segment_ < end) {
      const std::uint64_t begin = end_of_segment_;
      end_of_segment_ += lengths_[segment_++];
      append_length(std::min(end_of_segment_, end) - begin);
    }
    ColumnBytes stretch = column_;
    stretch.first = column_.at(first, 0);
    stretch.records = kStretchTuples;
    const std::vector<unsigned char> words = mapped_words(stretch, map_, Workers::alone());
    words_.insert(words_.end(), words.begin(), words.end());
  }

  // Of a column with so many heads.
  std::uint64_t bits(int highest, std::uint64_t heads_of_column) const {
    const SegmentDelta shape{.lengths = of_sample_,
                             .tuple = column_.column.tuple,
                             .value_bytes = value_bytes(column_.column.type)};
    const ChosenSegmentOrders chosen =
        choose_segment_orders(shape, words_, std::nullopt, highest, OrderCost::groups);
    const std::uint64_t heads = shape.heads();
    // The last group of heads is not full in the sample, and hardly counts in the column.
    const std::uint64_t slots = (heads + kGroupValues - 1) / kGroupValues * kGroupValues;
    const std::uint64_t others = std::max<std::uint64_t>(kSampleTuples - heads, 1);
    return chosen.head_bits * heads_of_column / slots +
           (chosen.bits - chosen.head_bits) * (column_.records - heads_of_column) / others;
  }

 private:
  void append_length(std::uint64_t length) {
    of_sample_.push_back(static_cast<std::uint32_t>(length));
  }

  const ColumnBytes& column_;
  ValueMap map_;
  std::span<const std::uint32_t> lengths_;
  std::size_t segment_ = 0;           // the first that has not been looked at
  std::uint64_t end_of_segment_ = 0;  // of the one before it
  std::vector<std::uint32_t> of_sample_;
  std::vector<unsigned char> words_;
};

}  // namespace

std::optional<SampledSegmentBits> sample_segment_bits(const ColumnBytes& column,
                                                      const format::Front& front, ValueMap map,
                                                      std::span<const std::uint32_t> lengths,
                                                      int highest) {
  if (column.records < kFewestSamples * kSampleTuples) return std::nullopt;
  SegmentSample sample(column, map, lengths);
  const ResidualSource source(column, front);
  std::uint64_t without = 0;
  for (std::uint64_t k = 0; k < kStretches; ++k) {
    const std::uint64_t first = column.records * k / kStretches / kGroupValues * kGroupValues;
    sample.add(first);
    without += packed_bits(source, front.orders, first, kStretchTuples, Workers::alone());
  }
  return SampledSegmentBits{
      .inside = sample.bits(highest, SegmentDelta{.lengths = lengths}.heads()),
      .without = without * column.records / kSampleTuples};
}

}  // namespace gdelta
