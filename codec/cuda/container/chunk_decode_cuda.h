// What surrounds the decoding of columns on the device: heads parsed and checked, pages counted,
// one status a chunk. Spec: formats/gdelta/spec.md, sections 3, 7 and 8.
//
// All memory is the caller's; nothing synchronises; launch errors are returned. Arrays below are in
// device memory; num_chunks is that of the call, num_tasks = slots × num_chunks, task
// slot × num_chunks + chunk. All but the first kernel overlap with the one before them
// (launch_after) if the device can do that.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/container/undo_dictionaries_cuda.h"
#include "codec/cuda/container/undo_maps_cuda.h"
#include "gdelta/chunk_kinds.h"
#include "kernels/checksum/check_parts_cuda.h"
#include "kernels/deltas/segment_pages.h"
#include "kernels/deltas/segment_undo_cuda.h"
#include "kernels/pages/chunk_verdict.h"
#include "kernels/pages/column_task.h"
#include "kernels/words/lane_maps.h"

namespace gdelta::cuda {

inline constexpr std::uint64_t kNoDamage = ~std::uint64_t{0};

/// What is counted over tasks and chunks; 16-byte aligned each.
struct DecodeCounts {
  std::uint32_t* warp_pages;   // [num_tasks]: pages of the warp path, but for those with LaneMaps
  std::uint32_t* map_pages;    // [num_tasks]: those
  std::uint32_t* block_pages;  // [num_tasks]
  std::uint32_t* parts;        // [num_tasks]: to be held against a check behind their decoding
  std::uint32_t* segment_pages =
      nullptr;  // [num_tasks]: of ColumnPath::page_segments; null: there are none
};

/// What each column that is decoded to a place of its own takes beside itself: it begins at a multiple of 16.
inline constexpr std::uint64_t kApartRoom = 16 + kSegmentPagesRoom;

/// Where columns are decoded each by itself, before they are joined to records; null: their values go to records at once.
struct ApartColumns {
  unsigned char* columns = nullptr;  // 16-byte aligned
  std::uint64_t bytes = 0;           // of all of them
};

/// Where chunks put what they say of their segments; 16-byte aligned each. Empty if none says them.
struct SegmentPlaces {
  SegmentedChunk* chunks = nullptr;  // [num_chunks]
  std::uint32_t* lengths = nullptr;  // [room], those of a chunk at lengths_place
  std::uint32_t* starts = nullptr;   // [room]
  std::uint64_t room = 0;
  unsigned char* residuals = nullptr;  // of columns that are predicted inside segments
  std::uint64_t residual_bytes = 0;
  std::uint64_t* offsets = nullptr;  // [num_offsets]: the caller's; null: nobody asks
  std::uint64_t num_offsets = 0;
  std::uint32_t slot = 0;  // of the lengths, the last one of all

  GDELTA_HD bool empty() const { return chunks == nullptr; }
};

struct CountArgs {
  DecodeCounts counts;
  std::uint32_t num_tasks;
  std::uint64_t* warp_starts;   // [num_tasks + 1]: pages of the warp path before each task;
  std::uint64_t* map_starts;    // [num_tasks + 1]  these four 16-byte aligned
  std::uint64_t* block_starts;  // [num_tasks + 1]
  std::uint64_t* part_starts;   // [num_tasks + 1]: parts before each task
  unsigned long long* tickets;  // [num_tickets]: become zero, for the page kernels behind this one
  std::uint32_t num_tickets;
  std::uint64_t* segment_starts =
      nullptr;  // [num_tasks + 1]: of counts.segment_pages, if those are there
};
/// Sums of counts that are there. Parsing comes with them.
cudaError_t launch_count_pages(const CountArgs& args, cudaStream_t stream);

struct ParseArgs {
  const unsigned char* stream;  // 16-byte aligned, readable to the next multiple of 16
  std::uint64_t stream_bytes;
  const unsigned char* table;
  std::uint64_t first_chunk;  // in the table
  std::uint32_t num_chunks;
  std::uint32_t num_slots;  // of columns, of opaque chunks, of lengths if there are such
  unsigned char* out;       // where the content of first_chunk goes
  std::uint64_t out_bytes;
  ColumnTask* tasks;               // [num_tasks]
  MapTask* map_tasks;              // [num_tasks]: filled where tasks are, if kinds.maps
  DictionaryTask* dictionaries;    // [num_tasks]: likewise, if kinds.dictionaries
  unsigned char* table_values;     // 16-byte aligned: room for decoded tables, likewise
  std::uint64_t table_room;        // bytes
  LaneMaps* lane_maps;             // [num_tasks]: filled where a task has kMapsOfLanes
  ChunkVerdict* verdicts;          // [num_chunks]
  unsigned long long* damaged_at;  // [num_chunks]: becomes kNoDamage
  unsigned long long* differs_at;  // [num_chunks]: likewise
  CountArgs count;                 // of all tasks
  ChunkKinds kinds;                // what is launched behind this kernel
  bool verify;  // pages by warps are verified where they are decoded, if nothing follows them
  std::uint32_t stride_pages;  // bit w: there is a launch for ColumnPath::page_strides of w bytes
  SegmentPlaces segments = {};
  ApartColumns apart = {};

  GDELTA_HD std::uint32_t num_columns() const { return num_slots - (segments.empty() ? 1 : 2); }
};

/// Checks 1 to 5 of every chunk; fills tasks (path none if a chunk fails), verdicts, counts and their
/// sums. A chunk with a column that the host decodes gets `needs_host` and no tasks; one that needs what
/// `kinds` leaves out is `corrupt`. It starts when all work before it is done.
cudaError_t launch_parse_chunks(const ParseArgs& args, cudaStream_t stream);

struct SettleArgs {
  std::uint32_t num_chunks;
  const unsigned long long* damaged_at;
  const unsigned long long* differs_at;
  ChunkVerdict* verdicts;
  const ColumnTask* read =
      nullptr;  // [num_chunks]: a column of which readers get pages, and nothing else
};
/// Settles every verdict: the first failing check. The last kernel of a call.
cudaError_t launch_settle_verdicts(const SettleArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
