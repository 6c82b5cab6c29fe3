// A range of chunks to decode, and its scratch, cut into arrays.
#pragma once

#include <cstdint>
#include <span>

#include "codec/cuda/container/chunk_decode_cuda.h"
#include "codec/cuda/device_layout.h"
#include "codec/cuda/scratch_layout.h"
#include "gdelta/chunk_kinds.h"
#include "gdelta/device.h"

namespace gdelta::cuda {

/// What launch_decode is asked for.
struct DecodeCall {
  const unsigned char* stream = nullptr;
  std::uint64_t stream_bytes = 0;
  const unsigned char* table = nullptr;
  std::uint64_t first_chunk = 0;
  std::uint32_t num_chunks = 0;
  std::uint64_t decoded_bytes = 0;  // of the range at most: for the size of grids, and of tables
  std::uint64_t lengths = 0;        // of segments, of the range at most
  unsigned char* out = nullptr;
  std::uint64_t out_bytes = 0;
  ChunkVerdict* verdicts = nullptr;
  unsigned char* scratch = nullptr;
  std::uint64_t* offsets = nullptr;  // where segments begin; null: nobody asks
  std::uint64_t num_offsets = 0;     // for which there is room
  bool verify = true;
  ChunkKinds kinds;  // what is not there is not launched
  std::span<const std::uint32_t> prepared_pages =
      {};                          // of each column, if chunks are prepared (prepared_table.h)
  std::uint64_t table_chunks = 0;  // of the whole table, then
  std::uint64_t heads_at = 0;      // in the table: what is known of heads; 0: nothing
  ReadyTasks ready = {};           // and tasks made of them
};

/// Arrays in the scratch of a call.
struct DecodeScratch {
  ColumnTask* tasks;
  MapTask* map_tasks;
  DictionaryTask* dictionaries;
  unsigned char* table_values;
  std::uint64_t table_room;
  LaneMaps* lane_maps;
  DecodeCounts counts;
  std::uint64_t* warp_starts;
  std::uint64_t* map_starts;
  std::uint64_t* block_starts;
  std::uint64_t* part_starts;
  std::uint64_t* segment_starts;  // null if there are no segments
  unsigned long long* damaged_at;
  unsigned long long* differs_at;
  unsigned long long* tickets;        // [device_layout.classes.size()]
  unsigned long long* verdict_cells;  // [num_chunks], of prepared chunks
  SegmentPlaces segments;
  ApartColumns apart;
};

/// Of `call` num_chunks, decoded_bytes, lengths, kinds and prepared_pages are looked at, and where its offsets go.
DecodeScratch take_scratch(ScratchLayout& layout, const DeviceLayout& device_layout,
                           const DecodeCall& call);

/// Of `call` num_chunks, decoded_bytes, lengths and kinds are looked at.
std::uint64_t decode_scratch_bytes(const DeviceLayout& device_layout, const DecodeCall& call);

/// Where in its scratch a call leaves the lengths of segments, chunk by chunk as lengths_place has it.
const std::uint32_t* decoded_lengths(const DeviceLayout& device_layout, const DecodeCall& call);

}  // namespace gdelta::cuda
