// Sparse matrix times sparse matrix in two kernels, both by any schedule. An entry of A is a tile, and its
// products with the entries of B's row are the atoms, so that all threads have as much to do. The first
// kernel finds which columns a row of the result has, in a table that is as large as the row has
// products; between, a prefix sum says where rows begin; the second adds products up. What is left of the
// tables is compacted.
//
// usage: spgemm [rows]
// Exits with 0 if the result is that of a plain loop, or if there is no GPU to ask.
#include <map>

#include "gdelta/primitives/compact.cuh"
#include "sample_matrix.h"
#include "sample_schedules.cuh"

namespace {

using sample::check;
using sample::DeviceArray;

constexpr std::uint32_t kFree = ~0u;
constexpr int kThreads = 256;

/// CSR in device memory.
struct Csr {
  const std::uint32_t* offsets;
  const std::uint32_t* columns;
  const double* values;
  std::uint32_t rows;
  std::uint64_t entries;
};

/// Tables of rows, one behind the other: that of a row has a place for each of its products.
struct Tables {
  const std::uint64_t* first_products;  ///< of entries of A, and the number of all
  std::uint32_t* columns;
  double* sums;

  /// Where a row's column stands, or is put if it is new.
  __device__ std::uint64_t place(const Csr& a, std::uint32_t row, std::uint32_t column,
                                 bool* is_new) const {
    const std::uint64_t begin = first_products[a.offsets[row]];
    const std::uint64_t size = first_products[a.offsets[row + 1]] - begin;
    for (std::uint64_t i = column * 2654435761u % size;; i = i + 1 < size ? i + 1 : 0) {
      const std::uint32_t found = atomicCAS(columns + begin + i, kFree, column);
      *is_new = found == kFree;
      if (*is_new || found == column) return begin + i;
    }
  }
};

/// Calls f(row of A, entry of A, entry of B) for every product.
struct Products {
  Csr a, b;
  Tables tables;
  const std::uint32_t* row_of_entry;
  template <class F>
  __device__ void visit(const gdelta::Piece& piece, const F& f) const {
    const std::uint64_t first = tables.first_products[piece.tile];
    const std::uint64_t first_of_b = b.offsets[a.columns[piece.tile]];
    for (std::uint64_t p = piece.begin; p < piece.end; p += piece.step)
      f(row_of_entry[piece.tile], piece.tile, first_of_b + (p - first));
  }
};

struct CountColumns {
  Products products;
  std::uint32_t* counts;  ///< of rows
  __device__ void operator()(const gdelta::Piece& piece) const {
    products.visit(piece, [&](std::uint32_t row, std::uint64_t, std::uint64_t e) {
      bool is_new = false;
      products.tables.place(products.a, row, products.b.columns[e], &is_new);
      if (is_new) atomicAdd(counts + row, 1u);
    });
  }
};

struct AddProducts {
  Products products;
  __device__ void operator()(const gdelta::Piece& piece) const {
    products.visit(piece, [&](std::uint32_t row, std::uint64_t own, std::uint64_t e) {
      bool is_new = false;
      const std::uint64_t place =
          products.tables.place(products.a, row, products.b.columns[e], &is_new);
      atomicAdd(products.tables.sums + place, products.a.values[own] * products.b.values[e]);
    });
  }
};

struct WriteRow {
  std::uint32_t* row_of_entry;
  __device__ void operator()(const gdelta::Piece& piece) const {
    for (std::uint64_t e = piece.begin; e < piece.end; e += piece.step)
      row_of_entry[e] = static_cast<std::uint32_t>(piece.tile);
  }
};

/// Products that an entry of A has.
struct LoadProducts {
  Csr a, b;
  __device__ std::uint64_t operator()(std::uint64_t e) const {
    return b.offsets[a.columns[e] + 1] - b.offsets[a.columns[e]];
  }
};
struct LoadCount {
  const std::uint32_t* counts;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return counts[i]; }
};
struct Plus {
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

/// Sums of count numbers before each, and of all.
template <class Load>
DeviceArray<std::uint64_t> begins_of(std::uint64_t count, Load load) {
  DeviceArray<std::uint64_t> begins(count + 1);
  begins.fill_bytes(0);
  const DeviceArray<char> scratch(gdelta::scan_custom_scratch_bytes<std::uint64_t>({count}));
  check(gdelta::custom_scan::launch<std::uint64_t>(
      {.count = count}, load, gdelta::custom_scan::ToArray<std::uint64_t>{begins.data() + 1},
      Plus{}, std::uint64_t{0}, scratch.data(), scratch.count(), nullptr));
  return begins;
}

__global__ void mark_taken(const std::uint32_t* columns, std::uint64_t count,
                           std::uint32_t* words) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const unsigned word = __ballot_sync(~0u, i < count && columns[i] != kFree);
  if (threadIdx.x % 32 == 0 && i < count) words[i / 32] = word;
}

