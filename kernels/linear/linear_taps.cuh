// Sums of products of taps and numbers, tuple by tuple along a run. What a number adds to the sums of the tuples behind
// it is added as soon as it is known: sums move down by one place with each tuple, in the additions themselves, so that
// nobody looks back, and all but one of the products are on their way while the next number is found. Sums and
// coefficients stay in registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gdelta/device_access.cuh"
#include "kernels/linear/linear_tile.cuh"

namespace gdelta::cuda {

/// What sums are added up in: their lowest bits count (linear_shape.h), 8 × width + 15 of them at most.
template <int ValueBytes>
using LinearSum = std::conditional_t<ValueBytes <= 2, std::uint32_t, std::uint64_t>;

/// Taps that there are places for: of the lane itself, and behind them of each source. Unused ones are zero.
struct TapPlaces {
  int own, first, second;
};
inline constexpr int kNumTapPlaces = 9;
/// A lane has the first ones that have room for its taps. Encoders write no others (linear_choice.cpp); columns with
/// lanes of none of them are decoded where they lie.
GDELTA_HD constexpr TapPlaces tap_places(int number) {
  constexpr TapPlaces kAll[kNumTapPlaces] = {{8, 0, 0},  {16, 0, 0},  {24, 0, 0},
                                             {32, 0, 0}, {8, 8, 0},   {16, 8, 0},
                                             {24, 8, 0}, {20, 12, 0}, {16, 8, 8}};
  return kAll[number];
}

GDELTA_HD inline bool has_room(const TapPlaces& places, const LinearLane& lane) {
  const auto of_source = [&](int number) {
    return number < lane.num_sources ? lane.sources[number].taps : 0;
  };
  return lane.own <= places.own && of_source(0) <= places.first && of_source(1) <= places.second;
}
/// The number of a lane's places, kNumTapPlaces if there are none.
GDELTA_HD inline int tap_places_of(const LinearLane& lane) {
  int number = 0;
  while (number < kNumTapPlaces && !has_room(tap_places(number), lane)) ++number;
  return number;
}

/// A lane as all runs have it, in shared memory.
struct LaneShape {
  LinearLane lane;
  std::uint8_t places;
  std::uint8_t depth;         // lanes of lower depth are its sources
  const unsigned char* taps;  // in the head
  std::uint32_t bit;          // of its first coefficient among those of a run
};

/// The tuples of a thread's run in a tile.
struct TileOfRun {
  int at;  // in dynamic shared memory
  int tuples;
  int step;  // from tuple to tuple, in bytes
  bool is_first;

  __device__ unsigned char* row() const { return device::dynamic_shared() + at; }
};

/// A thread's walk along a lane of its run. What all runs have alike is not kept in registers.
template <int ValueBytes>
class LaneWalk {
 public:
  using Word = WordOf<ValueBytes>;
  using Number = NumberOf<ValueBytes>;
  using Sum = LinearSum<ValueBytes>;

  /// `coefficient(tap)` of the lane's taps, own first.
  template <class Coefficient>
  __device__ __forceinline__ LaneWalk(const LaneShape& shape, const Reading<ValueBytes>& reading,
                                      const Coefficient& coefficient) {
    const LinearLane& lane = shape.lane;
    const TapPlaces places = tap_places(shape.places);
    const int first_taps = lane.num_sources > 0 ? lane.sources[0].taps : 0;
    const int second_taps = lane.num_sources > 1 ? lane.sources[1].taps : 0;
    constant_ = lane.shift > 0 ? Sum{1} << (lane.shift - 1) : 0;
#pragma unroll
    for (int k = 0; k < kMaxLinearTaps; ++k) {
      const int of_first = k - places.own, of_second = of_first - places.first;
      int tap = -1;
      if (k < lane.own) tap = k;
      if (of_first >= 0 && of_first < first_taps) tap = lane.own + of_first;
      if (of_second >= 0 && of_second < second_taps) tap = lane.own + first_taps + of_second;
      taps_[k] = tap < 0 ? 0 : coefficient(tap);
      constant_ += static_cast<Sum>(taps_[k]) * static_cast<Sum>(reading.bias);
    }
#pragma unroll
    for (Sum& sum : sums_) sum = constant_;
  }

