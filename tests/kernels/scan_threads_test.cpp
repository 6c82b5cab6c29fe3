// Floating-point sums and products on the CPU: the same bits for any number of threads, though none of
// them is exact.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstring>
#include <random>

#include "kernels/scan/algebra/half_float.h"
#include "kernels/scan/scan_cpu.h"
#include "tests/kernels/scan_on_cpu.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {
namespace {

std::vector<unsigned char> scanned(const Shape& shape, const std::vector<unsigned char>& in,
                                   int threads) {
  // More threads than this machine may have.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 16);
  std::vector<unsigned char> out(in.size());
  tbb::task_arena(threads).execute([&] { scan_on_cpu(shape, in.data(), out.data()); });
  return out;
}

template <class Value>
void append(std::vector<unsigned char>& bytes, Value value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::vector<unsigned char> values_near_one(const Shape& shape) {
  std::mt19937_64 random(11);
  std::vector<unsigned char> bytes;
  for (std::uint64_t i = 0; i < shape.count; ++i) {
    const double sign = shape.op == Operator::sum && random() % 2 != 0 ? -1 : 1;
    const double value = sign * (1 + (static_cast<double>(random() % 2001) - 1000) * 1e-4);
    const auto narrow = static_cast<float>(value);
    if (shape.type == Type::f16) append(bytes, Binary16::from_float(narrow));
    if (shape.type == Type::bf16) append(bytes, BFloat16::from_float(narrow));
    if (shape.type == Type::f32) append(bytes, narrow);
    if (shape.type == Type::f64) append(bytes, value);
  }
  return bytes;
}

TEST(ScanThreads, FloatingPointHasTheSameBitsForAnyNumberOfThem) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    for (const Operator op : {Operator::sum, Operator::product})
      for (const std::uint64_t tuple : {1, 3, 300'000}) {
        const Shape shape{
            .op = op, .type = type, .order = tuple == 3 ? 2 : 1, .tuple = tuple, .count = 600'011};
        const auto in = values_near_one(shape);
        const auto alone = scanned(shape, in, 1);
        for (const int threads : {2, 5})
          ASSERT_TRUE(scanned(shape, in, threads) == alone) << describe(shape) << ' ' << threads;
      }
}

}  // namespace
}  // namespace gdelta::scan
