// The kernels of the scan on a simulated device: every path against the serial reference, in random
// orders of warps. Small: a simulated value costs about a microsecond. What a GPU alone can show,
// its memory model and its speed, is for scan_cuda_test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernels/scan_lowest_cases.h"
#include "simulator/device.h"
#include "simulator/scan_launch.h"

namespace gdelta::scan {
namespace {

/// Scans on the simulated device and compares.
template <class Value>
::testing::AssertionResult agrees(const Shape& shape, Path path, std::size_t offset = 0) {
  if (!can_take(shape, path, 0)) return ::testing::AssertionFailure() << "cannot take this path";
  const std::vector<Value> values = random_values<Value>(shape.count, shape.count, shape.op);
  std::vector<Value> expected = values;
  reference_scan(shape, expected);
  // Room for an offset, and values behind the end that nobody may touch.
  std::vector<Value> buffer(shape.count + offset + 16, Value(77));
  std::copy(values.begin(), values.end(), buffer.begin() + static_cast<std::ptrdiff_t>(offset));
  const ScanScratch scratch(scratch_bytes(shape, path, 0));
  const cudaError_t error = launch_scan(shape, path, buffer.data() + offset, buffer.data() + offset,
                                        scratch.data(), scratch.size(), nullptr);
  if (error != cudaSuccess) return ::testing::AssertionFailure() << "launch: error " << int(error);
  for (std::size_t i = 0; i < shape.count; ++i) {
    if (std::memcmp(&buffer[i + offset], &expected[i], sizeof(Value)) != 0)
      return ::testing::AssertionFailure() << "value " << i << " differs";
  }
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    if ((i < offset || i >= offset + shape.count) && buffer[i] != Value(77))
      return ::testing::AssertionFailure() << "wrote outside at " << i;
  }
  if (!scratch.is_whole()) return ::testing::AssertionFailure() << "wrote behind the scratch";
  return ::testing::AssertionSuccess();
}

template <class Value>
void expect_on(Path path, Operator op, Type type, int order, std::uint64_t tuple,
               std::uint64_t count, bool exclusive = false, bool backward = false,
               std::size_t offset = 0) {
  const Shape shape{.op = op,
                    .type = type,
                    .order = order,
                    .tuple = tuple,
                    .exclusive = exclusive,
                    .backward = backward,
                    .count = count};
  EXPECT_TRUE(agrees<Value>(shape, path, offset)) << describe(shape) << " path " << name_of(path);
}

TEST(ScanSimulator, StreamOfEveryOrder) {
  for (int order = 1; order <= 8; ++order) {
    expect_on<std::uint32_t>(Path::stream, Operator::sum, Type::u32, order, 1, 130'001);
    expect_on<std::uint64_t>(Path::stream, Operator::sum, Type::u64, order, 1, 70'001,
                             order % 2 == 1);
  }
}

TEST(ScanSimulator, StreamOfEveryKindOfTuple) {
  for (const std::uint64_t tuple : {2, 3, 4, 7, 8, 16, 31, 33, 64}) {
    expect_on<std::uint32_t>(Path::stream, Operator::sum, Type::u32, 2, tuple, 120'001, false,
                             tuple == 3);
    expect_on<std::uint64_t>(Path::stream, Operator::sum, Type::u64, 5, tuple, 50'001);
  }
}

TEST(ScanSimulator, StreamOfManyRounds) {
  // More rounds than the ring of sums has.
  expect_on<std::uint32_t>(Path::stream, Operator::sum, Type::u32, 2, 1, 1'200'007);
  expect_on<std::uint64_t>(Path::stream, Operator::max, Type::u64, 1, 3, 600'007);
}

TEST(ScanSimulator, StreamOfOtherOperatorsAndTypes) {
  for (const Operator op : {Operator::product, Operator::max, Operator::min, Operator::bit_xor,
                            Operator::bit_and, Operator::bit_or}) {
    expect_on<std::uint32_t>(Path::stream, op, Type::u32, 1, 1, 130'001, true);
    expect_on<std::int64_t>(Path::stream, op, Type::i64, 1, 5, 70'001);
  }
  expect_on<float>(Path::stream, Operator::sum, Type::f32, 1, 1, 130'001);
  expect_on<double>(Path::stream, Operator::sum, Type::f64, 1, 40, 70'001);
  expect_on<std::uint8_t>(Path::stream, Operator::sum, Type::u8, 3, 1, 200'001);
  expect_on<std::uint16_t>(Path::stream, Operator::sum, Type::u16, 2, 2, 150'001, false, true);
}

TEST(ScanSimulator, ALowestNaNComesBackFromMinimumAndMaximum) {
  for (const std::uint64_t count : {3, 1'000, 40'003}) {
    for (const LowestCase& made : lowest_cases(count, count / 2 + 3)) {
      for (const Path path :
           {Path::single, Path::group, Path::stream, Path::cluster, Path::resident}) {
        if (!can_take(made.shape, path, 0)) continue;
        std::vector<unsigned char> values = made.in;
        ASSERT_EQ(launch_in_place(made.shape, path, values.data()), cudaSuccess);
        EXPECT_TRUE(values == made.expected) << describe(made.shape) << " path " << name_of(path);
      }
    }
  }
}

TEST(ScanSimulator, ShortInputsOnEveryPath) {
  for (const Path path : {Path::single, Path::group, Path::cluster, Path::resident}) {
    for (const std::uint64_t count : {1, 2, 31, 257, 1'003, 20'011}) {
      if (path == Path::single && count > 2'000) continue;
      expect_on<std::uint32_t>(path, Operator::sum, Type::u32, 1, 1, count);
      expect_on<std::uint32_t>(path, Operator::sum, Type::u32, 3, 1, count, true);
      expect_on<std::uint64_t>(path, Operator::sum, Type::u64, 2, 3, count, false, true);
      expect_on<std::uint8_t>(path, Operator::bit_xor, Type::u8, 2, 5, count);
      expect_on<std::int16_t>(path, Operator::min, Type::i16, 1, 1, count, true, true);
      expect_on<double>(path, Operator::sum, Type::f64, 1, 1, count);
    }
  }
}

TEST(ScanSimulator, UnalignedBuffersOnEveryPath) {
  for (const Path path : {Path::group, Path::stream, Path::cluster, Path::resident}) {
    expect_on<std::uint32_t>(path, Operator::sum, Type::u32, 2, 1, 30'001, false, false, 1);
    expect_on<std::uint8_t>(path, Operator::sum, Type::u8, 1, 3, 90'001, false, false, 7);
    expect_on<std::uint16_t>(path, Operator::sum, Type::u16, 1, 1, 50'001, true, true, 3);
  }
}

TEST(ScanSimulator, UnalignedBuffersThatOnlyRegistersCouldHold) {
  const auto count = 350'003u;
  expect_on<std::uint32_t>(Path::resident, Operator::sum, Type::u32, 1, 1, count);
  expect_on<std::uint32_t>(Path::resident, Operator::sum, Type::u32, 1, 1, count, true, false, 1);
}

TEST(ScanSimulator, GroupsInChapters) {
  expect_on<std::uint32_t>(Path::group, Operator::sum, Type::u32, 2, 1, 900'001);
  expect_on<std::uint32_t>(Path::group, Operator::product, Type::u32, 2, 1, 200'001);
  expect_on<std::uint64_t>(Path::group, Operator::bit_xor, Type::u64, 4, 17, 150'001, true);
}

TEST(ScanSimulator, Columns) {
  for (const std::uint64_t stride : {65, 100, 1'000, 100'003}) {
    expect_on<std::uint32_t>(Path::group, Operator::sum, Type::u32, 2, stride, 250'001);
    expect_on<std::uint64_t>(Path::group, Operator::sum, Type::u64, 1, stride, 250'001, true, true);
    expect_on<float>(Path::group, Operator::sum, Type::f32, 2, stride, 2'500);
  }
}

TEST(ScanSimulator, AutomaticPath) {
  for (const std::uint64_t count : {0, 1, 3'000, 70'000, 400'000}) {
    expect_on<std::uint32_t>(Path::automatic, Operator::sum, Type::u32, 2, 1, count);
  }
}

/// One random scan: operator, type, order, tuple, length, direction, alignment, path. False if
/// that path cannot take it.
template <class Value>
bool expect_random(std::mt19937_64& random, Type type) {
  const auto up_to = [&](std::uint64_t n) { return random() % (n + 1); };
  Shape shape;
  shape.type = type;
  shape.op =
      static_cast<Operator>(up_to(is_float(type) ? int(Operator::min) : int(Operator::bit_or)));
  // Floating-point sums stay exact only while they are small.
  shape.order = static_cast<int>(1 + up_to(is_float(type) ? 0 : kMaxOrder - 1));
  shape.tuple = up_to(3) == 0 ? 1 : up_to(9) == 0 ? 65 + up_to(5'000) : 1 + up_to(63);
  shape.count = up_to(std::uint64_t{1} << (4 + up_to(14)));
  shape.exclusive = up_to(1) != 0;
  shape.backward = up_to(1) != 0;
  const auto path = static_cast<Path>(up_to(int(Path::resident)));
  const std::size_t offset = up_to(2) == 0 ? up_to(15) : 0;
  if (!is_valid(shape) || !can_take(shape, path, 0)) return false;
  EXPECT_TRUE(agrees<Value>(shape, path, offset)) << describe(shape) << " path " << name_of(path);
  return true;
}

bool expect_random(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0:
      return expect_random<std::uint8_t>(random, Type::u8);
    case 1:
      return expect_random<std::int16_t>(random, Type::i16);
    case 2:
      return expect_random<std::uint32_t>(random, Type::u32);
    case 3:
      return expect_random<std::int64_t>(random, Type::i64);
    case 4:
      return expect_random<float>(random, Type::f32);
    default:
      return expect_random<double>(random, Type::f64);
  }
}

/// GDELTA_SIMULATOR_SHAPES=10000 GDELTA_SIMULATOR_SEED=7 looks at others, and more of them.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(ScanSimulator, RandomShapes) {
  std::mt19937_64 random(number_from("GDELTA_SIMULATOR_SEED", 1));
  const std::uint64_t shapes = number_from("GDELTA_SIMULATOR_SHAPES", 250);
  for (std::uint64_t taken = 0; taken < shapes && !HasFailure();) taken += expect_random(random);
}

TEST(ScanSimulator, ManyTilesAreNumberedAsTheyBegin) {
  // More blocks than a device starts in order: a tile may not wait for one that has not begun.
  for (const std::uint64_t tuple : {33, 1'000}) {
    const Shape shape{.type = Type::u64, .order = 1, .tuple = tuple, .count = 720'000};
    std::vector<std::uint64_t> values(shape.count, 1);
    ASSERT_EQ(launch_in_place(shape, Path::group, values.data()), cudaSuccess);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i / tuple + 1) << i;
  }
}

TEST(ScanSimulator, SharedMemoryIsAskedForOnceAKernelAndDevice) {
  const auto scan = [](int order) {
    expect_on<std::uint32_t>(Path::resident, Operator::sum, Type::u32, order, 3, 90'001);
  };
  scan(3);
  const unsigned before = simulator::limits_set();
  scan(3);
  EXPECT_EQ(simulator::limits_set(), before);
  simulator::set_device(1);
  scan(3);
  EXPECT_EQ(simulator::limits_set(), before + 1);
  scan(3);
  EXPECT_EQ(simulator::limits_set(), before + 1);
  simulator::set_device(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&scan, t] {
      simulator::set_device(t % simulator::kDevices);
      for (int order = 1; order <= 4; ++order) scan(1 + (order + t) % 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ScanSimulator, OrderOfWarpsDoesNotMatter) {
  for (unsigned seed = 100; seed < 110; ++seed) {
    simulator::set_seed(seed);
    expect_on<std::uint32_t>(Path::stream, Operator::sum, Type::u32, 3, 2, 90'001);
    expect_on<std::uint32_t>(Path::resident, Operator::sum, Type::u32, 1, 1, 60'001);
    expect_on<std::uint32_t>(Path::cluster, Operator::sum, Type::u32, 2, 1, 30'001);
    expect_on<std::uint32_t>(Path::group, Operator::sum, Type::u32, 1, 70, 40'001);
  }
}

}  // namespace
}  // namespace gdelta::scan
