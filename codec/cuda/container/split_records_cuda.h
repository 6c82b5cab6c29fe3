// Columns of records, each by itself in memory: what planners and page kernels read. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gdelta::cuda {

/// Columns of a record that a device encodes, at most. What is said of each travels with the launch.
inline constexpr std::uint32_t kMostSplitColumns = 64;

struct SplitColumn {
  unsigned char* out;    // [records × tuple_bytes], a multiple of four
  std::uint32_t offset;  // in the record
  std::uint32_t tuple_bytes;
};

/// Arrays in device memory; records begin at any address.
struct SplitArgs {
  const unsigned char* values;
  std::uint64_t records;
  std::uint32_t record_bytes;
  std::uint32_t num_columns;
  SplitColumn columns[kMostSplitColumns];
};

/// One read and one write of all values.
cudaError_t launch_split_records(const SplitArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
