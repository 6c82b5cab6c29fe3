// For scan_stress: random scans, and what each has to fulfil.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "bench/scan_names.h"
#include "kernels/device/host_device.h"
#include "kernels/scan/scan_cuda.h"

namespace gdelta::bench {

using scan::Operator;
using scan::Path;
using scan::Shape;
using scan::Type;

/// Bits that look random.
GDELTA_HD inline std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_ += 0x632be59bd9b4e019); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// 0 ... 2^bits, every magnitude as often as another.
  std::uint64_t magnitude(int bits) {
    const int b = static_cast<int>(below(bits + 1));
    return b == 0 ? below(2)
                  : (std::uint64_t{1} << (b - 1)) + below((std::uint64_t{1} << (b - 1)) + 1);
  }

 private:
  std::uint64_t state_;
};

enum class Rule : std::uint8_t {
  differences,   // sums: the differences of order q are the input
  parity,        // xor: the same over GF(2)
  ratios,        // products of odd numbers: both sides of the ratio of order q
  recurrence,    // maximum, minimum, and, or
  float_sum,     // sums that are exact in their type
  float_sign,    // products of 1 and -1
  only_repeats,  // other sums of floats: the same bits twice
};

struct Task {
  Shape shape;
  Path path = Path::automatic;
  bool in_place = false;
  int in_offset = 0;  // in values
  int out_offset = 0;
  Rule rule = Rule::differences;
  bool custom = false;  // affine maps by scan_custom; shape.type does not matter
  std::uint64_t data_seed = 0;

  int value_bytes() const { return custom ? 8 : type_bytes(shape.type); }
  std::string text() const {
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s %s order %d tuple %llu count %llu%s%s%s in+%d out+%d path %s data %llx",
                  custom ? "custom" : op_name(shape.op), custom ? "affine" : type_name(shape.type),
                  shape.order, (unsigned long long)shape.tuple, (unsigned long long)shape.count,
                  shape.exclusive ? " exclusive" : "", shape.backward ? " backward" : "",
                  in_place ? " in place" : "", in_offset, out_offset, path_name(path),
                  (unsigned long long)data_seed);
    return line;
  }
};

/// Integers up to which every one is a value of the type.
inline double exact_limit(Type type) {
  switch (type) {
    case Type::bf16:
      return 256;
    case Type::f16:
      return 2048;
    case Type::f32:
      return 16777216;
    default:
      return 7e13;  // and binomials times it are still exact in double
  }
}

inline Rule rule_of(const Shape& shape) {
  if (!is_float(shape.type)) {
    if (shape.op == Operator::sum) return Rule::differences;
    if (shape.op == Operator::product) return Rule::ratios;
    return shape.op == Operator::bit_xor ? Rule::parity : Rule::recurrence;
  }
  if (shape.op == Operator::product) return Rule::float_sign;
  if (shape.op != Operator::sum) return Rule::recurrence;
  const double rows = 1 + static_cast<double>(shape.count) / static_cast<double>(shape.tuple);
  double largest = 1;
  for (int q = 0; q < shape.order; ++q) largest *= rows;
  return largest <= exact_limit(shape.type) ? Rule::float_sum : Rule::only_repeats;
}

inline Task random_task(Random& random, int most_bits) {
  Task task;
  task.data_seed = random.next();
  const int bits = random.below(100) < 3 ? std::min(27, most_bits) : std::min(24, most_bits);
  Shape& shape = task.shape;
  shape.count = random.magnitude(bits);
  if (random.one_in(12)) {
    task.custom = true;
    shape.order = 1 + static_cast<int>(random.below(2));
    shape.tuple = random.one_in(2) ? 1 : 1 + random.below(64);
    shape.exclusive = shape.order == 1 && random.one_in(3);
    shape.count = std::min<std::uint64_t>(shape.count, 1 << 24);
    task.in_place = random.one_in(4);
    return task;
  }
  do {
    shape.op = random.one_in(2) ? Operator::sum : Operator(random.below(7));
    shape.type = Type(random.below(12));
  } while (!is_valid(shape));
  shape.order = random.one_in(3) ? 1 : 1 + static_cast<int>(random.below(scan::kMaxOrder));
  switch (random.below(8)) {
    case 0:
    case 1:
      shape.tuple = 1;
      break;
    case 2:
    case 3:
    case 4:
      shape.tuple = 1 + random.below(8);
      break;
    case 5:
      shape.tuple = 1 + random.below(64);
      break;
    case 6:
      shape.tuple = 65 + random.below(2000);
      break;
    default:
      shape.tuple = 1 + random.magnitude(21);
  }
  shape.exclusive = random.one_in(3);
  shape.backward = random.one_in(3);
  task.in_place = random.one_in(3);
  if (random.one_in(2)) {
    task.in_offset = static_cast<int>(random.below(16));
    task.out_offset = random.one_in(2) ? task.in_offset : static_cast<int>(random.below(16));
  }
  if (task.in_place) task.out_offset = task.in_offset;
  if (!random.one_in(4)) task.path = Path(random.below(1 + int(Path::resident)));
  if (!can_take(shape, task.path, 0)) task.path = Path::automatic;
  task.rule = rule_of(shape);
  return task;
}

}  // namespace gdelta::bench
