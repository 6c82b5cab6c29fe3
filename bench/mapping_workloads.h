// For benches of work mappings: tiles of the rows, nonzeros and longest row that the paper on multi-phase
// mapping lists, and small ones.
//
// Sizes of rows are drawn (seeded) from a power law cut at the longest row, whose exponent is searched so
// that average and deviation are the paper's; both, as reached, are printed to stderr. Rows of regular8 are
// equal, those of the road network between 1 and 8.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace gdelta::bench {

/// A row of table 3 of the paper.
struct Workload {
  const char* name;
  std::uint64_t rows;
  std::uint64_t nonzeros;
  double deviation;
  std::uint64_t longest;
};
constexpr Workload kWorkloads[] = {
    {"regular8", 1'000'000, 8'000'000, 0.0, 8},
    {"great-britain_osm", 7'733'822, 16'313'034, 0.5, 8},
    {"cit-Patents", 3'774'768, 16'518'948, 7.5, 770},
    {"web-NotreDame", 325'729, 1'497'134, 21.4, 3'445},
    {"circuit5M", 5'558'326, 59'524'291, 1'356.6, 1'290'501},
    {"as-Skitter", 1'696'415, 22'190'596, 136.9, 35'455},
    {"kron_g500-logn20", 1'048'576, 89'239'674, 1'033.1, 413'378},
    // Not of the paper: as small as those for which Osama, Porumbescu and Owens leave merge path.
    {"small_short", 450, 1'800, 2.0, 16},
    {"small_even", 450, 9'900, 8.0, 64},
    {"small_uneven", 450, 9'900, 80.0, 1'500},
    {"small_long", 110, 9'900, 60.0, 500},
};

/// Sizes at the quantiles of a power law, scaled so that they add up; rows beyond the longest are cut.
class PowerLaw {
 public:
  PowerLaw(const Workload& w, double exponent) : exponent_(exponent), longest_(w.longest) {
    const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
    double low = 0, high = 1e6;
    for (int step = 0; step < 60; ++step) {
      scale_ = (low + high) / 2;
      (moments().first < average ? low : high) = scale_;
    }
  }
  double size(double quantile) const {
    return std::min(static_cast<double>(longest_), scale_ * std::pow(quantile, -1 / exponent_));
  }
  /// Average and deviation, by many quantiles, close together if rows are long.
  std::pair<double, double> moments() const {
    double sum = 0, squares = 0, before = 0;
    for (int i = -400; i <= 0; ++i) {
      const double quantile = std::pow(10.0, i / 50.0);
      const double s = size((before + quantile) / 2);
      sum += s * (quantile - before);
      squares += s * s * (quantile - before);
      before = quantile;
    }
    return {sum, std::sqrt(std::max(0.0, squares - sum * sum))};
  }

 private:
  double exponent_;
  double scale_ = 0;
  std::uint64_t longest_;
};

inline std::vector<std::uint32_t> make_offsets(const Workload& w) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::uint32_t> sizes(w.rows);
  if (w.longest <= 8) {
    for (std::uint32_t& size : sizes)
      size = w.deviation == 0 ? 8 : 2 + (random() % 9 == 0) * (random() % 2 == 0 ? 1 : -1);
  } else {
    double low = 0.3, high = 4;  // a steeper law deviates less
    for (int step = 0; step < 40; ++step) {
      const double exponent = (low + high) / 2;
      (PowerLaw(w, exponent).moments().second > w.deviation ? low : high) = exponent;
    }
    const PowerLaw law(w, low);
    for (std::uint32_t& size : sizes)
      size = static_cast<std::uint32_t>(law.size(1 - uniform(random)) + uniform(random));
  }
  sizes[w.rows / 3] = static_cast<std::uint32_t>(w.longest);
  std::uint64_t sum = 0;
  for (const std::uint32_t size : sizes) sum += size;
  while (sum != w.nonzeros) {  // the rest, one by one
    std::uint32_t& size = sizes[random() % w.rows];
    if (sum < w.nonzeros && size < w.longest) ++size, ++sum;
    if (sum > w.nonzeros && size > 0 && size < w.longest) --size, --sum;
  }
  std::vector<std::uint32_t> offsets{0};
  double squares = 0;
  for (const std::uint32_t size : sizes) {
    offsets.push_back(offsets.back() + size);
    squares += static_cast<double>(size) * size;
  }
  const double average = static_cast<double>(w.nonzeros) / static_cast<double>(w.rows);
  std::fprintf(stderr, "%s: average %.1f, deviation %.1f (the paper's: %.1f)\n", w.name, average,
               std::sqrt(squares / static_cast<double>(w.rows) - average * average), w.deviation);
  return offsets;
}

}  // namespace gdelta::bench
