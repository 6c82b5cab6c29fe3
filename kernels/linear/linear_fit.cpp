#include "kernels/linear/linear_fit.h"

#include <algorithm>

#include "kernels/ans/fixed_log2.h"
#include "kernels/cpu/cpu_targets.h"
#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kSpan = 64;    // tuples of a span; less than twice as many of one
constexpr int kNumberBits = 24;        // so that products of a span are less than 2^53
constexpr double kLeastEnergy = 0.25;  // of a residual, as costs see it
constexpr double kRidge = 1e-10;

// ---- Sums over a matrix, the same for vectors of any length: no element is added to another

GDELTA_ALWAYS_INLINE void add_times(double* __restrict to, const double* __restrict from,
                                    double factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

// The row of each tap in a matrix; returns how many there are.
GDELTA_ALWAYS_INLINE std::size_t find_rows(const double* matrix, std::size_t size,
                                           const TapPlaces& places, const double** rows) {
  std::size_t taps = 0;
  for (int s = 0; s < places.num_stretches; ++s)
    for (std::size_t k = 0; k < places.stretches[s].count; ++k)
      rows[taps++] = matrix + (places.stretches[s].first + k) * size;
  return taps;
}

// to[0 … count) += factor × what a row has at the first so many taps.
GDELTA_ALWAYS_INLINE void add_taps(const double* row, const TapPlaces& places, double factor,
                                   std::size_t count, double* to) {
  for (int s = 0; s < places.num_stretches && count > 0; ++s) {
    const std::size_t length = std::min(places.stretches[s].count, count);
    add_times(to, row + places.stretches[s].first, factor, length);
    to += length;
    count -= length;
  }
}

// The energy of what a combination of the taps leaves.
GDELTA_ALWAYS_INLINE double energy_of(const double* matrix, std::size_t size,
                                      const TapPlaces& places, const double* coefficients) {
  const double* rows[kMaxLinearTaps];
  const std::size_t taps = find_rows(matrix, size, places, rows);
  double sums[kMaxLinearTaps] = {};
  for (std::size_t tap = 0; tap < taps; ++tap)
    add_taps(rows[tap], places, coefficients[tap], taps, sums);
  double left = matrix[0];
  for (std::size_t tap = 0; tap < taps; ++tap)
    left += coefficients[tap] * (sums[tap] - 2 * rows[tap][0]);
  return left;
}

// The lower half of a matrix of taps, and the right side, += weight × those of a span.
GDELTA_ALWAYS_INLINE void add_span(const double* matrix, std::size_t size, const TapPlaces& places,
                                   double weight, double* lower, double* right) {
  const double* rows[kMaxLinearTaps];
  const std::size_t taps = find_rows(matrix, size, places, rows);
  for (std::size_t tap = 0; tap < taps; ++tap) {
    right[tap] += weight * rows[tap][0];
    add_taps(rows[tap], places, weight, tap + 1, lower + tap * taps);
  }
}

// Precondition: whole numbers whose sums are, too, so that their order does not matter.
GDELTA_ALWAYS_INLINE double sum_products(const double* a, const double* b, std::uint64_t count) {
  double sums[4] = {};
  std::uint64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 double energy_avx2(const double* matrix, std::size_t size, const TapPlaces& places,
                               const double* coefficients) {
  return energy_of(matrix, size, places, coefficients);
}
GDELTA_AVX2 void add_span_avx2(const double* matrix, std::size_t size, const TapPlaces& places,
                               double weight, double* lower, double* right) {
  add_span(matrix, size, places, weight, lower, right);
}
GDELTA_AVX2 double sum_products_avx2(const double* a, const double* b, std::uint64_t count) {
  return sum_products(a, b, count);
}
#endif

double energy(const double* matrix, std::size_t size, const TapPlaces& places,
              const double* coefficients) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return energy_avx2(matrix, size, places, coefficients);
#endif
  return energy_of(matrix, size, places, coefficients);
}

void add_weighed(const double* matrix, std::size_t size, const TapPlaces& places, double weight,
                 double* lower, double* right) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_span_avx2(matrix, size, places, weight, lower, right);
#endif
  add_span(matrix, size, places, weight, lower, right);
}

