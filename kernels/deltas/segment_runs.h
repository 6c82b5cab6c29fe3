// Sums inside the segments of one lane, for decoders. Short segments of uneven lengths would cost a wrong guess of the processor each if
// every one was a loop of its own. So sums run on through all residuals, a block at a time, and each segment takes its part
// less what stood before it, whole steps at once: what a step writes behind the segment, later segments write again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gdelta {

/// The highest order that has such sums.
inline constexpr int kSummedRunOrders = 2;

/// `Lane` is an unsigned type as wide as the values.
template <class Lane, int kOrder>
class SegmentRuns {
  static_assert(kOrder <= kSummedRunOrders);

 public:
  /// Of `count` residuals in the order of the machine's words, any alignment, which are no heads.
  SegmentRuns(const unsigned char* residuals, std::size_t count) : next_(residuals), left_(count) {}

  /// The next `count` values of a segment with this head, or with zero in its place if the order is 0. At most `room` values
  /// are written, of which those behind `count` are rubbish.
  void take(Lane head, std::size_t count, unsigned char* out, std::size_t room) {
    const Lane first = kOrder > 0 ? first_[at_ - 1] : Lane{0};
    const Lane second = kOrder > 1 ? second_[at_ - 1] : Lane{0};
    Lane number = 0;  // of the values so far
    while (count > 0) {
      if (at_ == end_) fill();
      const std::size_t part = std::min(count, end_ - at_);
      const std::size_t written = (part + kStep - 1) / kStep * kStep;
      const std::size_t steps = written <= room ? written : part / kStep * kStep;
      for (std::size_t i = 0; i < steps; i += kStep) {
        Lane values[kStep];
        std::memcpy(values, highest() + at_ + i, sizeof values);
        for (std::size_t j = 0; j < kStep; ++j)
          values[j] = value_of(values[j], head, first, second, number + static_cast<Lane>(i + j));
        std::memcpy(out + i * sizeof(Lane), values, sizeof values);
      }
      for (std::size_t i = steps; i < part; ++i) {
        const Lane value =
            value_of(highest()[at_ + i], head, first, second, number + static_cast<Lane>(i));
        std::memcpy(out + i * sizeof(Lane), &value, sizeof value);
      }
      at_ += part, count -= part, out += part * sizeof(Lane), room -= part;
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

  /// Number `number` behind the head. Sums have counted from the beginning; `first`, `second`: those before the segment.
  static Lane value_of(Lane sum, Lane head, Lane first, Lane second, Lane number) {
    if constexpr (kOrder == 0) return sum;
    if constexpr (kOrder == 1) return static_cast<Lane>(sum + (head - first));
    return static_cast<Lane>(sum + (head - second) - first * (number + 1));
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
