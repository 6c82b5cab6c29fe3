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

// Adds to sums[r], of run r, the products of c[k][r] and x[-k][r], k = 0 … taps - 1.
template <class Number, class Sum>
using AddProducts = void (*)(const Number* c, const Number* x, int taps, Sum* sums);

template <class Number, class Sum>
void add_products(const Number* c, const Number* x, int taps, Sum* sums) {
  for (int k = 0; k < taps; ++k, c += kSide, x -= kSide)
    for (int r = 0; r < kSide; ++r) sums[r] += static_cast<Sum>(c[r]) * static_cast<Sum>(x[r]);
}

#if GDELTA_HAS_AVX2_CODE

GDELTA_AVX2 void add_products_avx2(const std::int32_t* c, const std::int32_t* x, int taps,
                                   std::uint32_t* sums) {
  __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums));
  for (int k = 0; k < taps; ++k, c += kSide, x -= kSide)
    sum = _mm256_add_epi32(
        sum, _mm256_mullo_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(c)),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), sum);
}

GDELTA_AVX2 GDELTA_ALWAYS_INLINE __m256i four_wide(const std::int32_t* from) {
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

GDELTA_AVX2 void add_products_avx2(const std::int32_t* c, const std::int32_t* x, int taps,
                                   std::uint64_t* sums) {
  __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums));
  __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums + 4));
  for (int k = 0; k < taps; ++k, c += kSide, x -= kSide) {
    low = _mm256_add_epi64(low, _mm256_mul_epi32(four_wide(c), four_wide(x)));
    high = _mm256_add_epi64(high, _mm256_mul_epi32(four_wide(c + 4), four_wide(x + 4)));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 4), high);
}

#endif

template <class Number, class Sum>
AddProducts<Number, Sum> fastest_add_products() {
#if GDELTA_HAS_AVX2_CODE
  if constexpr (std::is_same_v<Number, std::int32_t>)
    if (cpu_has_avx2()) return add_products_avx2;
#endif
  return add_products<Number, Sum>;
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
        constants_[static_cast<std::size_t>(side) * tuple_ + lane] =
            constant_term<std::uint64_t>(c, model_.lanes[lane], std::uint64_t{reading_.bias});
  }

  // Residuals, as they are, behind the history.
  void load(std::uint64_t at, std::uint64_t tuples) {
    for (int side = 0; side < count_; ++side) {
      const std::uint64_t all = tuples_of(side);
      const std::uint64_t there = std::min(tuples, all > at ? all - at : 0);
      const unsigned char* from = word(side, at);
      for (std::uint64_t i = 0; i < there; ++i)
        for (std::size_t lane = 0; lane < tuple_; ++lane, from += kBytes)
          row(lane, static_cast<int>(i) + kMaxLinearTaps)[side] =
              static_cast<Number>(Value::load(from));
    }
  }

  void store(std::uint64_t at, std::uint64_t tuples) {
    for (int side = 0; side < count_; ++side) {
      const std::uint64_t all = tuples_of(side);
      const std::uint64_t there = std::min(tuples, all > at ? all - at : 0);
      unsigned char* to = word(side, at);
      for (std::uint64_t i = 0; i < there; ++i)
        for (std::size_t lane = 0; lane < tuple_; ++lane, to += kBytes)
          Value::store(to, reading_.word(row(lane, static_cast<int>(i) + kMaxLinearTaps)[side]));
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
    static const auto add = fastest_add_products<Number, Sum>();
    Sum sums[kSide];
    for (int r = 0; r < kSide; ++r)
      sums[r] = static_cast<Sum>(constants_[static_cast<std::size_t>(r) * tuple_ + number]);
    add(c, x - kSide, lane.own, sums);
    c += lane.own * kSide;
    for (int source = 0; source < lane.num_sources; ++source) {
      add(c, row(lane.sources[source].lane, at), lane.sources[source].taps, sums);
      c += lane.sources[source].taps * kSide;
    }
    for (int r = 0; r < kSide; ++r) {
      const auto prediction =
          static_cast<Word>(static_cast<std::make_signed_t<Sum>>(sums[r]) >> lane.shift);
      x[r] = reading_.number(static_cast<Word>(x[r]) + prediction);
    }
  }

  const LinearColumn& column_;
  const LinearModel& model_;
  Signed reading_;
  std::size_t tuple_;
  std::vector<Number> rows_;              // [lane][history, then a tile][run]
  std::vector<Number> coefficients_;      // [tap][run]
  std::vector<std::uint64_t> constants_;  // [run][lane]
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