double sum_of_products(const double* a, const double* b, std::uint64_t count) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return sum_products_avx2(a, b, count);
#endif
  return sum_products(a, b, count);
}

// ---- The least squares of a symmetric matrix: L D L', and coefficients rounded on the way back

class Solver {
 public:
  explicit Solver(std::size_t taps)
      : taps_(taps), lower_(taps * taps), pivots_(taps), right_(taps) {}

  // Products of a span, times its weight.
  void add(const double* products, std::size_t size, const TapPlaces& places, double weight) {
    add_weighed(products, size, places, weight, lower_.data(), right_.data());
  }

  // Only what is on the diagonal and below it has been set.
  void factorise() {
    double trace = 0;
    for (std::size_t row = 0; row < taps_; ++row) trace += at(row, row);
    const double ridge = trace / static_cast<double>(taps_) * kRidge + 1e-30;
    for (std::size_t row = 0; row < taps_; ++row) {
      double* const own = &lower_[row * taps_];
      for (std::size_t column = 0; column < row; ++column) {
        const double* const other = &lower_[column * taps_];
        double sum = own[column];
        for (std::size_t k = 0; k < column; ++k) sum -= scaled_[k] * other[k];
        scaled_[column] = sum;
        own[column] = pivots_[column] > 0 ? sum / pivots_[column] : 0;
      }
      double pivot = own[row] + ridge, right = right_[row];
      for (std::size_t k = 0; k < row; ++k) {
        pivot -= scaled_[k] * own[k];
        right -= own[k] * right_[k];
      }
      pivots_[row] = pivot > ridge / 2 ? pivot : 0;
      right_[row] = right;
    }
    for (std::size_t row = 0; row < taps_; ++row)
      right_[row] = pivots_[row] > 0 ? right_[row] / pivots_[row] : 0;
  }

  // Gives them as they are.
  void solve(std::vector<double>& coefficients) const {
    for (std::size_t row = taps_; row-- > 0;) coefficients[row] = rest(row, coefficients);
  }
  // Gives them as multiples of 1 / scale.
  void solve_rounded(double scale, std::vector<double>& coefficients, std::int16_t* rounded) const {
    for (std::size_t row = taps_; row-- > 0;) {
      const double wanted = rest(row, coefficients) * scale;
      const double kept = wanted > -32768.0 ? std::min(wanted, 32767.0) : -32768.0;  // no NaN
      rounded[row] = static_cast<std::int16_t>(static_cast<std::int32_t>(kept + 32768.5) - 32768);
      coefficients[row] = rounded[row] / scale;
    }
  }

 private:
  double& at(std::size_t row, std::size_t column) { return lower_[row * taps_ + column]; }
  // What a coefficient has to be if those behind it are these.
  double rest(std::size_t row, const std::vector<double>& coefficients) const {
    double sum = right_[row];
    for (std::size_t k = row + 1; k < taps_; ++k) sum -= lower_[k * taps_ + row] * coefficients[k];
    return sum;
  }

  std::size_t taps_;
  std::vector<double> lower_;
  std::vector<double> pivots_;
  std::vector<double> right_;
  double scaled_[kMaxLinearTaps] = {};
};

std::int64_t log2_of(double energy) {
  const double scaled = std::min((energy + kLeastEnergy) * 256.0, 9e18);
  return static_cast<std::int64_t>(fixed_log2(static_cast<std::uint64_t>(std::max(scaled, 1.0)))) -
         (8 << kFixedLog2Bits);
}

}  // namespace

