// One lane of values in segments, for encoders: its heads and its other tuples, and differences of higher and higher order along
// them. Short segments are no loops of their own: all values are subtracted side by side, and what follows a head is put right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "kernels/deltas/segment_delta.h"
#include "kernels/words/packed_value.h"

namespace gdelta {

/// `kBytes` of a value. Spec: predictors/segments.md.
template <int kBytes>
class SegmentPlanes {
 public:
  /// Holds a value.
  using Lane = std::conditional_t<kBytes == 3, std::uint32_t, typename PackedValue<kBytes>::Stored>;

  /// Of order 0. `values` and lengths as split_segments has them; the lengths are looked at as long as this lives.
  SegmentPlanes(const SegmentDelta& delta, const unsigned char* values, int lane)
      : lengths_(delta.lengths), num_heads_(delta.heads()) {
    for (const std::uint32_t length : lengths_) tuples_ += length;
    values_ = room(tuples_);
    heads_ = room(num_heads_);
    next_heads_ = room(num_heads_);
    body_ = room(tuples_);
    next_ = room(tuples_);
    const std::size_t step = static_cast<std::size_t>(delta.tuple) * kBytes;
    const std::size_t first = static_cast<std::size_t>(lane) * kBytes;
    for (std::size_t i = 0; i < tuples_; ++i)
      values_[i] = static_cast<Lane>(PackedValue<kBytes>::load(values + first + i * step));
    take_heads();
    take_body(values_.get());
  }

  std::span<const Lane> heads() const { return {heads_.get(), num_heads_}; }
  /// All other tuples.
  std::span<const Lane> body() const { return {body_.get(), others()}; }

  /// The order along the heads becomes one higher.
  void raise_heads() {
    subtract(heads_.get(), num_heads_, next_heads_.get());
    heads_.swap(next_heads_);
  }

  /// The order inside segments becomes one higher.
  void raise_body() {
    if (order_++ == 0) {
      subtract(values_.get(), tuples_, next_.get());
      take_body(next_.get());
      return;
    }
    // The first one behind a head stays what it is: the states before it are zero.
    subtract(body_.get(), others(), next_.get());
    std::size_t first = 0;
    for (const std::uint32_t length : lengths_) {
      next_[first] = body_[first];
      first += length - (length > 0 ? 1 : 0);
    }
    body_.swap(next_);
  }

 private:
  // Of lanes, copied at once; what is behind a segment is overwritten.
  static constexpr std::size_t kStep = 32 / sizeof(Lane);

  // And for a step behind them, of which nobody asks what it is.
  static std::unique_ptr<Lane[]> room(std::size_t lanes) {
    return std::make_unique_for_overwrite<Lane[]>(lanes + kStep);
  }

  std::size_t others() const { return tuples_ - num_heads_; }

  static void subtract(const Lane* from, std::size_t count, Lane* to) {
    if (count > 0) to[0] = from[0];
    for (std::size_t i = 1; i < count; ++i) to[i] = static_cast<Lane>(from[i] - from[i - 1]);
  }

  void take_heads() {
    std::size_t first = 0, head = 0;
    for (const std::uint32_t length : lengths_) {
      heads_[head] = values_[first];
      head += length > 0 ? 1 : 0;
      first += length;
    }
  }

  void take_body(const Lane* from) {
    Lane* to = body_.get();
    for (const std::uint32_t length : lengths_) {
      if (length == 0) continue;
      const std::size_t count = length - 1;
      ++from;
      std::memcpy(to, from, kStep * sizeof(Lane));
      if (count > kStep) std::copy_n(from + kStep, count - kStep, to + kStep);
      from += count, to += count;
    }
  }

  std::span<const std::uint32_t> lengths_;
  std::size_t num_heads_, tuples_ = 0;
  int order_ = 0;  // inside segments
  std::unique_ptr<Lane[]> values_, heads_, next_heads_, body_, next_;
};

}  // namespace gdelta
