// Launchers of the scan kernels, readable by any C++ compiler.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/scan/scan_policy.h"
#include "kernels/scan/scan_types.h"

namespace gdelta::scan {

// `policies` are for benches that try others than the usual ones; all calls of a scan get the same.

/// Bytes of device scratch that `launch_scan` needs for this shape; 0 if none is needed.
/// Units  bytes; the scratch is 256-byte aligned, and its content before the call does not matter
std::size_t scratch_bytes(const Shape& shape, Path path, int device,
                          std::span<const Policy> policies = usual_policies());

/// Scans `shape.count` values on `stream`. Returns after the launch; nothing is synchronised or
/// allocated, so the call may be captured into a graph.
/// Shapes  in, out [shape.count], device memory, the same or disjoint; scratch [scratch_bytes(...)]
/// Errors  cudaErrorInvalidValue for a shape that `is_valid` refuses, too little scratch, a
///         misaligned pointer, or a path that this shape or device cannot take; otherwise the
///         launch's own error
cudaError_t launch_scan(const Shape& shape, Path path, const void* in, void* out, void* scratch,
                        std::size_t bytes, cudaStream_t stream,
                        std::span<const Policy> policies = usual_policies());

/// The path that `automatic` stands for on this device.
Path chosen_path(const Shape& shape, int device,
                 std::span<const Policy> policies = usual_policies());

/// Whether this shape can take a path on this device.
bool can_take(const Shape& shape, Path path, int device,
              std::span<const Policy> policies = usual_policies());

/// What a stream launch of this shape looks like, for reports (the architectural factor: carries
/// read per value).
struct StreamReport {
  int blocks;
  int group_tiles;
  int tile_values;
  int slots;
  double carry_words_per_value;
};
StreamReport describe_stream(const Shape& shape, int device,
                             std::span<const Policy> policies = usual_policies());

}  // namespace gdelta::scan
