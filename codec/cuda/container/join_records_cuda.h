// Records made of their columns, each of which has been decoded by itself. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Records that are joined have this at most.
inline constexpr std::uint32_t kMostJoinedColumns = 64;
inline constexpr std::uint32_t kMostJoinedBytes = 2048;

/// What loads of a column's last values may touch behind them.
inline constexpr std::uint32_t kJoinPiece = 16;

/// Arrays are in device memory.
struct JoinRecordsArgs {
  // [slots × num_chunks]: `out` of columns is a multiple of kJoinPiece, where a column's tuples lie one behind the other. Of a
  // chunk whose first column has no path, or is opaque, nothing is written.
  const ColumnTask* tasks;
  const unsigned char* table;  // of chunks; says where columns and chunks belong
  std::uint64_t first_chunk;
  std::uint32_t num_chunks;
  std::uint32_t num_columns;
  std::uint32_t record_bytes;
  unsigned char* out;  // where the content of first_chunk goes
};

/// One read and one write of all values. `decoded_bytes`: of all chunks, about, for the size of the grid.
cudaError_t launch_join_records(const JoinRecordsArgs& args, std::uint64_t decoded_bytes,
                                cudaStream_t stream);

}  // namespace gdelta::cuda
