// Coefficients of linear prediction for one lane of one run, and what its residuals will cost.
//
// A coder of symbols follows the size of residuals from span to span, so what counts is the sum of the
// logarithms of their energies, and not the energy of all of them. The least of it is found by solving for
// the energy again and again, each span weighed by the inverse of what was left there. The moments of
// all spans are taken once; they are whole numbers below 2^53, so the order of sums does not matter. Everything
// behind them is one sequence of additions, multiplications and divisions of IEEE doubles: the same
// on every machine.
//
// Coefficients are rounded one after the other, the last one first, and those before make up for it: the
// nearest plane of Babai, "On Lovász' lattice reduction and the nearest lattice point problem" (1986).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/linear/linear_model.h"

namespace gdelta {

/// Tuples [first, first + count) as numbers of less than 24 bits, lane after lane; those that are longer
/// lose low bits.
class LinearStretch {
 public:
  LinearStretch(const LinearColumn& column, int tuple, bool is_unsigned, std::uint64_t first,
                std::uint64_t count);

  std::uint64_t tuples() const { return tuples_; }
  const double* lane(int number) const {
    return numbers_.data() + static_cast<std::uint64_t>(number) * tuples_;
  }

 private:
  std::uint64_t tuples_;
  std::vector<double> numbers_;
};

inline constexpr int kMaxLinearDelta =
    4;  // highest order of deltas that prediction is held against

struct FittedLane {
  std::int16_t coefficients[kMaxLinearTaps] = {};
  std::int64_t bits = 0;  // what residuals cost, × 256; only differences of them mean something
};

/// Where taps stand in matrices: stretches of consecutive places.
struct TapPlaces {
  struct Stretch {
    std::size_t first, count;
  };
  Stretch stretches[1 + kMaxLinearSources] = {};
  int num_stretches = 0;

  void add(std::size_t first, std::size_t count) { stretches[num_stretches++] = {first, count}; }
  std::size_t taps() const {
    std::size_t sum = 0;
    for (int k = 0; k < num_stretches; ++k) sum += stretches[k].count;
    return sum;
  }
};

/// The products of all that a lane may be predicted from, span by span.
class LaneMoments {
 public:
  /// `widest` has the most taps that will be asked for.
  LaneMoments(const LinearStretch& stretch, int lane, const LinearLane& widest);

  /// The best coefficients for a lane of this shape: sources are some of those of `widest`, in their
  /// order, with as many taps or fewer. `solutions`: how often spans are weighed anew.
  FittedLane fit(const LinearLane& shape, int solutions) const;
  /// The same with each of these shifts in the place of the shape's.
  void fit_shifts(const LinearLane& shape, std::span<const std::uint8_t> shifts, int solutions,
                  FittedLane* fitted) const;
  /// The coefficients alone, all 0 of a run that is as short as the history.
  void fit_coefficients(const LinearLane& shape, int solutions, std::int16_t* coefficients) const;
  /// The same of the delta of this order; what `widest` has of its own taps is no less.
  std::int64_t delta_bits(int order) const;

 private:
  struct Span {
    std::uint64_t first;
    std::uint64_t count;
  };
  // The numbers of one lane at several lags.
  struct Sequence {
    const double* numbers;
    int first;  // place of the first in the matrices
    int count;
  };

  void add_products(const Sequence& a, const Sequence& b, const Span& span, double* matrix) const;
  double* matrix(std::size_t span) { return moments_.data() + span * size_ * size_; }
  const double* matrix(std::size_t span) const { return moments_.data() + span * size_ * size_; }
  TapPlaces places_of(const LinearLane& shape) const;
  // What `found(solver, places)` gets can be solved at any shift.
  template <class Found>
  void find_equations(const LinearLane& shape, int solutions, const Found& found) const;
  std::int64_t bits_of(const std::vector<double>& energies) const;
  // Of the whole run, of which the first tuples are predicted by second differences.
  std::int64_t bits_of_run(std::int64_t bits, int early) const;
  // Of what a combination of the places leaves of each span.
  std::vector<double> energies_of(const TapPlaces& places,
                                  const std::vector<double>& coefficients) const;

  LinearLane widest_;
  std::size_t size_;  // of a matrix: the number itself is the first, then taps
  std::vector<Span> spans_;
  std::vector<double> moments_;  // [span][size][size]
  std::uint64_t history_;
  std::uint64_t tuples_ = 0;             // behind the history
  std::vector<double> second_energies_;  // what second differences leave of the spans
  std::int64_t second_bits_ = 0;         // what they cost
};

}  // namespace gdelta
