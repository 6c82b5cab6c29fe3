// Prefix scans of any order over tuples of any size: the primitive that undoes delta coding, on its
// own.
//
// A scan of order q is q scans, one after the other, in one read and one write of the data. In a
// build without CUDA the device calls answer unsupported_backend. A caller's own operator:
// gdelta/scan_custom.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gdelta/types.h"

struct CUstream_st;

namespace gdelta {

/// Integers wrap at the width of their type. `max` and `min` of floating-point values follow the
/// order of their bits (-NaN < -infinity < ... < -0 < +0 < ... < infinity < NaN). Bitwise operators
/// refuse floating point.
enum class ScanOperator : std::uint8_t { sum, product, max, min, bit_xor, bit_and, bit_or };

/// One scan of `count` values.
struct Scan {
  ScanOperator op = ScanOperator::sum;
  ValueType type = ValueType::u32;  ///< any but i24 and u24
  int order = 1;                    ///< 1 ... kMaxOrder
  std::uint64_t tuple = 1;          ///< lanes; any stride of 1 or more
  bool exclusive = false;           ///< shifted by one tuple, once; starts with the identity
  bool backward = false;            ///< sums run from the last value to the first
  std::uint64_t count = 0;          ///< values, not tuples; need not be a multiple of the tuple
};

/// Scans in host memory, with all threads of the machine.
/// Shapes      in, out [scan.count], aligned to the type; the same buffer, or disjoint
/// Errors      invalid_argument, out_of_memory
/// Threads     any
Result<void> scan_host(const Scan& scan, const void* in, void* out);

/// Scratch that `scan_device` needs on the current device. Grows with order * tuple; for inputs
/// below some megabytes, unusual operators and strides above 64 it also grows with the number of
/// values (order * tuple * 8 or 16 bytes for every 8 to 18 KiB of them).
/// Errors      invalid_argument, unsupported_backend, device_error (no device)
Result<std::size_t> scan_scratch_bytes(const Scan& scan);

/// Enqueues a scan in device memory. Allocates nothing and waits for nothing; may be captured into
/// a graph.
/// Shapes      in, out [scan.count], device memory, aligned to the type; the same buffer, or
///             disjoint; fastest if both have the same address mod 16
///             scratch [scratch_bytes], 256-byte aligned, not shared with a scan that may run at
///             the same time; its contents do not matter
/// Errors      invalid_argument, output_too_small (scratch), unsupported_backend, device_error (a
///             launch failed)
/// Complexity  one read and one write of the data and two launches
/// Threads     any; work is ordered by `stream`, on the current device in its primary context, which
///             nobody resets between scans
///
/// Floating-point sums and products are combined in a fixed tree: the same bits on every run for
/// one device, policy table, shape and alignment. f16 and bf16 accumulate in float and are rounded
/// when a value is written, once for each order; an order above 1 means exactly that many scans,
/// each from the rounded values of the one before.
Result<void> scan_device(const Scan& scan, const void* in, void* out, void* scratch,
                         std::size_t scratch_bytes, ::CUstream_st* stream);

}  // namespace gdelta
