// What bench measured: tables for people, JSON and CSV for programs, and which level to take.
#pragma once

#include <string>
#include <vector>

#include "bench_measure.h"

namespace gdelta::cli {

/// The titles of a table and one of its rows; at most 80 columns wide.
std::string bench_titles();
std::string bench_row(const Measurement& row);

/// The rows of several files added up, one for each coder, level and device.
struct BenchTotal {
  Measurement sum;  // bytes and seconds; the larger of memories
  std::size_t files = 0;
  double geomean_ratio = 0;  // geometric mean of the ratios of the files
};
std::vector<BenchTotal> bench_totals(const std::vector<Measurement>& rows);
/// Writes both as tables.
std::string bench_totals_text(const std::vector<BenchTotal>& totals);

/// Which of gdelta's rows to take for what; indexes into what was measured.
struct BenchAdvice {
  std::size_t speed = 0;    // the fastest to compress, the search included
  std::size_t balance = 0;  // the fastest of those within kBalancePercent of the smallest
  std::size_t size = 0;     // the smallest
};
inline constexpr int kBalancePercent = 3;
/// Gives nothing if there is nothing to choose from.
std::optional<BenchAdvice> bench_advice(const std::vector<BenchTotal>& totals);
/// The same in a line, empty if there is nothing to choose from; and what of other coders is
/// smaller still.
std::string bench_advice_text(const std::vector<BenchTotal>& totals);

std::string bench_json(const std::vector<Measurement>& rows);
std::string bench_csv_titles();
std::string bench_csv_row(const Measurement& row);

}  // namespace gdelta::cli
