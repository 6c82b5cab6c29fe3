// Undoes the maps of columns that have a pass of their own, in place over what pages and strides have
// left: lanes less other lanes, value maps of each lane, byte order; then exceptions.
// Spec: formats/gdelta/spec.md, sections 4 and 5.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// What such a column has beside its ColumnTask, which has neither map nor byte order.
struct MapTask {
  const unsigned char* value_maps;  // in the head; null: the column has no such pass
  const unsigned char* lane_map;    // in the head
  const unsigned char* exceptions;  // places, then values; any alignment
  std::uint64_t exceptions_at;      // offset in the stream, for errors
  std::uint32_t num_exceptions;
  std::uint8_t type;  // format::ValueType
  bool big_endian;
  bool undone_before;  // where values are stored; exceptions are left
};

struct UndoMapsArgs {
  const ColumnTask* tasks;
  const MapTask* maps;  // [num_tasks]
  std::uint32_t num_tasks;
  unsigned long long* damaged_at;  // [chunks]: lowered to where exceptions out of place begin
};
/// Both: `bytes`   at most of all these columns together; it only sizes the grid
cudaError_t launch_undo_maps(const UndoMapsArgs& args, std::uint64_t bytes, cudaStream_t stream);
/// Behind it, or where maps have been undone.
cudaError_t launch_place_exceptions(const UndoMapsArgs& args, std::uint64_t bytes,
                                    cudaStream_t stream);

}  // namespace gdelta::cuda
