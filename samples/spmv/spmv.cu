// Sparse matrix times vector, written once and run by every schedule: rows are tiles, entries are atoms.
// Then the same as the scan primitives do it: products, and their segmented sums.
//
// usage: spmv [rows]
// Exits with 0 if every result is that of a plain loop, or if there is no GPU to ask.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "gdelta/primitives/segmented_sums.cuh"
#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/direct_search.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/multi_phase_mapping.cuh"
#include "gdelta/schedules/thread_mapped.cuh"
#include "gdelta/schedules/two_phase_search.cuh"
#include "gdelta/schedules/virtual_warps.cuh"

namespace {

using gdelta::CsrTiles;
using gdelta::Piece;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Rows of very unequal length, some empty. Entries are small integers, so that sums are the same in any
/// order.
struct Matrix {
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
};

Matrix make_matrix(std::uint32_t rows) {
  std::mt19937 random(1);
  Matrix m;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint32_t length = random() % 4 == 0 ? 0 : random() % 12;
    if (random() % 1000 == 0) length = 5000;
    for (std::uint32_t e = 0; e < length; ++e) {
      m.columns.push_back(random() % rows);
      m.values.push_back(static_cast<double>(random() % 17) - 8);
    }
    m.offsets.push_back(static_cast<std::uint32_t>(m.columns.size()));
  }
  return m;
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* data = nullptr;
  check(cudaMalloc(&data, values.size() * sizeof(T) + 16));
  check(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

struct Entries {
  const std::uint32_t* columns;
  const double* values;
  const double* x;
  __device__ double product(std::uint64_t e) const { return values[e] * x[columns[e]]; }
};

/// The work: all that there is to say about SpMV.
struct Multiply {
  Entries entries;
  double* y;
  __device__ void operator()(const Piece& piece) const {
    double sum = 0;
    for (std::uint64_t e = piece.begin; e < piece.end; e += piece.step) sum += entries.product(e);
    if (piece.whole) {
      y[piece.tile] += sum;
    } else {
      atomicAdd(y + piece.tile, sum);
    }
  }
};

__global__ void make_products(Entries entries, std::uint64_t count, double* products) {
  const std::uint64_t e = blockIdx.x * std::uint64_t{256} + threadIdx.x;
  if (e < count) products[e] = entries.product(e);
}

__global__ void add_rows(const std::uint32_t* offsets, std::uint32_t rows, const double* sums,
                         double* y) {
  const std::uint32_t row = blockIdx.x * 256 + threadIdx.x;
  if (row < rows && offsets[row] < offsets[row + 1]) y[row] += sums[offsets[row]];
}

/// Everything in device memory.
struct Problem {
  CsrTiles<std::uint32_t> rows;
  Entries entries;
  double* y;
  std::vector<double> expected;
};

/// Milliseconds of `multiply`, which adds to y; ends the program if that is wrong.
template <class Run>
void report(const char* name, const Problem& problem, Run multiply) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float ms = 0;
  for (int warmed = 0; warmed < 2; ++warmed) {
    check(cudaMemset(problem.y, 0, problem.rows.count * sizeof(double)));
    check(cudaEventRecord(begin));
    multiply();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
  }
  std::vector<double> y(problem.rows.count);
  check(cudaMemcpy(y.data(), problem.y, y.size() * sizeof(double), cudaMemcpyDeviceToHost));
  if (y != problem.expected) {
    std::fprintf(stderr, "%s: wrong\n", name);
    std::exit(1);
  }
  std::printf("%-20s %8.3f ms\n", name, ms);
}

/// Launches any schedule, planned first if it has a plan; that counts.
template <class Schedule>
void run_by(const char* name, Schedule schedule, const Problem& problem) {
  void* scratch = nullptr;
  if constexpr (requires { schedule.scratch_bytes(problem.rows); })
    check(cudaMalloc(&scratch, schedule.scratch_bytes(problem.rows)));
  report(name, problem, [&] {
    if constexpr (requires { schedule.scratch_bytes(problem.rows); })
      check(schedule.plan(problem.rows, scratch, nullptr));
    const Multiply work{problem.entries, problem.y};
    check(gdelta::launch_schedule(schedule, problem.rows, work, nullptr));
  });
  check(cudaFree(scratch));
}

/// Backward sums inside rows: the head of a row ends up with all of it.
void run_by_scan(const Problem& problem) {
  const std::uint64_t count = problem.rows.atoms;
  const auto rows = static_cast<std::uint32_t>(problem.rows.count);
  const gdelta::SegmentedScan scan{.count = count, .backward = true};
  const gdelta::SegmentOffsets<std::uint32_t> segments{problem.rows.offsets, rows};
  const std::size_t bytes = gdelta::segmented_sums_scratch_bytes<1, double>(scan, segments);
  double* products = nullptr;
  void* scratch = nullptr;
  check(cudaMalloc(&products, count * sizeof(double)));
  check(cudaMalloc(&scratch, bytes));
  report("segmented sums", problem, [&] {
    make_products<<<static_cast<unsigned>(count / 256 + 1), 256>>>(problem.entries, count,
                                                                   products);
    check(gdelta::segmented_sums<1>(scan, products, products, segments, scratch, bytes, nullptr));
    add_rows<<<rows / 256 + 1, 256>>>(problem.rows.offsets, rows, products, problem.y);
  });
  check(cudaFree(products));
  check(cudaFree(scratch));
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no CUDA device on this machine\n");
    return 0;
  }
  const auto rows = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const Matrix m = make_matrix(rows);
  std::vector<double> x(rows), y(rows);
  for (std::uint32_t i = 0; i < rows; ++i) x[i] = i % 31;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t e = m.offsets[row]; e < m.offsets[row + 1]; ++e)
      y[row] += m.values[e] * x[m.columns[e]];
  }
  const Problem problem{{on_device(m.offsets), rows, m.columns.size()},
                        {on_device(m.columns), on_device(m.values), on_device(x)},
                        on_device(y),
                        y};
  std::printf("%u rows, %zu entries\n", rows, m.columns.size());
  run_by("thread mapped", gdelta::ThreadMapped{}, problem);
  run_by("virtual warps of 8", gdelta::VirtualWarps<8>{}, problem);
  run_by("warp mapped", gdelta::WarpMapped{}, problem);
  run_by("block mapped", gdelta::BlockMapped{}, problem);
  run_by("CTA, warp, scan", gdelta::CtaWarpScan{}, problem);
  run_by("merge path", gdelta::MergePath{}, problem);
  run_by("direct search", gdelta::DirectSearch{}, problem);
  run_by("two-phase search", gdelta::TwoPhaseSearch<>{}, problem);
  run_by("multi-phase mapping", gdelta::MultiPhaseMapping<>{}, problem);
  run_by_scan(problem);
}
