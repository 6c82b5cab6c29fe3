// What launch_scan refuses, on a simulated device: nothing is written then.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "simulator/scan_launch.h"

namespace gdelta::scan {
namespace {

constexpr Path kPaths[] = {Path::automatic, Path::group, Path::stream, Path::cluster,
                           Path::resident};
constexpr std::uint64_t kCount = 40'000;

Shape shape_of(std::uint64_t count = kCount) {
  Shape shape;
  shape.order = 2;
  shape.type = Type::u32;
  shape.count = count;
  return shape;
}

/// Values of which nobody may change one.
class Refused {
 public:
  /// `in` and `out` are bytes behind the first value; the scratch lacks `missing` bytes.
  void by(const Shape& shape, Path path, std::size_t in, std::size_t out, std::size_t missing,
          const char* why) {
    const std::size_t needed = scratch_bytes(shape, path, 0);
    if (missing > needed) return;
    const ScanScratch scratch(needed);
    auto* const bytes = reinterpret_cast<unsigned char*>(values_.data());
    EXPECT_EQ(launch_scan(shape, path, bytes + in, bytes + out, scratch.data(), needed - missing,
                          nullptr),
              cudaErrorInvalidValue)
        << why << ", path " << name_of(path);
    EXPECT_TRUE(std::all_of(values_.begin(), values_.end(), [](auto value) { return value == 7; }))
        << why << ", path " << name_of(path);
  }

 private:
  std::vector<std::uint32_t> values_ = std::vector<std::uint32_t>(3 * kCount, 7);
};

TEST(ScanRefusalsSimulator, ScratchThatIsTooSmallIsRefused) {
  for (const Path path : kPaths) {
    const std::size_t needed = scratch_bytes(shape_of(), path, 0);
    const bool on_chip = path == Path::automatic || path == Path::cluster;
    EXPECT_TRUE(on_chip || needed > 0) << name_of(path);
    if (needed == 0) continue;
    for (const std::size_t missing : {std::size_t{1}, needed / 2, needed})
      Refused().by(shape_of(), path, 0, 0, missing, "too little scratch");
  }
}

TEST(ScanRefusalsSimulator, BuffersThatAreNotAlignedAreRefused) {
  for (const Path path : kPaths) {
    for (const std::size_t skew : {1, 2, 3}) {
      Refused().by(shape_of(), path, skew, skew, 0, "not aligned");
      Refused().by(shape_of(), path, skew, 4 * kCount, 0, "input not aligned");
      Refused().by(shape_of(), path, 0, 4 * kCount + skew, 0, "output not aligned");
    }
  }
}

TEST(ScanRefusalsSimulator, BuffersThatOverlapAreRefused) {
  for (const Path path : kPaths) {
    for (const std::size_t apart : {std::size_t{4}, std::size_t{4096}, 4 * (kCount - 1)}) {
      Refused().by(shape_of(), path, 0, apart, 0, "output overlaps behind");
      Refused().by(shape_of(), path, apart, 0, 0, "output overlaps before");
    }
  }
}

TEST(ScanRefusalsSimulator, NeighbouringBuffersAreTaken) {
  for (const bool out_first : {false, true}) {
    std::vector<std::uint32_t> values(2 * kCount, 1);
    const ScanScratch scratch(scratch_bytes(shape_of(), Path::group, 0));
    std::uint32_t* const low = values.data();
    std::uint32_t* const high = low + kCount;
    std::uint32_t* const in = out_first ? high : low;
    std::uint32_t* const out = out_first ? low : high;
    ASSERT_EQ(
        launch_scan(shape_of(), Path::group, in, out, scratch.data(), scratch.size(), nullptr),
        cudaSuccess);
    EXPECT_EQ(out[kCount - 1], static_cast<std::uint32_t>(kCount * (kCount + 1) / 2));
    EXPECT_EQ(in[kCount - 1], 1u);
  }
}

TEST(ScanRefusalsSimulator, ShapesAndPathsThatCannotBeAreRefused) {
  Refused refused;
  Shape shape = shape_of();
  shape.order = 0;
  refused.by(shape, Path::group, 0, 0, 0, "order 0");
  shape.order = 9;
  refused.by(shape, Path::group, 0, 0, 0, "order 9");
  shape.order = 1;
  shape.tuple = 0;
  refused.by(shape, Path::group, 0, 0, 0, "tuple 0");
  shape.tuple = 1;
  shape.type = Type::f32;
  shape.op = Operator::bit_xor;
  refused.by(shape, Path::group, 0, 0, 0, "xor of floats");
  refused.by(shape_of(), Path::single, 0, 0, 0, "more than one tile on the path of one");
  std::uint32_t values[8] = {};
  EXPECT_EQ(launch_scan(shape_of(8), Path::group, nullptr, values, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(launch_scan(shape_of(8), Path::group, values, nullptr, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace gdelta::scan