LinearStretch::LinearStretch(const LinearColumn& column, int tuple, bool is_unsigned,
                             std::uint64_t first, std::uint64_t count)
    : tuples_(count), numbers_(count * static_cast<std::uint64_t>(tuple)) {
  const int bits = 8 * column.value_bytes, spare = 64 - bits;
  const std::uint64_t flip = is_unsigned ? std::uint64_t{1} << (bits - 1) : 0;
  std::vector<std::int64_t> numbers(numbers_.size());
  std::int64_t longest = 0;
  for_value_bytes(column.value_bytes, [&](auto bytes) {
    using Value = PackedValue<decltype(bytes)::value>;
    const auto lanes = static_cast<std::uint64_t>(tuple);
    const unsigned char* from = column.words + first * lanes * decltype(bytes)::value;
    for (std::uint64_t i = 0; i < count; ++i)
      for (std::uint64_t lane = 0; lane < lanes; ++lane, from += decltype(bytes)::value) {
        const auto number = static_cast<std::int64_t>((Value::load(from) ^ flip) << spare) >> spare;
        numbers[lane * count + i] = number;
        longest |= number ^ (number >> 63);
      }
  });
  int dropped = 0;
  while ((longest >> dropped) >= std::int64_t{1} << (kNumberBits - 1)) ++dropped;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers_[i] = static_cast<double>(numbers[i] >> dropped);
}

LaneMoments::LaneMoments(const LinearStretch& stretch, int lane, const LinearLane& widest)
    : widest_(widest), size_(static_cast<std::size_t>(widest.taps()) + 1) {
  history_ = static_cast<std::uint64_t>(widest.history());
  if (history_ >= stretch.tuples()) return;
  tuples_ = stretch.tuples() - history_;
  const std::uint64_t count = std::max<std::uint64_t>(tuples_ / kSpan, 1);
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::uint64_t first = tuples_ * k / count;
    spans_.push_back({history_ + first, tuples_ * (k + 1) / count - first});
  }
  std::vector<Sequence> sequences{{stretch.lane(lane), 0, widest.own + 1}};
  for (int number = 0; number < widest.num_sources; ++number)
    sequences.push_back({stretch.lane(widest.sources[number].lane),
                         sequences.back().first + sequences.back().count,
                         widest.sources[number].taps});
  moments_.resize(spans_.size() * size_ * size_);
  for (std::size_t span = 0; span < spans_.size(); ++span)
    for (std::size_t a = 0; a < sequences.size(); ++a)
      for (std::size_t b = a; b < sequences.size(); ++b)
        add_products(sequences[a], sequences[b], spans_[span], matrix(span));
  if (widest.own < 2) return;
  TapPlaces places;
  places.add(1, 2);
  second_energies_ = energies_of(places, {2, -1});
  second_bits_ = bits_of(second_energies_);
}

std::int64_t LaneMoments::bits_of_run(std::int64_t bits, int early) const {
  if (tuples_ == 0) return 0;
  const auto looked_at = static_cast<std::int64_t>(tuples_);
  return bits + (static_cast<std::int64_t>(history_) - early) * bits / looked_at +
         early * second_bits_ / looked_at;
}

// The products at lags (j, k) come from those at (j - 1, k - 1) by one more and one less.
void LaneMoments::add_products(const Sequence& a, const Sequence& b, const Span& span,
                               double* matrix) const {
  const bool same = a.first == b.first;
  const double* const x = a.numbers + span.first;
  const double* const y = b.numbers + span.first;
  const auto last = static_cast<std::ptrdiff_t>(span.count) - 1;
  for (int j = 0; j < a.count; ++j)
    for (int k = same ? j : 0; k < b.count; ++k) {
      double& product = matrix[static_cast<std::size_t>(a.first + j) * size_ +
                               static_cast<std::size_t>(b.first + k)];
      if (j == 0 || k == 0) {
        product = sum_of_products(x - j, y - k, span.count);
      } else {
        product = matrix[static_cast<std::size_t>(a.first + j - 1) * size_ +
                         static_cast<std::size_t>(b.first + k - 1)] +
                  x[-j] * y[-k] - x[last + 1 - j] * y[last + 1 - k];
      }
      matrix[static_cast<std::size_t>(b.first + k) * size_ +
             static_cast<std::size_t>(a.first + j)] = product;
    }
}

