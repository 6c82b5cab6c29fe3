// Sparse matrix times vector, written once and run by every schedule: rows are tiles, entries are atoms.
// Then the same as primitives do it: products reduced row by row, and products, and their segmented sums.
//
// usage: spmv [rows] [reach]      columns lie less than `reach` behind the diagonal, anywhere by default
// Exits with 0 if every result is that of a plain loop, or if there is no GPU to ask.
#include "gdelta/primitives/segmented_reduce.cuh"
#include "gdelta/primitives/segmented_sums.cuh"
#include "gdelta/schedules/add_to_tile.cuh"
#include "gdelta/schedules/block_search.cuh"
#include "gdelta/schedules/choose_schedule.cuh"
#include "gdelta/schedules/direct_search.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/local_warp_search.cuh"
#include "gdelta/schedules/two_phase_search.cuh"
#include "sample_matrix.h"
#include "sample_packed.cuh"
#include "sample_schedules.cuh"

namespace {

using gdelta::CsrTiles;
using gdelta::Piece;

using sample::check;
using sample::DeviceArray;

/// `Columns`: const std::uint32_t*, or sample::PackedColumns, which the kernel unpacks as it meets them.
template <class Columns>
struct Entries {
  Columns columns;
  const double* values;
  const double* x;
  /// Entries are read once: they should not drive x out of the caches.
  __device__ double product(std::uint64_t e) const {
    return __ldcs(values + e) * x[column(columns, e)];
  }
  static __device__ std::uint32_t column(const std::uint32_t* of, std::uint64_t e) {
    return __ldcs(of + e);
  }
  static __device__ std::uint32_t column(const sample::PackedColumns& of, std::uint64_t e) {
    return of[e];
  }
};

/// The work: all that there is to say about SpMV.
template <class Columns>
struct Multiply {
  Entries<Columns> entries;
  double* y;
  __device__ void operator()(const Piece& piece) const {
    double sum = 0;
    for (std::uint64_t e = piece.begin; e < piece.end; e += piece.step) sum += entries.product(e);
    gdelta::add_to_tile(y, piece, sum);
  }
};

using PlainEntries = Entries<const std::uint32_t*>;

__global__ void make_products(PlainEntries entries, std::uint64_t count, double* products) {
  const std::uint64_t e = blockIdx.x * std::uint64_t{256} + threadIdx.x;
  if (e < count) products[e] = entries.product(e);
}

__global__ void add_rows(const std::uint32_t* offsets, std::uint32_t rows, const double* sums,
                         double* y) {
  const std::uint32_t row = blockIdx.x * 256 + threadIdx.x;
  if (row < rows && offsets[row] < offsets[row + 1]) y[row] = sums[offsets[row]];
}

/// Everything in device memory.
struct Problem {
  CsrTiles<std::uint32_t> rows;
  PlainEntries entries;
  double* y;
  std::vector<double> expected;
};

/// Milliseconds of `multiply`, the least of ten runs, before which y is cleared; ends the program if that is wrong.
template <class Run>
void report(const char* name, const Problem& problem, Run multiply) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float least = 1e9f;
  for (int run = 0; run < 10; ++run) {
    check(cudaMemset(problem.y, 0, problem.rows.count * sizeof(double)));
    check(cudaEventRecord(begin));
    multiply();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    least = std::min(least, ms);
  }
  std::vector<double> y(problem.rows.count);
  check(cudaMemcpy(y.data(), problem.y, y.size() * sizeof(double), cudaMemcpyDeviceToHost));
  if (y != problem.expected) {
    std::fprintf(stderr, "%s: wrong\n", name);
    std::exit(1);
  }
  std::printf("%-20s %8.3f ms\n", name, least);
}

template <class Schedule, class Columns>
void run_by(const char* name, Schedule schedule, const Problem& problem,
            const Entries<Columns>& entries) {
  DeviceArray<char> scratch(0);
  report(name, problem, [&] {
    const Multiply<Columns> work{entries, problem.y};
    sample::run_schedule(schedule, problem.rows, work, scratch);
  });
}

template <class Schedule>
void run_by(const char* name, Schedule schedule, const Problem& problem) {
  run_by(name, schedule, problem, problem.entries);
}

template <class Columns>
struct ProductOf {
  Entries<Columns> entries;
  __device__ double operator()(std::uint64_t e) const { return entries.product(e); }
};

struct Plus {
  __device__ double operator()(double a, double b) const { return a + b; }
};