/// The marked values, as many as `kept` of them.
template <class T>
std::vector<T> compacted(const DeviceArray<T>& values, const std::uint32_t* marks) {
  DeviceArray<T> out(values.count());
  const DeviceArray<std::uint64_t> kept(1);
  const DeviceArray<char> scratch(
      gdelta::compact_scratch_bytes(values.count(), gdelta::WholeArray{}));
  check(gdelta::compact(values.count(), values.data(), gdelta::Marks{marks}, gdelta::WholeArray{},
                        out.data(), nullptr, kept.data(), scratch.data(), scratch.count(),
                        nullptr));
  std::vector<T> all = out.values();
  all.resize(kept.at(0));
  return all;
}

/// Rows of the result as sorted columns and values.
using Rows = std::vector<std::map<std::uint32_t, double>>;

template <class Schedule>
Rows product_by(const Schedule& schedule, const Csr& a, const Csr& b) {
  DeviceArray<char> scratch(0);
  const DeviceArray<std::uint32_t> row_of_entry(a.entries);
  const gdelta::CsrTiles<std::uint32_t> rows{a.offsets, a.rows, a.entries};
  sample::run_schedule(schedule, rows, WriteRow{row_of_entry.data()}, scratch);

  const auto first_products = begins_of(a.entries, LoadProducts{a, b});
  const std::uint64_t num_products = first_products.at(a.entries);
  DeviceArray<std::uint32_t> columns(num_products), counts(a.rows);
  DeviceArray<double> sums(num_products);
  columns.fill_bytes(0xff);
  counts.fill_bytes(0);
  sums.fill_bytes(0);
  const Products products{.a = a,
                          .b = b,
                          .tables = {first_products.data(), columns.data(), sums.data()},
                          .row_of_entry = row_of_entry.data()};
  const gdelta::CsrTiles<std::uint64_t> tiles{first_products.data(), a.entries, num_products};
  sample::run_schedule(schedule, tiles, CountColumns{products, counts.data()}, scratch);
  const auto begins = begins_of(a.rows, LoadCount{counts.data()}).values();
  sample::run_schedule(schedule, tiles, AddProducts{products}, scratch);

  const DeviceArray<std::uint32_t> marks(num_products / 32 + 1);
  sample::launch(mark_taken, num_products / kThreads + 1, kThreads, columns.data(), num_products,
                 marks.data());
  const auto result_columns = compacted(columns, marks.data());
  const auto result_values = compacted(sums, marks.data());
  Rows result(a.rows);
  for (std::uint32_t row = 0; row < a.rows; ++row) {
    for (std::uint64_t e = begins[row]; e < begins[row + 1]; ++e)
      result[row][result_columns.at(e)] = result_values.at(e);
  }
  return result;
}

Rows plain_product(const sample::Matrix& a, const sample::Matrix& b) {
  Rows result(a.rows());
  for (std::uint32_t row = 0; row < a.rows(); ++row) {
    for (std::uint32_t own = a.offsets[row]; own < a.offsets[row + 1]; ++own) {
      const std::uint32_t other = a.columns[own];
      for (std::uint32_t e = b.offsets[other]; e < b.offsets[other + 1]; ++e)
        result[row][b.columns[e]] += a.values[own] * b.values[e];
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto rows = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 20'000);
  const sample::Matrix m = sample::make_matrix(rows);
  const DeviceArray<std::uint32_t> offsets(m.offsets), columns(m.columns);
  const DeviceArray<double> values(m.values);
  const Csr square{.offsets = offsets.data(),
                   .columns = columns.data(),
                   .values = values.data(),
                   .rows = rows,
                   .entries = m.columns.size()};
  const Rows expected = plain_product(m, m);
  std::printf("%u rows, %zu entries, squared\n", rows, m.columns.size());
  sample::for_some_schedules([&](auto schedule, const char* name) {
    sample::expect(product_by(schedule, square, square) == expected, name);
  });
}
