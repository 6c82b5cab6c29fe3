// Scans for compute-sanitizer, whose racecheck takes a quarter of a second a launch: every kernel with narrow, usual and wide
// values and states, and no more values than its exchange needs.
#ifdef GDELTA_HAS_CUDA
#include "tests/kernels/scan_cuda_check.h"

namespace gdelta::scan {
namespace {

void expect_scan(const Shape& shape, Path path, Placement placement = {}) {
  if (!takes(shape, path)) return;
  EXPECT_TRUE(check(shape, path, placement)) << describe(shape) << " path " << int(path);
}

template <std::size_t kShapes>
void expect_scans(const Shape (&shapes)[kShapes], Path path) {
  for (const Shape& shape : shapes) expect_scan(shape, path);
}

/// Three whole tiles for every block, and a few values in a fourth.
Shape of_three_rounds(Shape shape) {
  const StreamReport stream = describe_stream(shape, 0);
  shape.count = std::uint64_t{3} * stream.blocks * stream.tile_values + 13;
  return shape;
}

TEST(ScanCudaSmall, Stream) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8},
      {.type = Type::u8, .order = 2, .tuple = 3},
      {.type = Type::u8, .order = 8},
      {.type = Type::u16, .order = 2, .tuple = 33, .exclusive = true},
      {.type = Type::u32},
      {.type = Type::u32, .tuple = 3, .backward = true},
      {.type = Type::u32, .tuple = 33},
      {.type = Type::u32, .order = 2, .exclusive = true},
      {.type = Type::u32, .order = 2, .tuple = 3},
      {.type = Type::u32, .order = 2, .tuple = 33},
      {.type = Type::u32, .order = 8},
      {.type = Type::u32, .order = 8, .tuple = 3},
      {.type = Type::u32, .order = 8, .tuple = 33},
      {.type = Type::u64},
      {.type = Type::u64, .tuple = 3},
      {.type = Type::u64, .order = 2, .tuple = 33, .backward = true},
      {.type = Type::u64, .order = 8},
      {.type = Type::u64, .order = 8, .tuple = 3, .exclusive = true},
      {.type = Type::f32},
      {.type = Type::f32, .tuple = 3},
      {.op = Operator::bit_xor, .type = Type::u32},
      {.op = Operator::max, .type = Type::u64, .tuple = 3},
  };
  for (const Shape& shape : shapes) expect_scan(of_three_rounds(shape), Path::stream);
  expect_scan(of_three_rounds({.type = Type::u32}), Path::stream, {1, 1, false});
  expect_scan(of_three_rounds({.type = Type::u8, .order = 2}), Path::stream, {3, 0, true});
}

TEST(ScanCudaSmall, Group) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      // Two groups of tiles.
      {.type = Type::u8, .count = 450'001},
      {.type = Type::u8, .order = 8, .tuple = 3, .count = 450'001},
      {.type = Type::u32, .count = 112'501},
      {.type = Type::u32, .order = 2, .tuple = 3, .exclusive = true, .count = 112'501},
      {.type = Type::u32, .order = 8, .tuple = 33, .count = 112'501},
      {.type = Type::u64, .order = 2, .backward = true, .count = 56'251},
      {.type = Type::u64, .order = 8, .tuple = 3, .count = 56'251},
      {.type = Type::f32, .count = 112'501},
      {.type = Type::f32, .order = 2, .tuple = 3, .count = 3'001},
      {.op = Operator::product, .type = Type::u32, .order = 2, .count = 112'501},
      {.op = Operator::bit_xor, .type = Type::u64, .order = 2, .tuple = 33, .count = 56'251},
      // Two chapters, tiles from the counter.
      {.type = Type::u64, .count = 4'000'001},
  };
  expect_scans(shapes, Path::group);
  expect_scan({.type = Type::u32, .order = 2, .count = 112'501}, Path::group, {1, 2, false});
}

TEST(ScanCudaSmall, Columns) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8, .order = 2, .tuple = 100, .count = 400'001},
      {.type = Type::u32, .tuple = 100, .exclusive = true, .count = 200'001},
      {.type = Type::u32, .order = 8, .tuple = 1000, .count = 300'001},
      {.type = Type::u64, .order = 2, .tuple = 65, .backward = true, .count = 100'001},
      {.type = Type::f32, .order = 2, .tuple = 1000, .count = 300'001},
      {.op = Operator::max, .type = Type::u32, .tuple = 100, .count = 200'001},
      {.type = Type::u32, .order = 2, .tuple = 90'001, .count = 400'001},  // walked
  };
  expect_scans(shapes, Path::group);
  expect_scan({.type = Type::u32, .tuple = 1000, .count = 300'001}, Path::group, {1, 2, false});
}

TEST(ScanCudaSmall, Single) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8, .order = 2, .tuple = 33, .count = 5'001},
      {.type = Type::u32, .count = 1'001},
      {.type = Type::u64, .order = 8, .tuple = 3, .exclusive = true, .count = 501},
      {.type = Type::f32, .order = 2, .backward = true, .count = 1'001},
      {.type = Type::u32, .tuple = 100, .count = 1'001},
  };
  expect_scans(shapes, Path::single);
}

/// Paths on the chip: order 1 of aligned contiguous values stays in registers, the rest in shared
/// memory.
void expect_on_chip(Path path, std::uint64_t bytes) {
  const Shape shapes[] = {
      {.type = Type::u8},
      {.type = Type::u8, .order = 8, .tuple = 3},
      {.type = Type::u32},
      {.type = Type::u32, .backward = true},
      {.type = Type::u32, .order = 8},
      {.type = Type::u64, .exclusive = true},
      {.type = Type::u64, .order = 2, .tuple = 3},
      {.type = Type::u64, .order = 8, .tuple = 33},
      {.type = Type::f32},
      {.op = Operator::bit_xor, .type = Type::u32, .order = 2, .tuple = 3, .exclusive = true},
      {.op = Operator::max, .type = Type::u32},
  };
  for (Shape shape : shapes) {
    shape.count = bytes / type_bytes(shape.type) + 1;
    expect_scan(shape, path);
  }
  expect_scan({.type = Type::u32, .count = bytes / 4 + 1}, path, {1, 1, false});
  expect_scan({.op = Operator::product, .type = Type::u32, .order = 2, .count = bytes / 4 + 1},
              path);
}

TEST(ScanCudaSmall, Cluster) {
  GDELTA_NEEDS_DEVICE();
  expect_on_chip(Path::cluster, 100'000);
  expect_scan({.type = Type::u32, .count = 1'001}, Path::cluster);  // one block
  expect_scan({.type = Type::u64, .order = 2, .tuple = 3, .count = 501}, Path::cluster);
}

TEST(ScanCudaSmall, Resident) {
  GDELTA_NEEDS_DEVICE();
  expect_on_chip(Path::resident, 800'000);
  expect_scan({.type = Type::u32, .count = 2'500'001}, Path::resident);  // more in registers
  expect_scan({.type = Type::u32, .count = 5'000'001}, Path::resident);  // and in shared memory
}

}  // namespace
}  // namespace gdelta::scan
#endif  // GDELTA_HAS_CUDA