/// A row's products are one result; the plan is made once a matrix.
template <class Columns>
void run_by_reduction(const char* name, const Problem& problem, const Entries<Columns>& entries) {
  const std::uint64_t count = problem.rows.atoms;
  const gdelta::SegmentOffsets<std::uint32_t> rows{problem.rows.offsets, problem.rows.count};
  const std::size_t bytes = gdelta::segmented_reduce_scratch_bytes<double>(count, rows);
  const DeviceArray<char> scratch(bytes);
  check(gdelta::plan_segmented_reduce<double>(count, rows, scratch.data(), bytes, nullptr));
  report(name, problem, [&] {
    check(gdelta::segmented_reduce(count, ProductOf<Columns>{entries}, rows, problem.y, Plus{}, 0.0,
                                   scratch.data(), bytes, nullptr));
  });
}

/// As a look at the rows recommends: by a static schedule, or reduced.
void run_by_choice(const Problem& problem) {
  const DeviceArray<gdelta::TileStatistics> look(1);
  check(gdelta::measure_tiles(problem.rows, look.data(), nullptr));
  const auto choice = gdelta::choose_schedule(problem.rows.count, problem.rows.atoms, look.at(0),
                                              gdelta::kReduceCosts);
  if (choice.width == 0) {
    run_by_reduction("as chosen", problem, problem.entries);
  } else {
    gdelta::with_schedule(choice, [&](auto schedule) { run_by("as chosen", schedule, problem); });
  }
}

/// Backward sums inside rows: the head of a row ends up with all of it.
void run_by_scan(const Problem& problem) {
  const std::uint64_t count = problem.rows.atoms;
  const auto rows = static_cast<std::uint32_t>(problem.rows.count);
  const gdelta::SegmentedScan scan{.count = count, .backward = true};
  const gdelta::SegmentOffsets<std::uint32_t> segments{problem.rows.offsets, rows};
  const std::size_t bytes = gdelta::segmented_sums_scratch_bytes<1, double>(scan, segments);
  const DeviceArray<double> products(count);
  const DeviceArray<char> scratch(bytes);
  report("segmented sums", problem, [&] {
    sample::launch(make_products, count / 256 + 1, 256, problem.entries, count, products.data());
    check(gdelta::segmented_sums<1>(scan, products.data(), products.data(), segments,
                                    scratch.data(), bytes, nullptr));
    sample::launch(add_rows, rows / 256 + 1, 256, problem.rows.offsets, rows, products.data(),
                   problem.y);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto rows = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const auto reach = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : -1);
  const sample::Matrix m = sample::make_matrix(rows, reach);
  std::vector<double> x(rows), y(rows);
  for (std::uint32_t i = 0; i < rows; ++i) x[i] = i % 31;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t e = m.offsets[row]; e < m.offsets[row + 1]; ++e)
      y[row] += m.values[e] * x[m.columns[e]];
  }
  const DeviceArray<std::uint32_t> offsets(m.offsets), columns(m.columns);
  const DeviceArray<double> values(m.values), x_on_device(x), result(rows);
  const Problem problem{.rows = {offsets.data(), rows, m.columns.size()},
                        .entries = {columns.data(), values.data(), x_on_device.data()},
                        .y = result.data(),
                        .expected = y};
  std::printf("%u rows, %zu entries\n", rows, m.columns.size());
  run_by("thread mapped", gdelta::ThreadMapped{}, problem);
  run_by("virtual warps of 8", gdelta::VirtualWarps<8>{}, problem);
  run_by("warp mapped", gdelta::WarpMapped{}, problem);
  run_by("block mapped", gdelta::BlockMapped{}, problem);
  run_by("CTA, warp, scan", gdelta::CtaWarpScan{}, problem);
  run_by("merge path", gdelta::MergePath{}, problem);
  run_by("local warp search", gdelta::LocalWarpSearch{}, problem);
  run_by("block search", gdelta::BlockSearch{}, problem);
  run_by("direct search", gdelta::DirectSearch{}, problem);
  run_by("two-phase search", gdelta::TwoPhaseSearch<>{}, problem);
  run_by("multi-phase mapping", gdelta::MultiPhaseMapping<>{}, problem);
  const sample::PackedOnDevice packed(m.columns);
  const Entries<sample::PackedColumns> packed_entries{packed.columns(), values.data(),
                                                      x_on_device.data()};
  run_by("merge path, packed", gdelta::MergePath{}, problem, packed_entries);
  run_by("multi-phase, packed", gdelta::MultiPhaseMapping<>{}, problem, packed_entries);
  run_by_reduction("reduced by rows", problem, problem.entries);
  run_by_reduction("reduced, packed", problem, packed_entries);
  run_by_choice(problem);
  run_by_scan(problem);
}
