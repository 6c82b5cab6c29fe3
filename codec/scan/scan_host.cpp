#include <cstdint>
#include <memory>
#include <new>

#include "codec/scan/scan_shape.h"
#include "kernels/scan/scan_cpu.h"

namespace gdelta {
namespace {

bool kernel_type(ValueType type, scan::Type& result) {
  switch (type) {
    case ValueType::i8:
      result = scan::Type::i8;
      return true;
    case ValueType::u8:
      result = scan::Type::u8;
      return true;
    case ValueType::i16:
      result = scan::Type::i16;
      return true;
    case ValueType::u16:
      result = scan::Type::u16;
      return true;
    case ValueType::i32:
      result = scan::Type::i32;
      return true;
    case ValueType::u32:
      result = scan::Type::u32;
      return true;
    case ValueType::i64:
      result = scan::Type::i64;
      return true;
    case ValueType::u64:
      result = scan::Type::u64;
      return true;
    case ValueType::f16:
      result = scan::Type::f16;
      return true;
    case ValueType::bf16:
      result = scan::Type::bf16;
      return true;
    case ValueType::f32:
      result = scan::Type::f32;
      return true;
    case ValueType::f64:
      result = scan::Type::f64;
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<scan::Shape> scan_shape(const Scan& scan) {
  scan::Shape shape;
  if (!kernel_type(scan.type, shape.type)) {
    return fail(Errc::invalid_argument, "a scan takes values of 1, 2, 4 or 8 bytes");
  }
  shape.op = static_cast<scan::Operator>(scan.op);
  shape.order = scan.order;
  shape.tuple = scan.tuple;
  shape.exclusive = scan.exclusive;
  shape.backward = scan.backward;
  shape.count = scan.count;
  if (!scan::is_valid(shape)) {
    return fail(Errc::invalid_argument,
                "a scan has an order of 1 to 8, a tuple of at least 1 and an operator that its "
                "type allows");
  }
  return shape;
}

Result<void> scan_host(const Scan& scan, const void* in, void* out) {
  const Result<scan::Shape> shape = scan_shape(scan);
  if (!shape) return tl::unexpected(shape.error());
  if (shape->count == 0) return {};
  const auto from = reinterpret_cast<std::uintptr_t>(in);
  const auto to = reinterpret_cast<std::uintptr_t>(out);
  const std::uintptr_t bytes = shape->count * scan::type_bytes(shape->type);
  if (in == nullptr || out == nullptr || ((from | to) % scan::type_bytes(shape->type)) != 0) {
    return fail(Errc::invalid_argument, "a scan needs buffers aligned to its type");
  }
  if (from != to && from < to + bytes && to < from + bytes) {
    return fail(Errc::invalid_argument, "the buffers of a scan are the same or do not overlap");
  }
  try {
    const auto scratch = std::make_unique_for_overwrite<std::uint64_t[]>(
        scan::scan_cpu_scratch_bytes(*shape) / sizeof(std::uint64_t) + 1);
    scan::scan_cpu(*shape, in, out, scratch.get());
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "memory is too short for the states of a scan");
  }
  return {};
}

}  // namespace gdelta
