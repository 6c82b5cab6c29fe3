// The scan on the CPU: threads over blocks of tuples, plain loops over lanes that the compiler
// turns into SIMD.
#pragma once

#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

/// Scans `shape.count` values in host memory, with the same results as the device for every
/// operator on integers, and for minimum and maximum of floating-point values.
/// Shapes      in, out [shape.count], the same or disjoint; scratch [scan_cpu_scratch_bytes(shape)],
///             8-byte aligned, whatever it holds
/// Complexity  two reads and one write of the data for every order, one read and one write if
///             one thread does it all
/// Threads     uses the threads of the caller's TBB arena. Floating-point sums and products are
///             combined in blocks of a fixed size, so their bits do not depend on the number of
///             threads; they differ from the device's, whose tree is another one.
/// Requires    is_valid(shape)
void scan_cpu(const Shape& shape, const void* in, void* out, void* scratch);

/// Scratch that `scan_cpu` needs.  Units: bytes
std::size_t scan_cpu_scratch_bytes(const Shape& shape);

}  // namespace gdelta::scan
