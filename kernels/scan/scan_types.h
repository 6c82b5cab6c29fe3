// What a scan is asked for, in words that the CPU loop, the CUDA launchers and the codec share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta::scan {

enum class Operator : std::uint8_t { sum, product, max, min, bit_xor, bit_and, bit_or };
enum class Type : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

/// Which kernel runs. `automatic` picks by size, alignment and device; the others are for tests and
/// benches.
enum class Path : std::uint8_t {
  automatic,
  single,   ///< one tile, one block, no exchange
  group,    ///< a block a tile, sums exchanged inside fixed groups of tiles; any device, any stride
  stream,   ///< persistent blocks fed by bulk copies; sm_90 and newer
  cluster,  ///< one block, or one cluster of blocks; sm_90 and newer
  resident,  ///< a block a multiprocessor, each keeps its share on the chip; sm_90 and newer
};

constexpr int kMaxOrder = 8;
constexpr std::uint64_t kMaxInterleavedTuple = 64;  ///< a larger tuple is scanned by columns

/// One scan: `count` values, lanes `tuple` values apart. `in` and `out` are the same buffer or do
/// not overlap; both are aligned to their type.
struct Shape {
  Operator op = Operator::sum;
  Type type = Type::u32;
  int order = 1;            ///< 1 ... kMaxOrder
  std::uint64_t tuple = 1;  ///< 1 or more
  bool exclusive = false;   ///< result shifted by one tuple, whatever the order
  bool backward = false;    ///< sums run from the last value to the first
  std::uint64_t count = 0;
};

constexpr int type_bytes(Type type) {
  switch (type) {
    case Type::i8:
    case Type::u8:
      return 1;
    case Type::i16:
    case Type::u16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::i32:
    case Type::u32:
    case Type::f32:
      return 4;
    case Type::i64:
    case Type::u64:
    case Type::f64:
      return 8;
  }
  return 0;
}

constexpr bool is_float(Type type) { return type >= Type::f16; }
constexpr bool is_signed(Type type) {
  return type == Type::i8 || type == Type::i16 || type == Type::i32 || type == Type::i64;
}

/// Taking the maximum twice is taking it once: any order is order 1.
constexpr bool is_idempotent(Operator op) {
  return op == Operator::max || op == Operator::min || op == Operator::bit_and ||
         op == Operator::bit_or;
}

/// Minimum is maximum, and `and` is `or`, of complements; signed and floating-point values become
/// unsigned keys of the same order. `key = (x ^ ((x >> top) & fold)) ^ flip`, with an arithmetic
/// shift, and back the same way.
struct KeyMap {
  std::uint64_t fold =
      0;  ///< float: all bits but the sign, so that sign and magnitude become two's complement
  std::uint64_t flip = 0;  ///< sign bit for signed order, all bits for a complement
  /// The value of key 0. Of a float's that is a NaN, the last in its direction; an exclusive scan,
  /// where key 0 is what it starts with, writes an infinity for it.
  std::uint64_t lowest = 0;
};

constexpr KeyMap key_map(const Shape& shape) {
  const Operator op = shape.op;
  const Type type = shape.type;
  const int bits = 8 * type_bytes(type);
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  KeyMap map;
  if (op == Operator::max || op == Operator::min) {
    if (is_float(type)) map.fold = all ^ sign;
    if (is_float(type) || is_signed(type)) map.flip = sign;
  }
  if (op == Operator::min || op == Operator::bit_and) map.flip ^= all;
  map.lowest = (map.flip & sign) != 0 ? map.flip ^ map.fold : map.flip;
  if (is_float(type) && shape.exclusive) {
    const std::uint64_t infinity = type == Type::f16    ? 0x7c00
                                   : type == Type::bf16 ? 0x7f80
                                   : type == Type::f32  ? 0x7f800000
                                                        : 0x7ff0000000000000;
    map.lowest = op == Operator::max ? infinity | sign : infinity;
  }
  return map;
}

/// Bitwise operators have no meaning on floating-point values; orders and tuples have bounds.
constexpr bool is_valid(const Shape& shape) {
  if (shape.order < 1 || shape.order > kMaxOrder || shape.tuple < 1) return false;
  if (shape.op > Operator::bit_or || shape.type > Type::f64) return false;
  if (shape.count > (std::uint64_t{1} << 60) / type_bytes(shape.type)) return false;
  return !(is_float(shape.type) && shape.op >= Operator::bit_xor);
}

}  // namespace gdelta::scan
