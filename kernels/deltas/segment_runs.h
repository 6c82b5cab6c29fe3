// Sums inside the segments of one lane, for decoders. Short segments of uneven lengths would cost a wrong guess of the processor each if
// every one was a loop of its own. So sums run on through all residuals, a block at a time, and each segment takes its part
// less what stood before it, whole steps at once: what a step writes behind the segment, later segments write again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gdelta {

/// `Lane` is an unsigned type as wide as the values; orders are 0 to 2.
template <class Lane, int kOrder>
class SegmentRuns {
  static_assert(kOrder >= 0 && kOrder <= 2);

 public:
  /// Of `count` residuals in the order of the machine's words, any alignment, which are no heads.
  SegmentRuns(const unsigned char* residuals, std::size_t count) : next_(residuals), left_(count) {}

  /// The next `count` values of a segment with this head, or with zero in its place if the order is 0. At most `room` values
  /// are written, of which those behind `count` are rubbish.
  void take(Lane head, std::size_t count, unsigned char* out, std::size_t room) {
    const Segment segment(*this, head);
    // Most segments are a step or less. One that has a head alone is as the others: whether there is more cannot be guessed.
    if (count <= kStep && count <= end_ - at_ && room >= kStep) {
      put_step(segment, 0, out);
      at_ += count;
      return;
    }
    Lane number = 0;  // of the values so far
    while (count > 0) {
      if (at_ == end_) fill();
      const std::size_t part = std::min(count, end_ - at_);
      const std::size_t written = (part + kStep - 1) / kStep * kStep;
      const std::size_t steps = written <= room ? written : part / kStep * kStep;
      const std::size_t end = at_ + part;
      for (std::size_t i = 0; i < steps; i += kStep, at_ += kStep)
        put_step(segment, number + static_cast<Lane>(i), out + i * sizeof(Lane));
      for (std::size_t i = steps; i < part; ++i, ++at_) {
        const Lane value = segment.value_of(highest()[at_], number + static_cast<Lane>(i));
        std::memcpy(out + i * sizeof(Lane), &value, sizeof value);
      }
      at_ = end;
      count -= part, out += part * sizeof(Lane), room -= part;
      number += static_cast<Lane>(part);
    }
  }

  /// Values that somebody else has.
  void skip(std::size_t count) {
    while (count > 0) {
      if (at_ == end_) fill();
      const std::size_t part = std::min(count, end_ - at_);
      at_ += part, count -= part;
    }
  }

 private:
  static constexpr std::size_t kStep = 32 / sizeof(Lane);
  static constexpr std::size_t kBlock = 4096 / sizeof(Lane);

  /// What has to be known of a segment. Sums have counted from the beginning, so those before it are taken off.
  struct Segment {
    Segment(const SegmentRuns& runs, Lane head) {
      if constexpr (kOrder > 0) first = runs.first_[runs.at_ - 1];
      if constexpr (kOrder == 1) base = static_cast<Lane>(head - first);
      if constexpr (kOrder == 2) base = static_cast<Lane>(head - runs.second_[runs.at_ - 1]);
    }
    /// Number `number` behind the head.
    Lane value_of(Lane sum, Lane number) const {
      if constexpr (kOrder == 2) sum -= static_cast<Lane>(first * static_cast<Lane>(number + 1));
      return static_cast<Lane>(sum + base);
    }

    Lane first = 0, base = 0;
  };

  /// Values from number `number` on, which has the next sum.
  void put_step(const Segment& segment, Lane number, unsigned char* out) const {
    Lane values[kStep];
    std::memcpy(values, highest() + at_, sizeof values);
    for (std::size_t j = 0; j < kStep; ++j)
      values[j] = segment.value_of(values[j], static_cast<Lane>(number + j));
    std::memcpy(out, values, sizeof values);
  }

  const Lane* highest() const { return kOrder == 2 ? second_ : first_; }

  void fill() {
    const std::size_t count = std::min(left_, kBlock);
    if constexpr (kOrder > 0) first_[0] = first_[end_ - 1];
    if constexpr (kOrder > 1) second_[0] = second_[end_ - 1];
    std::memcpy(first_ + 1, next_, count * sizeof(Lane));
    for (std::size_t i = 1; kOrder > 0 && i <= count; ++i) first_[i] += first_[i - 1];
    for (std::size_t i = 1; kOrder > 1 && i <= count; ++i) second_[i] = first_[i] + second_[i - 1];
    next_ += count * sizeof(Lane);
    left_ -= count;
    at_ = 1;
    end_ = count + 1;
  }

  const unsigned char* next_;
  std::size_t left_;
  std::size_t at_ = 1, end_ = 1;
  // Sums of a block, behind the last one of the block before; a step may read beyond them.
  Lane first_[1 + kBlock + kStep] = {};
  Lane second_[kOrder > 1 ? 1 + kBlock + kStep : 1] = {};
};

}  // namespace gdelta
