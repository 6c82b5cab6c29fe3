// Many tridiagonal systems at once by cyclic reduction.
//
// usage: tridiagonal [systems] [rows of each]
// Exits with 0 if every result is near that of a plain solver in double precision, or if there is no GPU
// to ask.
#include <cmath>
#include <random>

#include "sample_tridiagonal.cuh"

namespace {

using sample::Row;

std::vector<Row> make_rows(int systems, int size) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Row> rows;
  for (int i = 0; i < systems * size; ++i) {
    const float below = i % size == 0 ? 0 : uniform(random);
    const float above = i % size == size - 1 ? 0 : uniform(random);
    const float diagonal = 1.1f + std::fabs(below) + std::fabs(above);
    rows.push_back({.below = below,
                    .diagonal = random() % 2 == 0 ? diagonal : -diagonal,
                    .above = above,
                    .right = uniform(random)});
  }
  return rows;
}

struct LoadRow {
  const Row* rows;
  int size;
  __device__ Row operator()(int system, int i) const { return rows[system * size + i]; }
};

struct StoreResult {
  float* x;
  int size;
  __device__ void operator()(int system, int i, float value) const { x[system * size + i] = value; }
};

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const int systems = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int size = argc > 2 ? std::atoi(argv[2]) : 1000;
  const std::vector<Row> rows = make_rows(systems, size);
  const sample::DeviceArray<Row> on_device(rows);
  const sample::DeviceArray<float> x(rows.size());
  sample::solve_tridiagonal(systems, size, LoadRow{on_device.data(), size},
                            StoreResult{x.data(), size});
  const std::vector<float> found = x.values();
  double worst = 0;
  for (int s = 0; s < systems; ++s) {
    const auto expected = sample::solve_plainly(size, [&](int i) { return rows[s * size + i]; });
    for (int i = 0; i < size; ++i)
      worst = std::max(worst, std::fabs(found[s * size + i] - expected[i]));
  }
  std::printf("%d systems of %d rows, off by %.1e at most\n", systems, size, worst);
  sample::expect(worst < 1e-5, "cyclic reduction");
}