  /// Makes words of the residuals of lane `number`.
  __device__ __forceinline__ void walk(const LaneShape& shape, int number,
                                       const Reading<ValueBytes>& reading, const TileOfRun& tile) {
    with_places(shape.places, [&](auto places) {
      constexpr TapPlaces kPlaces = tap_places(places());
      walk_places<kPlaces.own, kPlaces.first, kPlaces.second>(shape.lane, number, reading, tile);
    });
  }

  __device__ static Word load(const unsigned char* value) {
    return load_value<Word>(value, ValueBytes, ValueBytes != 3);
  }
  __device__ static void store(unsigned char* value, Word word) {
    store_value(value, ValueBytes, ValueBytes != 3, word);
  }

 private:
  template <int kNumber = 0, class Function>
  __device__ __forceinline__ static void with_places(int places, const Function& function) {
    if (places == kNumber) return function(std::integral_constant<int, kNumber>{});
    if constexpr (kNumber + 1 < kNumTapPlaces) with_places<kNumber + 1>(places, function);
  }

  __device__ static Sum product(std::int32_t coefficient, Number number) {
    if constexpr (sizeof(Sum) > sizeof(Number)) {
      return static_cast<Sum>(std::int64_t{coefficient} * number);
    } else {
      return static_cast<Sum>(coefficient) * static_cast<Sum>(number);
    }
  }

  /// What a source's number adds to the sums of the tuples behind its own, by kTaps coefficients from kAt on: the first
  /// has counted in its own tuple.
  template <int kAt, int kTaps>
  __device__ __forceinline__ void add(Number number) {
#pragma unroll
    for (int k = 1; k < kTaps; ++k) sums_[k - 1] += product(taps_[kAt + k], number);
  }

  template <int kOwn, int kFirst, int kSecond>
  __device__ __forceinline__ void walk_places(const LinearLane& lane, int number_of_lane,
                                              const Reading<ValueBytes>& reading,
                                              const TileOfRun& tile) {
    const int shift = lane.shift, step_bytes = tile.step;
    unsigned char* value = tile.row() + number_of_lane * ValueBytes;
    Word residual = load(value);  // of the next tuple; behind the last one there is room
    const unsigned char* first = tile.row() + (kFirst > 0 ? lane.sources[0].lane * ValueBytes : 0);
    const unsigned char* second =
        tile.row() + (kSecond > 0 ? lane.sources[1].lane * ValueBytes : 0);
    Number of_first = kFirst > 0 ? reading.number(load(first)) : 0;
    Number of_second = kSecond > 0 ? reading.number(load(second)) : 0;
    const auto step = [&](const auto& predict) {
      Sum sum = sums_[0];
      if constexpr (kFirst > 0) sum += product(taps_[kOwn], of_first);
      if constexpr (kSecond > 0) sum += product(taps_[kOwn + kFirst], of_second);
      const auto shifted = static_cast<Word>(static_cast<std::make_signed_t<Sum>>(sum) >> shift);
      const Word word = residual + predict(shifted);
      residual = load(value + step_bytes);
      [[maybe_unused]] Word next_first = 0, next_second = 0;
      if constexpr (kFirst > 0) next_first = load(first += step_bytes);
      if constexpr (kSecond > 0) next_second = load(second += step_bytes);
      store(value, word);
      value += step_bytes;
      const Number number = reading.number(word);
#pragma unroll
      for (int k = 0; k < kOwn; ++k)
        sums_[k] = (k + 1 < kOwn ? sums_[k + 1] : constant_) + product(taps_[k], number);
      if constexpr (kFirst > 0) {
        add<kOwn, kFirst>(of_first);
        of_first = reading.number(next_first);
      }
      if constexpr (kSecond > 0) {
        add<kOwn + kFirst, kSecond>(of_second);
        of_second = reading.number(next_second);
      }
      return word;
    };
    int i = 0;
    if (tile.is_first) {
      const int early = min(lane.history(), tile.tuples);
      Word x1 = 0, x2 = 0;
#pragma unroll 1
      for (; i < early; ++i) {
        const Word word = step([&](Word) { return early_prediction<Word>(i, x1, x2); });
        x2 = x1;
        x1 = word;
      }
    }
#pragma unroll 2
    for (; i < tile.tuples; ++i) step([](Word prediction) { return prediction; });
  }

  Sum constant_;  // of every sum
  std::int32_t taps_[kMaxLinearTaps];
  // Of the next tuple, the one behind it, and so on, as far as they are known.
  Sum sums_[kMaxLinearTaps];
};

}  // namespace gdelta::cuda
