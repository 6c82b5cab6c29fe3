// Sparse matrix times a dense matrix of a few columns, written once and run by schedules of every kind:
// SpMV with a sum a column.
//
// usage: spmm [rows]
// Exits with 0 if every result is that of a plain loop, or if there is no GPU to ask.
#include "gdelta/schedules/add_to_tile.cuh"
#include "sample_matrix.h"
#include "sample_schedules.cuh"

namespace {

constexpr int kColumns = 8;

/// The work. Rows of x and y have kColumns values.
struct MultiplyColumns {
  const std::uint32_t* columns;
  const double* values;
  const double* x;
  double* y;
  __device__ void operator()(const gdelta::Piece& piece) const {
    double sums[kColumns] = {};
    for (std::uint64_t e = piece.begin; e < piece.end; e += piece.step) {
      const double* const row = x + std::uint64_t{columns[e]} * kColumns;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[c] += values[e] * row[c];
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      gdelta::Piece place = piece;
      place.tile = piece.tile * kColumns + c;
      gdelta::add_to_tile(y, place, sums[c]);
    }
  }
};

std::vector<double> plain_product(const sample::Matrix& m, const std::vector<double>& x) {
  std::vector<double> y(std::size_t{m.rows()} * kColumns);
  for (std::uint32_t row = 0; row < m.rows(); ++row) {
    for (std::uint32_t e = m.offsets[row]; e < m.offsets[row + 1]; ++e) {
      for (int c = 0; c < kColumns; ++c)
        y[row * kColumns + c] += m.values[e] * x[m.columns[e] * kColumns + c];
    }
  }
  return y;
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto rows = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const sample::Matrix m = sample::make_matrix(rows);
  std::vector<double> x(std::size_t{rows} * kColumns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 31);
  const auto expected = plain_product(m, x);
  const sample::DeviceArray<std::uint32_t> offsets(m.offsets), columns(m.columns);
  const sample::DeviceArray<double> values(m.values), x_on_device(x);
  sample::DeviceArray<double> y(expected.size());
  sample::DeviceArray<char> scratch(0);
  const gdelta::CsrTiles<std::uint32_t> tiles{offsets.data(), rows, m.columns.size()};
  std::printf("%u rows, %zu entries, %d columns\n", rows, m.columns.size(), kColumns);
  sample::for_some_schedules([&](auto schedule, const char* name) {
    y.fill_bytes(0);
    const MultiplyColumns work{
        .columns = columns.data(), .values = values.data(), .x = x_on_device.data(), .y = y.data()};
    sample::run_schedule(schedule, tiles, work, scratch);
    sample::expect(y.values() == expected, name);
  });
}
