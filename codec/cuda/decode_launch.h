// The launches that decode a range of chunks: heads, pages, strides, maps, verdicts. What the device API
// and the backend have in common.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "codec/cuda/container/chunk_decode_cuda.h"
#include "formats/gdelta/column_head.h"
#include "formats/gdelta/predictor_traits.h"
#include "gdelta/chunk_kinds.h"
#include "gdelta/device.h"
#include "gdelta/pages/device_pages.h"
#include "gdelta/types.h"

namespace gdelta::cuda {

/// Neighbouring slots whose columns have the same width, and the same narrow tuple or wide ones.
struct SlotClass {
  int value_bytes = 1;
  int tuple = 1;       // of narrow tuples; of wide ones the most there can be
  int most_tuple = 1;  // of its columns
  std::uint32_t first_slot = 0;
  std::uint32_t end_slot = 0;
};

/// A layout as kernels see it.
struct DeviceLayout {
  std::uint64_t record_bytes = 0;
  std::uint32_t num_slots = 0;  // columns, and one for opaque chunks
  std::uint32_t opaque_slot = 0;
  bool in_segments = false;  // lengths have a slot, too: the last one
  std::vector<TableColumn> columns;
  std::vector<SlotClass> classes;  // by width, then tuple
};
/// `in_segments`: chunks may say their segments.
DeviceLayout make_device_layout(const Layout& layout, bool in_segments = false);

/// Header, columns and chunks as they lie in device memory.
std::vector<std::byte> make_table_bytes(const DeviceLayout& device_layout,
                                        std::span<const TableChunk> chunks);

/// How a column that is predicted inside segments is joined.
enum class SegmentJoin : std::uint8_t {
  none,    // it is not
  pages,   // where its pages are decoded: they say states
  passes,  // behind its pages
};
inline SegmentJoin segment_join_of(Predictor predictor, bool says_states) {
  if (format::predictor_traits(predictor).device != format::DevicePrediction::segments)
    return SegmentJoin::none;
  return says_states ? SegmentJoin::pages : SegmentJoin::passes;
}

/// What of a column is undone behind its pages, or where they are decoded by kernels of their own.
struct FrontPasses {
  int strides = 0;
  bool linear = false;
  SegmentJoin segments = SegmentJoin::none;
  bool maps = false;
  bool map_passes = false;
  bool exceptions = false;
  bool dictionaries = false;
};

/// Adds what decoding a column takes; not for coder zstd.
void add_column(ChunkKinds& kinds, Coder coder, int tuple, std::uint64_t page_groups,
                FrontPasses passes);

/// The same of a column by its head; false if the host decodes it.
bool add_column(ChunkKinds& kinds, const format::ColumnHead& head, const Column& column);

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

/// Of `call` num_chunks, decoded_bytes, lengths and kinds are looked at.
std::uint64_t decode_scratch_bytes(const DeviceLayout& device_layout, const DecodeCall& call);

/// Where in its scratch a call leaves the lengths of segments, chunk by chunk as lengths_place has it.
const std::uint32_t* decoded_lengths(const DeviceLayout& device_layout, const DecodeCall& call);

/// Enqueues everything; never synchronises; may be captured. `scratch` is 256-byte aligned.
cudaError_t launch_decode(const DeviceLayout& device_layout, const DecodeCall& call,
                          cudaStream_t stream);

/// Enqueues what readers of a column's pages need: heads parsed and checked, pages counted.
/// `call` has no output, and its kinds are those of columns that are all pages of warps.
cudaError_t launch_open_pages(const DeviceLayout& device_layout, const DecodeCall& call,
                              std::size_t column, DevicePages& pages, cudaStream_t stream);

/// Enqueues the verdicts behind the readers.
cudaError_t launch_close_pages(const DevicePages& pages, cudaStream_t stream);

}  // namespace gdelta::cuda
