// Which points of a compressed cloud lie in a box: the kernel decodes the pages into its registers and stores
// the points that it keeps, and nothing else.
//
// usage: filter_points [points]
// Exits with 0 if the points are those that a plain loop keeps, or if there is no GPU to ask.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "sample_column.h"

namespace {

using Point = std::array<float, 3>;
using Reader = gdelta::PageReader<float, 3>;

struct Box {
  float low[3], high[3];
  __host__ __device__ bool has(const float (&point)[3]) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
      inside &= point[axis] >= low[axis] && point[axis] <= high[axis];
    return inside;
  }
};

/// A warp takes room for what its threads keep of a run at once. `kept` comes in no order.
__global__ void __launch_bounds__(Reader::kThreads, Reader::kBlocks)
    filter_kernel(gdelta::DevicePages pages, Box box, float* kept, unsigned long long* count) {
  const unsigned thread = threadIdx.x % 32;
  Reader::for_each_run(pages, [&](const Reader::Run& run) {
    unsigned own = 0;
    run.for_each([&](std::uint64_t, const float(&point)[3]) { own += box.has(point) ? 1 : 0; });
    if (!__any_sync(0xffffffffu, own > 0)) return;
    unsigned up_to = own;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned below = __shfl_up_sync(0xffffffffu, up_to, distance);
      if (thread >= distance) up_to += below;
    }
    unsigned long long at = 0;
    if (thread == 31) at = atomicAdd(count, static_cast<unsigned long long>(up_to));
    at = __shfl_sync(0xffffffffu, at, 31) + up_to - own;
    run.for_each([&](std::uint64_t, const float(&point)[3]) {
      if (!box.has(point)) return;
      for (int axis = 0; axis < 3; ++axis) kept[3 * at + axis] = point[axis];
      ++at;
    });
  });
}

/// A scanner that goes along a street and turns; coordinates in centimetres.
std::vector<float> make_cloud(std::size_t points) {
  std::vector<float> cloud(3 * points);
  std::minstd_rand random(2);
  for (std::size_t i = 0; i < points; ++i) {
    const auto turn = static_cast<float>(i % 4096) / 4096 * 6.2831853f;
    const float noise = static_cast<float>(random() % 64) / 64;
    cloud[3 * i] = static_cast<float>(i / 4096) * 0.05f + 20 * std::cos(turn) + noise;
    cloud[3 * i + 1] = 20 * std::sin(turn) + noise;
    cloud[3 * i + 2] = noise;
  }
  return cloud;
}

/// In an order that does not depend on how they were found.
std::vector<Point> sorted(const float* points, std::size_t count) {
  std::vector<Point> found(count);
  for (std::size_t i = 0; i < count; ++i)
    found[i] = {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (!sample::has_device()) return 0;
  const auto points = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 1 << 24);
  const std::vector<float> cloud = make_cloud(points);
  const Box box{{-1e9f, 15, 0}, {1e9f, 18, 0.5f}};
  std::vector<float> right;
  for (std::size_t i = 0; i < points; ++i) {
    const float point[3] = {cloud[3 * i], cloud[3 * i + 1], cloud[3 * i + 2]};
    if (box.has(point)) right.insert(right.end(), point, point + 3);
  }
  sample::CompressedColumn<float> column("f32x3", cloud);
  const sample::DeviceArray<float> kept(cloud.size());
  const sample::DeviceArray<unsigned long long> count(1);
  const auto read = [&] {
    sample::check(cudaMemsetAsync(count.data(), 0, sizeof(unsigned long long)));
    column.read_pages([&](const gdelta::DevicePages& pages) {
      return gdelta::launch_reader<Reader, filter_kernel>(pages, nullptr, pages, box, kept.data(),
                                                          count.data());
    });
  };
  read();
  sample::expect(column.is_whole(), "contents");
  sample::expect(3 * count.at(0) == right.size(), "number of points");
  sample::expect(
      sorted(kept.values().data(), right.size() / 3) == sorted(right.data(), right.size() / 3),
      "points");

  std::printf(
      "%zu points, %zu of them kept, ratio %.2f\n", points, right.size() / 3,
      static_cast<double>(column.value_bytes()) / static_cast<double>(column.stream_bytes()));
  sample::print_speeds(column, "filtered in registers, contents verified", read);
  return 0;
}
