// For scan_bench: rates by shape, and tables of them as in the appendix of the SAM thesis.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/scan_names.h"

namespace gdelta::bench {

inline scan::Shape sum_of(scan::Type type, int order, std::uint64_t tuple, std::uint64_t count) {
  return {.op = scan::Operator::sum, .type = type, .order = order, .tuple = tuple, .count = count};
}

/// Powers of two from 2^10 on, and powers of ten.
inline std::vector<std::uint64_t> thesis_counts(int top_power) {
  std::vector<std::uint64_t> counts;
  for (int p = 10; p <= top_power; ++p) counts.push_back(std::uint64_t{1} << p);
  for (std::uint64_t n = 1000; n <= 1'000'000'000; n *= 10) counts.push_back(n);
  return counts;
}

/// "ours u32 1 1 1024"
inline std::string key_of(const std::string& who, const scan::Shape& s) {
  return who + " " + type_name(s.type) + " " + std::to_string(s.order) + " " +
         std::to_string(s.tuple) + " " + std::to_string(s.count);
}

/// Rates of sums in Gitems/s, by who made them and of which shape.
class RateTables {
 public:
  bool has(const char* who, const scan::Shape& shape) const {
    return rates_.count(key_of(who, shape)) > 0;
  }
  void note(const char* who, const scan::Shape& shape, double seconds) {
    rates_[key_of(who, shape)] = static_cast<double>(shape.count) / seconds * 1e-9;
  }

  /// False if the file cannot be written.
  bool print(const char* path, const char* device) const {
    using scan::Type;
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return false;
    const Columns orders{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}};
    const Columns tuples{{1, 2}, {1, 5}, {1, 8}};
    std::fprintf(file, "Gitems/s on %s, layout of the appendix of the SAM thesis.\n", device);
    print_table(file, "A.1 conventional, u32", Type::u32, {{1, 1}}, 32);
    print_table(file, "A.2 conventional, u64", Type::u64, {{1, 1}}, 31);
    print_table(file, "A.5 higher order, u32", Type::u32, orders, 30);
    print_table(file, "A.6 higher order, u64", Type::u64, orders, 30);
    print_table(file, "A.9 tuples, u32", Type::u32, tuples, 30);
    print_table(file, "A.10 tuples, u64", Type::u64, tuples, 30);
    return std::fclose(file) == 0;
  }

 private:
  using Columns = std::vector<std::pair<int, int>>;  // orders and tuples

  void print_table(std::FILE* file, const char* title, scan::Type type, const Columns& columns,
                   int top_power) const {
    std::fprintf(file, "\n%s\n\n| n |", title);
    for (const char* who : {"Thrust", "CUB", "ours"}) {
      for (const auto& [order, tuple] : columns)
        std::fprintf(file, " %s q=%d s=%d |", who, order, tuple);
    }
    std::fprintf(file, "\n|---|");
    for (std::size_t i = 0; i < 3 * columns.size(); ++i) std::fprintf(file, "---|");
    std::fprintf(file, "\n");
    for (const std::uint64_t n : thesis_counts(top_power)) {
      std::fprintf(file, "| %llu |", static_cast<unsigned long long>(n));
      for (const char* who : {"thrust", "cub", "ours"}) {
        for (const auto& [order, tuple] : columns) {
          const auto rate =
              rates_.find(key_of(who, sum_of(type, order, static_cast<std::uint64_t>(tuple), n)));
          if (rate == rates_.end()) {
            std::fprintf(file, " |");
          } else {
            std::fprintf(file, " %.1f |", rate->second);
          }
        }
      }
      std::fprintf(file, "\n");
    }
  }

  std::map<std::string, double> rates_;
};

}  // namespace gdelta::bench
