#include "kernels/deltas/segment_delta.h"

#include <algorithm>

#include "kernels/pages/page_limits.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

// The state of a delta of some order, zero at the start of a segment.
template <class Word>
class Delta {
 public:
  explicit Delta(int order) : order_(order) {}

  Word residual_of(Word value) {
    for (int k = 0; k < order_; ++k) {
      const Word before = state_[k];
      state_[k] = value;
      value -= before;
    }
    return value;
  }
  Word value_of(Word residual) {
    for (int k = 0; k < order_; ++k) residual = state_[k] += residual;
    return residual;
  }

 private:
  int order_;
  Word state_[kMaxDeltaOrder] = {};
};

// One lane; values of a segment are taken less its head, unless no differences are taken at all.
template <int kBytes>
class LaneSegments {
  using Value = PackedValue<kBytes>;
  using Word = typename Value::Word;

 public:
  LaneSegments(const SegmentDelta& delta, std::size_t heads, int lane)
      : lengths_(delta.lengths),
        step_(static_cast<std::size_t>(delta.tuple) * kBytes),
        at_(static_cast<std::size_t>(lane) * kBytes),
        heads_(heads),
        order_(delta.orders[lane]),
        head_order_(delta.head_order) {}

  void split(const unsigned char* values, unsigned char* residuals) const {
    Delta<Word> along_heads(head_order_);
    for_each_segment(all(), [&](std::size_t first, std::size_t length, std::size_t number) {
      const Word head = load(values, first);
      store(residuals, number, along_heads.residual_of(head));
      Delta<Word> inside(order_);
      const Word base = order_ > 0 ? head : 0;
      for (std::size_t i = 1; i < length; ++i)
        store(residuals, body_of(first, number) + i,
              inside.residual_of(load(values, first + i) - base));
    });
  }

  void join_heads(unsigned char* residuals) const {
    if (head_order_ == 0) return;
    Delta<Word> along_heads(head_order_);
    for (std::size_t head = 0; head < heads_; ++head)
      store(residuals, head, along_heads.value_of(load(residuals, head)));
  }

  void join(const SegmentStretch& stretch, const unsigned char* residuals,
            unsigned char* values) const {
    for_each_segment(stretch, [&](std::size_t first, std::size_t length, std::size_t number) {
      const Word head = load(residuals, number);
      store(values, first, head);
      if (order_ == 1) return join_first_order(residuals, values, first, length, number, head);
      Delta<Word> inside(order_);
      const Word base = order_ > 0 ? head : 0;
      for (std::size_t i = 1; i < length; ++i)
        store(values, first + i,
              inside.value_of(load(residuals, body_of(first, number) + i)) + base);
    });
  }

 private:
  // The usual order, whose state is one register.
  void join_first_order(const unsigned char* residuals, unsigned char* values, std::size_t first,
                        std::size_t length, std::size_t number, Word sum) const {
    for (std::size_t i = 1; i < length; ++i) {
      sum += load(residuals, body_of(first, number) + i);
      store(values, first + i, sum);
    }
  }

  // Calls visit(first tuple, length, number) for each segment that has a head.
  template <class Visit>
  static void for_each_segment(const SegmentStretch& stretch, const Visit& visit) {
    std::size_t first = stretch.first_tuple, number = stretch.first_head;
    for (const std::uint32_t length : stretch.lengths) {
      if (length == 0) continue;
      visit(first, length, number++);
      first += length;
    }
  }
  SegmentStretch all() const { return {.lengths = lengths_}; }
  // Where tuple 0 of a segment would stand among the residuals: so many heads are not there before it.
  std::size_t body_of(std::size_t first, std::size_t number) const {
    return heads_ + first - number - 1;
  }
  Word load(const unsigned char* from, std::size_t tuple) const {
    return Value::load(from + at_ + tuple * step_);
  }
  void store(unsigned char* to, std::size_t tuple, Word word) const {
    Value::store(to + at_ + tuple * step_, word);
  }

  std::span<const std::uint32_t> lengths_;
  std::size_t step_;
  std::size_t at_;
  std::size_t heads_;
  int order_;
  int head_order_;
};

template <class Step>
void for_each_lane(const SegmentDelta& delta, std::size_t heads, const Step& step) {
  for_value_bytes(delta.value_bytes, [&](auto bytes) {
    for (int lane = 0; lane < delta.tuple; ++lane)
      step(LaneSegments<decltype(bytes)::value>(delta, heads, lane));
  });
}

}  // namespace

std::size_t SegmentDelta::heads() const {
  return lengths.size() - static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), 0u));
}

void split_segments(const SegmentDelta& delta, const unsigned char* values,
                    unsigned char* residuals) {
  for_each_lane(delta, delta.heads(), [&](const auto& lane) { lane.split(values, residuals); });
}

std::vector<SegmentStretch> segment_stretches(const SegmentDelta& delta, std::size_t tuples,
                                              std::size_t most) {
  const std::span<const std::uint32_t> lengths = delta.lengths;
  std::vector<SegmentStretch> stretches;
  SegmentStretch open{.lengths = lengths, .all_heads = delta.heads()};
  std::size_t begin = 0, tuple = 0, head = 0;
  for (std::size_t k = 0; stretches.size() + 1 < most && k < lengths.size(); ++k) {
    // A stretch ends as soon as it has its share of all.
    if (tuple > 0 && tuple * most >= tuples * (stretches.size() + 1)) {
      open.lengths = lengths.subspan(begin, k - begin);
      stretches.push_back(open);
      open.lengths = lengths.subspan(k);
      open.first_tuple = tuple;
      open.first_head = head;
      begin = k;
    }
    tuple += lengths[k];
    head += lengths[k] > 0 ? 1 : 0;
  }
  stretches.push_back(open);
  return stretches;
}

void join_heads(const SegmentDelta& delta, unsigned char* residuals) {
  for_each_lane(delta, delta.heads(), [&](const auto& lane) { lane.join_heads(residuals); });
}

void join_stretch(const SegmentDelta& delta, const SegmentStretch& stretch,
                  const unsigned char* residuals, unsigned char* values) {
  for_each_lane(delta, stretch.all_heads,
                [&](const auto& lane) { lane.join(stretch, residuals, values); });
}

}  // namespace gdelta
