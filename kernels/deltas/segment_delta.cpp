#include "kernels/deltas/segment_delta.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/deltas/segment_planes.h"
#include "kernels/deltas/segment_runs.h"
#include "kernels/pages/page_limits.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

// The state of a delta of some order, zero at the start of a segment.
template <class Word>
class Delta {
 public:
  explicit Delta(int order) : order_(order) {}

  Word value_of(Word residual) {
    for (int k = 0; k < order_; ++k) residual = state_[k] += residual;
    return residual;
  }
  /// As the decoder has it: y1, y2, ...
  template <class Load>
  void begin_with(const Load& load) {
    for (int k = 0; k < order_; ++k) state_[k] = load(k);
  }

 private:
  int order_;
  Word state_[kMaxDeltaOrder] = {};
};

// What a decoder's state is behind values that are `last`, the one before it and so on, of which there are `order`.
template <class Word>
void state_behind(Word (&last)[kMaxDeltaOrder], int order, Word* state) {
  for (int k = order; k > 0; --k) {
    state[k - 1] = last[0];
    for (int i = 0; i + 1 < k; ++i) last[i] -= last[i + 1];
  }
}

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
        head_order_(delta.head_order),
        page_tuples_(delta.states.page_tuples),
        states_(delta.states.words),
        state_at_(static_cast<std::size_t>(lane * delta.states.of_lane) * kBytes),
        page_step_(static_cast<std::size_t>(delta.tuple * delta.states.of_lane) * kBytes) {}

  void join_heads(unsigned char* residuals) const {
    if (head_order_ == 0) return;
    Delta<Word> along_heads(head_order_);
    for (std::size_t head = 0; head < heads_;) {
      const std::size_t end = page_tuples_ > 0 ? std::min(head + page_tuples_, heads_) : heads_;
      if (page_tuples_ > 0) begin_with_page(along_heads, head);
      if (head_order_ == 1) {
        Word sum = along_heads.value_of(0);
        for (; head < end; ++head) store(residuals, head, sum += load(residuals, head));
      } else {
        for (; head < end; ++head)
          store(residuals, head, along_heads.value_of(load(residuals, head)));
      }
    }
  }

  // Takes states from values.
  void find_states(const unsigned char* values, unsigned char* states) const {
    Word heads[kMaxDeltaOrder] = {};  // the last one first
    const auto put = [&](std::size_t page, Word(&last)[kMaxDeltaOrder], int order) {
      Word state[kMaxDeltaOrder];
      state_behind(last, order, state);
      for (int k = 0; k < order; ++k)
        Value::store(states + page * page_step_ + state_at_ + k * kBytes, state[k]);
    };
    std::size_t next_page = (heads_ + page_tuples_ - 1) / page_tuples_;
    for_each_segment(all(), [&](std::size_t first, std::size_t length, std::size_t number) {
      if (begins_page(number)) {
        Word last[kMaxDeltaOrder];
        std::copy_n(heads, kMaxDeltaOrder, last);
        put(number / page_tuples_, last, head_order_);
      }
      const Word head = load(values, first);
      std::copy_backward(heads, heads + kMaxDeltaOrder - 1, heads + kMaxDeltaOrder);
      heads[0] = head;
      const std::size_t others = body_of(first, number);
      for (; next_page * page_tuples_ < others + length; ++next_page) {
        const std::size_t i = next_page * page_tuples_ - others;  // of the segment
        if (i < 2) continue;  // the page begins with what is behind a head
        Word last[kMaxDeltaOrder] = {};
        for (std::size_t back = 1; back <= kMaxDeltaOrder && back < i; ++back)
          last[back - 1] = load(values, first + i - back) - head;
        put(next_page, last, order_);
      }
    });
  }

  void join(const SegmentStretch& stretch, const unsigned char* residuals,
            unsigned char* values) const {
    if constexpr (kBytes != 3 && std::endian::native == std::endian::little) {
      if (step_ == kBytes && order_ == 0) return join_runs<0>(stretch, residuals, values);
      if (step_ == kBytes && order_ == 1) return join_runs<1>(stretch, residuals, values);
      if (step_ == kBytes && order_ == 2) return join_runs<2>(stretch, residuals, values);
    }
    for_each_joined(
        stretch, residuals, values,
        [&](std::size_t first, std::size_t length, std::size_t others, Word head) {
          if (order_ == 1) return join_first_order(residuals, values, first, length, others, head);
          Delta<Word> inside(order_);
          join_some(residuals + others * step_, values + first * step_, 1, length, base_of(head),
                    inside);
        },
        [](std::size_t) {});
  }

 private:
  // The page that comes next, as a residual's number.
  struct PageBorder {
    PageBorder(const LaneSegments& lane, std::size_t from) : step(lane.page_tuples_) {
      if (step > 0) at = (from + step - 1) / step * step;
    }
    // A page that a segment begins with is as one inside a page.
    void begin_segment(std::size_t begin, std::size_t end) {
      if (at == begin && begin < end) at += step;
    }

    std::size_t step;
    std::size_t at = ~std::size_t{0};
  };

  bool begins_page(std::size_t residual) const {
    return page_tuples_ > 0 && residual % page_tuples_ == 0;
  }
  void begin_with_page(Delta<Word>& delta, std::size_t residual) const {
    const unsigned char* const words = states_ + residual / page_tuples_ * page_step_ + state_at_;
    delta.begin_with([&](int k) { return Value::load(words + k * kBytes); });
  }
  Word base_of(Word head) const { return order_ > 0 ? head : 0; }

  // Tuples [begin, end) of a segment; `residuals` and `values` are where its tuple 0 is or would be.
  void join_some(const unsigned char* residuals, unsigned char* values, std::size_t begin,
                 std::size_t end, Word base, Delta<Word>& inside) const {
    for (std::size_t i = begin; i < end; ++i)
      store(values, i, inside.value_of(load(residuals, i)) + base);
  }
  // The usual order, whose state is one register.
  void join_first_order(const unsigned char* residuals, unsigned char* values, std::size_t first,
                        std::size_t length, std::size_t others, Word sum) const {
    for (std::size_t i = 1; i < length; ++i) {
      sum += load(residuals, others + i);
      store(values, first + i, sum);
    }
  }
  // A lane alone of an order that is summed through segments.
  template <int kOrder>
  void join_runs(const SegmentStretch& stretch, const unsigned char* residuals,
                 unsigned char* values) const {
    const std::size_t tuples =
        std::accumulate(stretch.lengths.begin(), stretch.lengths.end(), std::size_t{0});
    const std::size_t end = stretch.first_tuple + tuples;
    const std::size_t begin = body_of(stretch.first_tuple, stretch.first_head) + 1;
    const std::size_t heads = SegmentDelta{.lengths = stretch.lengths}.heads();
    SegmentRuns<typename Value::Stored, kOrder> runs(residuals + begin * kBytes, tuples - heads);
    for_each_joined(
        stretch, residuals, values,
        [&](std::size_t first, std::size_t length, std::size_t, Word head) {
          runs.take(static_cast<typename Value::Stored>(head), length - 1,
                    values + (first + 1) * kBytes, end - first - 1);
        },
        [&](std::size_t count) { runs.skip(count); });
  }
  // Stores heads, and all of a segment in which pages begin, of which skip(tuples behind its head) is told. Others behind
  // their heads are for join(first tuple, length, body, head).
  template <class Join, class Skip>
  void for_each_joined(const SegmentStretch& stretch, const unsigned char* residuals,
                       unsigned char* values, const Join& join, const Skip& skip) const {
    PageBorder border(*this, body_of(stretch.first_tuple, stretch.first_head) + 1);
    for_each_segment(stretch, [&](std::size_t first, std::size_t length, std::size_t number) {
      const Word head = load(residuals, number);
      store(values, first, head);
      const std::size_t others = body_of(first, number);
      border.begin_segment(others + 1, others + length);
      if (border.at < others + length) {
        join_through_pages(residuals, values, first, length, others, head, border);
        skip(length - 1);
      } else {
        join(first, length, others, head);
      }
    });
  }
  // A segment that pages begin in.
  void join_through_pages(const unsigned char* residuals, unsigned char* values, std::size_t first,
                          std::size_t length, std::size_t others, Word head,
                          PageBorder& border) const {
    Delta<Word> inside(order_);
    for (std::size_t begin = 1; begin < length;) {
      const std::size_t end = std::min(border.at - others, length);
      join_some(residuals + others * step_, values + first * step_, begin, end, base_of(head),
                inside);
      if (end < length) {
        begin_with_page(inside, others + end);
        border.at += border.step;
      }
      begin = end;
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
  std::size_t page_tuples_;
  const unsigned char* states_;
  std::size_t state_at_;  // of this lane among those of a page
  std::size_t page_step_;
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
  if (delta.heads() == 0) return;  // there are no values
  for_value_bytes(delta.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    for (int lane = 0; lane < delta.tuple; ++lane) {
      SegmentPlanes<kBytes> planes(delta, values, lane);
      for (int k = 0; k < delta.head_order; ++k) planes.raise_heads();
      for (int k = 0; k < delta.orders[lane]; ++k) planes.raise_body();
      unsigned char* to = residuals + lane * kBytes;
      for (const auto plane : {planes.heads(), planes.body()})
        for (const auto residual : plane) {
          PackedValue<kBytes>::store(to, residual);
          to += delta.tuple * kBytes;
        }
    }
  });
}

std::vector<unsigned char> segment_states(const SegmentDelta& delta, const unsigned char* values,
                                          std::size_t page_tuples, int of_lane) {
  std::size_t tuples = 0;
  for (const std::uint32_t length : delta.lengths) tuples += length;
  const std::size_t pages = (tuples + page_tuples - 1) / page_tuples;
  std::vector<unsigned char> states(pages * static_cast<std::size_t>(delta.tuple * of_lane) *
                                    static_cast<std::size_t>(delta.value_bytes));
  SegmentDelta of_pages = delta;
  of_pages.states = {.page_tuples = page_tuples, .of_lane = of_lane, .words = states.data()};
  for_each_lane(of_pages, delta.heads(),
                [&](const auto& lane) { lane.find_states(values, states.data()); });
  return states;
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
