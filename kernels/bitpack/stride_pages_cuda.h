// Columns with strides of order 1, of which a block takes a whole one: values are summed along their strides, and held against
// their checks, while they are in shared memory, so that memory sees them once. A column is one block's, however long it is, so there must be many to keep a device busy; of few, pages go to all multiprocessors, with
// a pass behind them (kernels/deltas/stride_undo_cuda.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/page_kernels.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

/// Gives how many columns of a call, counted over chunks, are so many that a block for each takes less time.
cudaError_t enough_stride_columns(std::uint64_t& columns);

/// Whether a block of this device has as much shared memory as such columns take; `tuple` is not wide.
cudaError_t has_room_for_stride_pages(int value_bytes, int tuple, bool& has);

/// Takes ColumnPath::page_strides, and page_strides_verified. Every task of the launch has this width and this tuple, which is
/// not wide; `starts` and `tickets` are not looked at. Maps and byte order are undone; `lane_maps` [num tasks]: of those with
/// kMapsOfLanes, which have no steps.
cudaError_t launch_stride_pages(int value_bytes, int tuple, const UnpackArgs& args,
                                const LaneMaps* lane_maps, cudaStream_t stream);

}  // namespace gdelta::cuda
