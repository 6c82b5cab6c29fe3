// Shallow water over uneven ground (Kass and Miller): heights of columns of water, moved by an implicit
// step whose tridiagonal systems are solved along every row of the grid, then along every column.
//
// usage: shallow_water [side] [steps]
// Exits with 0 if heights are near those of a plain solver in double precision and no water is lost, or if
// there is no GPU to ask.
#include <cmath>
#include <utility>

#include "sample_tridiagonal.cuh"

namespace {

using sample::Row;

constexpr float kPull =
    0.4f;  ///< gravity * step^2 / spacing^2, halved: a pair's depths are averaged

/// Two steps of the past and the ground, side * side; lines are rows or columns.
template <class T>
struct Water {
  const T* ground;
  const T* now;
  const T* before;
  int side;
  bool by_columns;

  __host__ __device__ int place(int line, int i) const {
    return by_columns ? i * side + line : line * side + i;
  }
  __host__ __device__ T depth(int place) const {
    const T depth = now[place] - ground[place];
    return depth > 0 ? depth : 0;
  }
  /// Row i of a line's system: heights next, from how fast they change and how water presses.
  __host__ __device__ Row row(int line, int i) const {
    const int own = place(line, i);
    const T below = i > 0 ? kPull * (depth(own) + depth(place(line, i - 1))) : 0;
    const T above = i + 1 < side ? kPull * (depth(own) + depth(place(line, i + 1))) : 0;
    return {static_cast<float>(-below), static_cast<float>(1 + below + above),
            static_cast<float>(-above), static_cast<float>(2 * now[own] - before[own])};
  }
};

struct LoadRow {
  Water<float> water;
  __device__ Row operator()(int line, int i) const { return water.row(line, i); }
};

struct StoreHeight {
  Water<float> water;
  float* next;
  __device__ void operator()(int line, int i, float height) const {
    next[water.place(line, i)] = height;
  }
};

/// A hill under water that is higher in one corner.
std::vector<float> make_ground(int side) {
  std::vector<float> ground;
  for (int i = 0; i < side * side; ++i) {
    const float x = static_cast<float>(i % side) / side - 0.5f;
    const float y = static_cast<float>(i / side) / side - 0.5f;
    ground.push_back(0.5f * std::exp(-20 * (x * x + y * y)));
  }
  return ground;
}
std::vector<float> make_heights(int side) {
  std::vector<float> heights;
  for (int i = 0; i < side * side; ++i)
    heights.push_back(i % side < side / 4 && i / side < side / 4 ? 1.25f : 1.0f);
  return heights;
}

std::vector<float> simulate(int side, int steps) {
  sample::DeviceArray<float> ground(make_ground(side)), now(make_heights(side)),
      before(make_heights(side)), next(now.count());
  for (int step = 0; step < steps; ++step) {
    for (const bool by_columns : {false, true}) {
      const Water<float> water{.ground = ground.data(),
                               .now = now.data(),
                               .before = before.data(),
                               .side = side,
                               .by_columns = by_columns};
      sample::solve_tridiagonal(side, side, LoadRow{water}, StoreHeight{water, next.data()});
      std::swap(before, now);
      std::swap(now, next);
    }
  }
  return now.values();
}

std::vector<double> simulate_plainly(int side, int steps) {
  const auto start = make_heights(side), bottom = make_ground(side);
  std::vector<double> ground(bottom.begin(), bottom.end()), now(start.begin(), start.end());
  std::vector<double> before = now, next = now;
  for (int step = 0; step < steps; ++step) {
    for (const bool by_columns : {false, true}) {
      const Water<double> water{.ground = ground.data(),
                                .now = now.data(),
                                .before = before.data(),
                                .side = side,
                                .by_columns = by_columns};
      for (int line = 0; line < side; ++line) {
        const auto heights = sample::solve_plainly(side, [&](int i) { return water.row(line, i); });
        for (int i = 0; i < side; ++i) next[water.place(line, i)] = heights[i];
      }
      std::swap(before, now);
      std::swap(now, next);
    }
  }
  return now;
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const int side = argc > 1 ? std::atoi(argv[1]) : 512;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::vector<float> heights = simulate(side, steps);
  const std::vector<double> expected = simulate_plainly(side, steps);
  double worst = 0, volume = 0, start = 0;
  for (const float height : make_heights(side)) start += height;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    volume += heights[i];
    worst = std::max(worst, std::fabs(heights[i] - expected[i]));
  }
  std::printf("%d x %d heights, %d steps, off by %.1e at most, volume %.3f of %.3f\n", side, side,
              steps, worst, volume, start);
  sample::expect(worst < 1e-3, "heights");
  sample::expect(std::fabs(volume / start - 1) < 1e-4, "volume");
}
