// Segments of chunks, from lengths to values. Spec: formats/gdelta/spec.md, section 3.5, and
// formats/gdelta/predictors/segments.md. Nothing synchronises; launch errors are returned.
//
// A block takes a chunk for its lengths and for the heads of a column, and then a part of a column: as many
// segments as suit the number of blocks. A segment as long as a chunk is one block's work.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// The segments of one chunk. Arrays are in device memory.
struct SegmentedChunk {
  const std::uint32_t*
      lengths;  // [num_lengths], 16-byte aligned; null: it does not say its segments
  // [num_lengths], 16-byte aligned, out: the first record of each segment that has one, if a column needs to know.
  std::uint32_t* starts;
  std::uint64_t* offsets;      // out: where segments begin that begin in the chunk; null: nowhere
  std::uint64_t first_record;  // what offsets count the chunk's first record as
  std::uint64_t section_at;    // of the lengths, in the stream
  std::uint64_t section_end;
  std::uint32_t num_lengths;
  std::uint32_t records;
  std::uint32_t heads;  // out: how many segments have records
  bool continues;       // the first length begins nothing
  bool says_end;        // where the last segment ends is an offset, too
  bool right;           // out: the lengths are undamaged and add up to the records
};

struct MeasureSegmentsArgs {
  SegmentedChunk* chunks;
  std::uint32_t num_chunks;
  const ColumnTask* tasks;  // [lengths_slot + 1][num_chunks]: of columns, and of lengths
  std::uint32_t lengths_slot;
  unsigned long long* damaged_at;
};
/// Finds where segments begin. Lengths that do not add up to the records, or are of too many
/// segments for pages that say states, lower `damaged_at` of the chunk to their section, unless that is damaged itself. `num_lengths`: of all chunks, a guess by which
/// the size of a block is chosen.
cudaError_t launch_measure_segments(const MeasureSegmentsArgs& args, std::uint64_t num_lengths,
                                    cudaStream_t stream);

struct JoinSegmentsArgs {
  ColumnTask* tasks;  // [num_tasks], of columns of one width; `out` becomes that of the values
  std::uint32_t num_tasks;
  const SegmentedChunk* chunks;
  std::uint32_t record_bytes;
};

/// Undoes the differences along heads and inside segments, then value map and byte order, of every task
/// that has segments and is not joined where its pages are decoded. `most_tuple` is 1 if no task has more lanes.
cudaError_t launch_join_segments(const JoinSegmentsArgs& args, int value_bytes, int most_tuple,
                                 cudaStream_t stream);

}  // namespace gdelta::cuda
