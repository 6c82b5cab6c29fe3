#include <algorithm>
#include <type_traits>

#include "kernels/cpu/cpu_targets.h"
#include "kernels/linear/linear_model.h"
#include "kernels/words/packed_value.h"

#if GDELTA_HAS_AVX2_CODE
#include <immintrin.h>
#endif

namespace gdelta {
namespace {

constexpr std::uint64_t kTile = 64;  // tuples between loads and stores
constexpr int kRows = kMaxLinearTaps + static_cast<int>(kTile);
constexpr int kSide = kLinearSide;

// Between stored words and the signed numbers that are multiplied.
template <int kBytes>
struct SignedWord {
  using Word = typename PackedValue<kBytes>::Word;
  using Number = std::make_signed_t<Word>;
  static constexpr int kSpare = static_cast<int>(8 * sizeof(Word)) - 8 * kBytes;
  static constexpr Word kHalf = Word{1} << (8 * kBytes - 1);

  explicit SignedWord(bool is_unsigned) : bias(is_unsigned ? kHalf : 0) {}
  Number number(Word word) const { return static_cast<Number>((word ^ bias) << kSpare) >> kSpare; }
  Word word(Number number) const { return static_cast<Word>(number) + bias; }

  Word bias;
};

// What the taps of a lane do not change.
template <class Sum>
Sum constant_term(const std::int16_t* coefficients, const LinearLane& lane, Sum bias) {
  Sum sum = lane.shift > 0 ? Sum{1} << (lane.shift - 1) : 0;
  for (int tap = 0; tap < lane.taps(); ++tap) sum += static_cast<Sum>(coefficients[tap]) * bias;
  return sum;
}

// ---- Encoding: along a run

template <int kBytes>
void predict_run(const LinearColumn& column, const LinearModel& model, std::uint64_t run) {
  using Value = PackedValue<kBytes>;
  using Signed = SignedWord<kBytes>;
  using Word = typename Value::Word;
  const Signed reading(model.is_unsigned);
  const std::size_t tuple = model.lanes.size();
  const std::uint64_t first = run << model.run_bits;
  const std::uint64_t tuples = std::min(model.run_tuples(), column.tuples - first);
  unsigned char* const words = column.words + first * tuple * kBytes;
  std::vector<typename Signed::Number> numbers(tuple * tuples);  // lane after lane
  for (std::size_t lane = 0; lane < tuple; ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i)
      numbers[lane * tuples + i] = reading.number(Value::load(words + (i * tuple + lane) * kBytes));
  const std::int16_t* coefficients = model.coefficients.data() + run * model.taps();
  for (std::size_t number = 0; number < tuple; ++number) {
    const LinearLane& lane = model.lanes[number];
    const auto* const x = numbers.data() + number * tuples;
    const std::uint64_t constant =
        constant_term<std::uint64_t>(coefficients, lane, std::uint64_t{reading.bias});
    for (std::uint64_t i = 0; i < tuples; ++i) {
      Word prediction;
      if (i < static_cast<std::uint64_t>(lane.history())) {
        prediction = early_prediction<Word>(i, i < 1 ? 0 : reading.word(x[i - 1]),
                                            i < 2 ? 0 : reading.word(x[i - 2]));
      } else {
        std::uint64_t sum = constant;
        const std::int16_t* c = coefficients;
        for (int k = 0; k < lane.own; ++k)
          sum += static_cast<std::uint64_t>(*c++) * static_cast<std::uint64_t>(x[i - 1 - k]);
        for (int source = 0; source < lane.num_sources; ++source) {
          const auto* const other = numbers.data() + lane.sources[source].lane * tuples;
          for (int k = 0; k < lane.sources[source].taps; ++k)
            sum += static_cast<std::uint64_t>(*c++) * static_cast<std::uint64_t>(other[i - k]);
        }
        prediction = static_cast<Word>(static_cast<std::int64_t>(sum) >> lane.shift);
      }
      Value::store(words + (i * tuple + number) * kBytes, reading.word(x[i]) - prediction);
    }
    coefficients += lane.taps();
  }
}

// ---- Decoding: runs side by side

// Numbers of a lane, a row of kSide each; the row of the tuple that is undone, or of the one before it.
template <class Number>
struct TapRows {
  const Number* coefficients;  // [taps][kSide]
  const Number* numbers;       // of the first tap; those of the next lie before it
  int taps;
};

// A lane of one tuple in kSide runs.
template <class Number, class Sum>
struct LaneStep {
  TapRows<Number> rows[1 + kMaxLinearSources];  // sources, and then the lane itself
  int num_rows;
  const Sum* constants;
  int shift;
  std::make_unsigned_t<Number> bias;
  int spare;
  Number* x;  // residuals, which become numbers
};

template <class Number, class Sum>
void step_lane(const LaneStep<Number, Sum>& step) {
  using Word = std::make_unsigned_t<Number>;
  Sum sums[kSide];
  std::copy_n(step.constants, kSide, sums);
  for (int row = 0; row < step.num_rows; ++row) {
    auto [c, x, taps] = step.rows[row];
    for (int k = 0; k < taps; ++k, c += kSide, x -= kSide)
      for (int r = 0; r < kSide; ++r) sums[r] += static_cast<Sum>(c[r]) * static_cast<Sum>(x[r]);
  }
  for (int r = 0; r < kSide; ++r) {
    const auto prediction =
        static_cast<Word>(static_cast<std::make_signed_t<Sum>>(sums[r]) >> step.shift);
    const Word word = static_cast<Word>(step.x[r]) + prediction;
    step.x[r] = static_cast<Number>((word ^ step.bias) << step.spare) >> step.spare;
  }
}

#if GDELTA_HAS_AVX2_CODE

GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i load_eight(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i widen_four(const std::int32_t* from) {
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// Adds predictions to the residuals of a step.
template <class Sum>
GDELTA_AVX2 GDELTA_ALWAYS_INLINE void finish_step(const LaneStep<std::int32_t, Sum>& step,
                                                  __m256i predictions) {
  const __m128i spare = _mm_cvtsi32_si128(step.spare);
  const __m256i words = _mm256_xor_si256(_mm256_add_epi32(load_eight(step.x), predictions),
                                         _mm256_set1_epi32(static_cast<int>(step.bias)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(step.x),
                      _mm256_sra_epi32(_mm256_sll_epi32(words, spare), spare));
}

// The number that was found last is the last to be multiplied, for all wait for it.
GDELTA_AVX2 void step_lane_avx2(const LaneStep<std::int32_t, std::uint32_t>& step) {
  __m256i sum = load_eight(step.constants);
  for (int row = 0; row < step.num_rows; ++row) {
    const auto [c, x, taps] = step.rows[row];
    for (int k = taps; k-- > 0;)
      sum = _mm256_add_epi32(
          sum, _mm256_mullo_epi32(load_eight(c + k * kSide), load_eight(x - k * kSide)));
  }
  finish_step(step, _mm256_srl_epi32(sum, _mm_cvtsi32_si128(step.shift)));
}

GDELTA_AVX2 void step_lane_avx2(const LaneStep<std::int32_t, std::uint64_t>& step) {
  __m256i low = load_eight(step.constants), high = load_eight(step.constants + 4);
  for (int row = 0; row < step.num_rows; ++row) {
    const auto [c, x, taps] = step.rows[row];
    for (int k = taps; k-- > 0;) {
      const std::int32_t* const c_of_tap = c + k * kSide;
      const std::int32_t* const x_of_tap = x - k * kSide;
      low = _mm256_add_epi64(low, _mm256_mul_epi32(widen_four(c_of_tap), widen_four(x_of_tap)));
      high = _mm256_add_epi64(high,
                              _mm256_mul_epi32(widen_four(c_of_tap + 4), widen_four(x_of_tap + 4)));
    }
  }
  // Of words of 32 bits the lowest 32 of each sum count, whatever comes in at the other end.
  const __m128i shift = _mm_cvtsi32_si128(step.shift);
  const __m256 pairs = _mm256_shuffle_ps(_mm256_castsi256_ps(_mm256_srl_epi64(low, shift)),
                                         _mm256_castsi256_ps(_mm256_srl_epi64(high, shift)), 0x88);
  finish_step(step, _mm256_permute4x64_epi64(_mm256_castps_si256(pairs), 0xd8));
}

#endif

template <class Number, class Sum>
void step_lane_fast(const LaneStep<Number, Sum>& step) {
#if GDELTA_HAS_AVX2_CODE
  if constexpr (std::is_same_v<Number, std::int32_t>)
    if (cpu_has_avx2()) return step_lane_avx2(step);
#endif
  step_lane(step);
}

template <int kBytes>
class RunsSideBySide {
  using Value = PackedValue<kBytes>;
  using Word = typename Value::Word;
  using Signed = SignedWord<kBytes>;
  using Number = typename Signed::Number;

 public:
  RunsSideBySide(const LinearColumn& column, const LinearModel& model)
      : column_(column),
        model_(model),
        reading_(model.is_unsigned),
        tuple_(model.lanes.size()),
        rows_(tuple_ * kRows * kSide),
        coefficients_(model.taps() * kSide) {}

  // At most kSide runs; only the last of a column may be shorter.
  void undo(std::uint64_t first, int count) {
    first_ = first;
    count_ = count;
    load_coefficients();
    const std::uint64_t longest = tuples_of(0);
    for (std::uint64_t at = 0; at < longest; at += kTile) {
      const std::uint64_t tuples = std::min(kTile, longest - at);
      load(at, tuples);
      for (std::uint64_t i = 0; i < tuples; ++i) step(at + i, static_cast<int>(i) + kMaxLinearTaps);
      store(at, tuples);
      keep_history(static_cast<int>(tuples));
    }
  }

 private:
  std::uint64_t tuples_of(int side) const {
    return std::min(model_.run_tuples(),
                    column_.tuples - ((first_ + static_cast<unsigned>(side)) << model_.run_bits));
  }
  Number* row(std::size_t lane, int number) {
    return rows_.data() + (lane * kRows + static_cast<std::size_t>(number)) * kSide;
  }
  unsigned char* word(int side, std::uint64_t tuple) const {
    return column_.words +
           (((first_ + static_cast<unsigned>(side)) << model_.run_bits) + tuple) * tuple_ * kBytes;
  }

  // Those of absent runs are zero.
  void load_coefficients() {
    std::fill(coefficients_.begin(), coefficients_.end(), 0);
    const std::size_t taps = model_.taps();
    for (int side = 0; side < count_; ++side)
      for (std::size_t tap = 0; tap < taps; ++tap)
        coefficients_[tap * kSide + static_cast<std::size_t>(side)] =
            model_.coefficients[(first_ + static_cast<unsigned>(side)) * taps + tap];
    constants_.assign(kSide * tuple_, 0);
    const std::int16_t* c = model_.coefficients.data() + first_ * taps;
    for (int side = 0; side < count_; ++side)
      for (std::size_t lane = 0; lane < tuple_; c += model_.lanes[lane++].taps())
        constants_[lane * kSide + static_cast<std::size_t>(side)] =
            constant_term<std::uint64_t>(c, model_.lanes[lane], std::uint64_t{reading_.bias});
    narrow_constants_.clear();
    for (const std::uint64_t constant : constants_)
      narrow_constants_.push_back(static_cast<std::uint32_t>(constant));
  }

  // How many tuples of a tile a run has.
  std::uint64_t tuples_behind(int side, std::uint64_t at, std::uint64_t tuples) const {
    const std::uint64_t all = tuples_of(side);
    return std::min(tuples, all > at ? all - at : 0);
  }

  // Residuals, as they are, behind the history.
  void load(std::uint64_t at, std::uint64_t tuples) {
    const std::size_t step = tuple_ * kBytes;
    for (int side = 0; side < count_; ++side)
      for (std::size_t lane = 0; lane < tuple_; ++lane) {
        const unsigned char* from = word(side, at) + lane * kBytes;
        Number* to = row(lane, kMaxLinearTaps) + side;
        for (std::uint64_t left = tuples_behind(side, at, tuples); left > 0; --left) {
          *to = static_cast<Number>(Value::load(from));
          from += step;
          to += kSide;
        }
      }
  }

  void store(std::uint64_t at, std::uint64_t tuples) {
    const std::size_t step = tuple_ * kBytes;
    const Signed reading = reading_;
    for (int side = 0; side < count_; ++side)
      for (std::size_t lane = 0; lane < tuple_; ++lane) {
        unsigned char* to = word(side, at) + lane * kBytes;
        const Number* from = row(lane, kMaxLinearTaps) + side;
        for (std::uint64_t left = tuples_behind(side, at, tuples); left > 0; --left) {
          Value::store(to, reading.word(*from));
          to += step;
          from += kSide;
        }
      }
  }

  void keep_history(int tuples) {
    for (std::size_t lane = 0; lane < tuple_; ++lane)
      std::copy_n(row(lane, tuples), kMaxLinearTaps * kSide, row(lane, 0));
  }

  // One tuple of all runs.
  void step(std::uint64_t i, int at) {
    const Number* c = coefficients_.data();
    for (std::size_t number = 0; number < tuple_; ++number) {
      const LinearLane& lane = model_.lanes[number];
      Number* const x = row(number, at);
      if (i < static_cast<std::uint64_t>(lane.history())) {
        for (int r = 0; r < kSide; ++r)
          x[r] = reading_.number(static_cast<Word>(x[r]) +
                                 early_prediction<Word>(i, reading_.word(x[r - kSide]),
                                                        reading_.word(x[r - 2 * kSide])));
      } else if (sums_are_narrow(8 * kBytes, lane.shift)) {
        add_prediction<std::uint32_t>(lane, number, c, at, x);
      } else {
        add_prediction<std::uint64_t>(lane, number, c, at, x);
      }
      c += lane.taps() * kSide;
    }
  }

  template <class Sum>
  void add_prediction(const LinearLane& lane, std::size_t number, const Number* c, int at,
                      Number* x) {
    LaneStep<Number, Sum> step{.rows = {},
                               .num_rows = 0,
                               .constants = nullptr,
                               .shift = lane.shift,
                               .bias = reading_.bias,
                               .spare = Signed::kSpare,
                               .x = x};
    const TapRows<Number> own{c, x - kSide, lane.own};
    c += lane.own * kSide;
    for (int source = 0; source < lane.num_sources; ++source) {
      const LinearSource from = lane.sources[source];
      step.rows[step.num_rows++] = {c, row(from.lane, at), from.taps};
      c += from.taps * kSide;
    }
    step.rows[step.num_rows++] = own;
    if constexpr (sizeof(Sum) == 4) {
      step.constants = narrow_constants_.data() + number * kSide;
    } else {
      step.constants = constants_.data() + number * kSide;
    }
    step_lane_fast(step);
  }

  const LinearColumn& column_;
  const LinearModel& model_;
  Signed reading_;
  std::size_t tuple_;
  std::vector<Number> rows_;          // [lane][history, then a tile][run]
  std::vector<Number> coefficients_;  // [tap][run]
  std::vector<std::uint32_t> narrow_constants_;
  std::vector<std::uint64_t> constants_;  // [lane][run]
  std::uint64_t first_ = 0;
  int count_ = 0;
};

}  // namespace

void predict_linear(const LinearColumn& column, const LinearModel& model, std::uint64_t begin,
                    std::uint64_t end) {
  for_value_bytes(column.value_bytes, [&](auto bytes) {
    for (std::uint64_t run = begin; run < end; ++run)
      predict_run<decltype(bytes)::value>(column, model, run);
  });
}

void undo_linear(const LinearColumn& column, const LinearModel& model, std::uint64_t begin,
                 std::uint64_t end) {
  for_value_bytes(column.value_bytes, [&](auto bytes) {
    RunsSideBySide<decltype(bytes)::value> runs(column, model);
    for (std::uint64_t run = begin; run < end; run += kSide)
      runs.undo(run, static_cast<int>(std::min<std::uint64_t>(kSide, end - run)));
  });
}

}  // namespace gdelta
