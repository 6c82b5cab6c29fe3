// The frame of a stream around packed columns, written in device memory: header and layout block,
// heads of chunks, raw and constant sections, index and end block, and the table by which the
// device decodes it again. Spec: formats/gdelta/spec.md, sections 2 and 3. Cannot fail; nothing
// synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/container/map_chunks_cuda.h"
#include "codec/cuda/container/plan_steps_cuda.h"
#include "codec/cuda/container/split_records_cuda.h"
#include "formats/gdelta/byte_sinks.h"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

/// A layout block in a stream, and its entry in the index: of one column, and of each further one.
inline constexpr int kPrefixBytes = 6 + 11;
inline constexpr int kLayoutEntryBytes = 11;
inline constexpr int kMoreColumnBytes = 2;
/// With lengths of two bytes.
inline constexpr int kMostMoreBytes = kMoreColumnBytes * kMostSplitColumns + 2;

/// Where the blocks of a stream lie; in device memory.
struct StreamPlaces {
  std::uint64_t end_at;         // of the end block
  std::uint64_t entries_at;     // of the chunks' entries in the index
  std::uint64_t entries_bytes;  // of all chunks
  std::uint32_t has_tables;     // whether any column has dictionaries
};

/// What the coder says in the models, behind the front: of task t, `stride` × t bytes behind that of the first.
struct ModelFields {
  const unsigned char* bytes;   // null: nothing
  const std::uint32_t* counts;  // how many bytes there are
  std::uint64_t stride;

  __host__ __device__ format::ByteStretch of(std::uint32_t task) const {
    if (bytes == nullptr) return {};
    return {bytes + task * stride,
            *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const unsigned char*>(counts) +
                                                    task * stride)};
  }
};

/// A column of all chunks, packed.
struct WrittenColumn {
  alignas(16) TableColumn in_table;
  PackArgs pack;  // a task a chunk; `out` is the stream
  ModelFields fields;
  ExactMaps maps;
  StepFields steps;
  // Of columns behind such maps, or null:
  const std::uint32_t* mapped_checks;  // of the values, not of their words; of each task
  std::uint64_t mapped_parts;          // so many behind those of the one before
};

struct WriteArgs {
  unsigned char
      prefix[kPrefixBytes + kMostMoreBytes];  // header and layout block; without chunks the header
  unsigned char layout_entry[kLayoutEntryBytes + kMostMoreBytes];
  std::uint32_t prefix_bytes, layout_entry_bytes;
  ChunkTableHeader table_header;
  std::uint64_t chunk_bytes;    // decoded, of all chunks but the last
  WrittenColumn first;          // of a record's columns
  WrittenColumn* others;        // [num_columns() - 1], by launch_keep_columns
  std::uint64_t* entries;       // [num_chunks()]: where a chunk's entry begins in the index
  StreamPlaces* places;         // [1]
  unsigned char* table;         // the chunk table
  std::uint64_t* stream_bytes;  // [1]

  GDELTA_HD std::uint32_t num_columns() const { return table_header.num_columns; }
  GDELTA_HD std::uint32_t num_chunks() const { return first.pack.num_tasks; }
  GDELTA_HD unsigned char* out() const { return first.pack.out; }
};

/// Leaves columns behind the first where kernels find them: [num_columns() - 1] of them.
cudaError_t launch_keep_columns(const WriteArgs& args, const WrittenColumn* others,
                                cudaStream_t stream);

/// After launch_choose_sections: places of all blocks and sections, the table and the stream's size.
cudaError_t launch_place_blocks(const WriteArgs& args, cudaStream_t stream);

/// After launch_place_blocks: heads of chunks, constant sections, index and ends. What is launched next with
/// launch_after may begin before these are written, but not before everything has its place.
cudaError_t launch_write_frames(const WriteArgs& args, cudaStream_t stream);

/// Sections that are the values, and tables of dictionaries. The last kernel of a call.
cudaError_t launch_copy_rest(const WriteArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
