// For samples: many tridiagonal systems of one size, a block each, by cyclic reduction in shared memory
// (Hockney; on GPUs Kass, Lefohn and Owens; Sengupta, Harris, Zhang, Owens). Reducing every second
// equation away halves the system until one is left; results go back the same way.
#pragma once

#include "gdelta/device_access.cuh"
#include "sample_device.h"

namespace sample {

/// Row i of a system: below * x[i - 1] + diagonal * x[i] + above * x[i + 1] = right. `below` of the first
/// row and `above` of the last are zero. No row is swapped: the diagonal outweighs its neighbours.
struct Row {
  float below;
  float diagonal;
  float above;
  float right;
};

constexpr unsigned kSolverThreads = 256;
constexpr std::size_t kRowBytes = sizeof(Row) + sizeof(float);

/// Takes what stands `distance` rows before and behind out of row i.
__device__ inline void reduce_row(Row* rows, int i, int distance, int size) {
  Row row = rows[i];
  const Row before = rows[i - distance];
  const float k = row.below / before.diagonal;
  row.below = -before.below * k;
  row.diagonal -= before.above * k;
  row.right -= before.right * k;
  if (i + distance < size) {
    const Row behind = rows[i + distance];
    const float l = row.above / behind.diagonal;
    row.above = -behind.above * l;
    row.diagonal -= behind.below * l;
    row.right -= behind.right * l;
  } else {
    row.above = 0;
  }
  rows[i] = row;
}

/// `load(system, i)` gives a row, `store(system, i, x)` takes its result.
template <class Load, class Store>
__global__ void __launch_bounds__(kSolverThreads) solve_kernel(int size, Load load, Store store) {
  Row* const rows = reinterpret_cast<Row*>(gdelta::device::dynamic_shared());  // [size]
  float* const x = reinterpret_cast<float*>(rows + size);                      // [size]
  const int thread = static_cast<int>(threadIdx.x), system = static_cast<int>(blockIdx.x);
  const int threads = static_cast<int>(kSolverThreads);
  for (int i = thread; i < size; i += threads) rows[i] = load(system, i);
  int distance = 1;
  for (; 2 * distance <= size; distance *= 2) {
    __syncthreads();  // the rows that this step reads are there
    for (int i = 2 * distance - 1 + thread * 2 * distance; i < size; i += threads * 2 * distance)
      reduce_row(rows, i, distance, size);
  }
  for (; distance >= 1; distance /= 2) {
    __syncthreads();  // rows are reduced, and the results of the step before are there
    for (int i = distance - 1 + thread * 2 * distance; i < size; i += threads * 2 * distance) {
      const Row row = rows[i];
      const float before = i >= distance ? row.below * x[i - distance] : 0;
      const float behind = i + distance < size ? row.above * x[i + distance] : 0;
      x[i] = (row.right - before - behind) / row.diagonal;
    }
  }
  __syncthreads();  // all results are there
  for (int i = thread; i < size; i += threads) store(system, i, x[i]);
}

/// Enqueues the solution of `systems` systems of `size` rows, as many as shared memory takes.
template <class Load, class Store>
void solve_tridiagonal(int systems, int size, Load load, Store store) {
  const auto kernel = solve_kernel<Load, Store>;
  const std::size_t bytes = static_cast<std::size_t>(size) * kRowBytes;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(systems));
  config.blockDim = dim3(kSolverThreads);
  config.dynamicSmemBytes = bytes;
  check(cudaLaunchKernelEx(&config, kernel, size, load, store));
}

/// One system on the host, row by row (Thomas), in double precision.
template <class LoadRow>
std::vector<double> solve_plainly(int size, LoadRow load) {
  std::vector<double> above(size), x(size);
  double last_above = 0, last = 0;
  for (int i = 0; i < size; ++i) {
    const Row row = load(i);
    const double pivot = row.diagonal - row.below * last_above;
    above[i] = last_above = row.above / pivot;
    x[i] = last = (row.right - row.below * last) / pivot;
  }
  for (int i = size - 2; i >= 0; --i) x[i] -= above[i] * x[i + 1];
  return x;
}

}  // namespace sample