TapPlaces LaneMoments::places_of(const LinearLane& shape) const {
  TapPlaces places;
  places.add(1, shape.own);
  for (int number = 0; number < shape.num_sources; ++number) {
    int first = 1 + widest_.own;
    for (int of_widest = 0; widest_.sources[of_widest].lane != shape.sources[number].lane;
         ++of_widest)
      first += widest_.sources[of_widest].taps;
    places.add(static_cast<std::size_t>(first), shape.sources[number].taps);
  }
  return places;
}

std::vector<double> LaneMoments::energies_of(const TapPlaces& places,
                                             const std::vector<double>& coefficients) const {
  std::vector<double> energies(spans_.size());
  for (std::size_t span = 0; span < spans_.size(); ++span) {
    const double sum = energy(matrix(span), size_, places, coefficients.data());
    energies[span] = sum > 0 ? sum / static_cast<double>(spans_[span].count) : 0;
  }
  return energies;
}

std::int64_t LaneMoments::bits_of(const std::vector<double>& energies) const {
  std::int64_t bits = 0;
  for (std::size_t span = 0; span < spans_.size(); ++span)
    bits += static_cast<std::int64_t>(spans_[span].count) * log2_of(energies[span]) / 2;
  return bits;
}

std::int64_t LaneMoments::delta_bits(int order) const {
  TapPlaces places;
  places.add(1, static_cast<std::size_t>(order));
  std::vector<double> coefficients;
  double binomial = -1;
  for (int k = 0; k < order; ++k) {
    binomial = -binomial * (order - k) / (k + 1);
    coefficients.push_back(binomial);
  }
  return bits_of_run(bits_of(energies_of(places, coefficients)), 0);
}

template <class Found>
void LaneMoments::find_equations(const LinearLane& shape, int solutions, const Found& found) const {
  const TapPlaces places = places_of(shape);
  const std::size_t taps = places.taps();
  if (spans_.empty() || taps == 0) return;
  std::vector<double> coefficients(taps);
  // Weighed at first by what is left of second differences, which are predictions of a kind.
  std::vector<double> energies = widest_.own < 2 ? energies_of({}, {}) : second_energies_;
  for (int solution = 1;; ++solution) {
    Solver solver(taps);
    for (std::size_t span = 0; span < spans_.size(); ++span)
      solver.add(matrix(span), size_, places, 1 / (energies[span] + kLeastEnergy));
    solver.factorise();
    if (solution == solutions) return found(solver, places);
    solver.solve(coefficients);
    energies = energies_of(places, coefficients);
  }
}

FittedLane LaneMoments::fit(const LinearLane& shape, int solutions) const {
  FittedLane fitted;
  fit_shifts(shape, {&shape.shift, 1}, solutions, &fitted);
  return fitted;
}

void LaneMoments::fit_shifts(const LinearLane& shape, std::span<const std::uint8_t> shifts,
                             int solutions, FittedLane* fitted) const {
  find_equations(shape, solutions, [&](const Solver& solver, const TapPlaces& places) {
    std::vector<double> coefficients(places.taps());
    for (std::size_t k = 0; k < shifts.size(); ++k) {
      solver.solve_rounded(1 << shifts[k], coefficients, fitted[k].coefficients);
      fitted[k].bits = bits_of_run(bits_of(energies_of(places, coefficients)), shape.history());
    }
  });
}

void LaneMoments::fit_coefficients(const LinearLane& shape, int solutions,
                                   std::int16_t* coefficients) const {
  std::fill_n(coefficients, shape.taps(), std::int16_t{0});
  find_equations(shape, solutions, [&](const Solver& solver, const TapPlaces& places) {
    std::vector<double> exact(places.taps());
    solver.solve_rounded(1 << shape.shift, exact, coefficients);
  });
}

}  // namespace gdelta
