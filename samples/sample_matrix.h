// For samples: a sparse matrix, or a graph, whose rows are of very unequal length, some empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace sample {

/// CSR. Entries are small integers, so that sums are the same in any order.
struct Matrix {
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  std::uint32_t rows() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
};

/// Columns lie less than `reach` behind the diagonal, anywhere by default.
inline Matrix make_matrix(std::uint32_t rows, std::uint32_t reach = ~0u) {
  std::mt19937 random(1);
  Matrix m;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint32_t length = random() % 4 == 0 ? 0 : random() % 12;
    if (random() % 1000 == 0) length = 5000;
    for (std::uint32_t e = 0; e < length; ++e) {
      const std::uint32_t column = random() % std::min(rows, reach);
      m.columns.push_back(reach < rows ? (row + column) % rows : column);
      m.values.push_back(static_cast<double>(random() % 17) - 8);
    }
    m.offsets.push_back(static_cast<std::uint32_t>(m.columns.size()));
  }
  return m;
}

}  // namespace sample
