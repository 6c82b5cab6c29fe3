// CUB and Thrust beside ours: each shape the way their user would write it, launched as ours is.
// Orders are repeated scans. Tuples are structs; if a struct would not fit the registers, and for
// strides, a scan by key over iterators that walk lane after lane.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/scan/scan_types.h"

namespace gdelta::bench {

/// Values that CUB and Thrust scan: structs leave out a last row that is not full.
std::uint64_t peer_count(const scan::Shape& shape);

/// CUB's convention: null scratch asks for `scratch_bytes`. cudaErrorNotSupported for shapes that
/// nobody asked about yet.
cudaError_t launch_cub(const scan::Shape& shape, const void* in, void* out, void* scratch,
                       std::size_t& scratch_bytes, cudaStream_t stream);

/// Only the shapes of the thesis's tables: sums of u32 and u64 in tuples of 1, 2, 5 and 8. False
/// for others. Scratch lies in `scratch`; it ends the program if that is too small.
bool launch_thrust(const scan::Shape& shape, const void* in, void* out, void* scratch,
                   std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace gdelta::bench
