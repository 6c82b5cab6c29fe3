// Tasks that the host has made of the heads it has read: a kernel says where in memory their stream, table and output are.
#pragma once

#include "codec/cuda/container/chunk_decode_cuda.h"

namespace gdelta::cuda {

/// Tasks are made for memory that begins here: stream, table, what all chunks decode to.
inline constexpr std::uint64_t kMadeFor = std::uint64_t{1} << 40;

/// What is added to a word of eight bytes, for each call.
enum class Base : std::uint8_t {
  none,
  stream,
  table,
  out,
  lane_maps,   // [slots][chunks] of them
  damaged_at,  // [chunks]
  chunk,       // less the first one, in the upper half of the word
  // Of a task that is verified by warps, or by blocks, in the highest byte: where nothing is verified it is another path.
  warp_path,
  block_path,
  residuals,     // of columns that are predicted inside segments
  lengths,       // of segments
  starts,        // where they begin
  offsets,       // likewise, for the caller; null if nobody asks
  first_record,  // of a chunk that says its segments, less that of the first one
  columns,       // that are decoded each by itself
};
inline constexpr std::uint32_t kNumBases = 15;

/// Which pages or parts are counted.
enum class TaskCount : std::uint8_t { warp_pages, map_pages, block_pages, parts, segment_pages };
inline constexpr std::uint32_t kNumTaskCounts = 5;

/// What there is before a chunk of those that say their segments.
struct ReadyBefore {
  std::uint64_t lengths;  // places of them (lengths_place)
  std::uint64_t segments;
  std::uint64_t records;
};

/// Records of the same kind in a table, [slots][chunks], and a Base for each word of theirs.
struct alignas(16) ReadyRecords {
  std::uint64_t words_at;  // in the table
  std::uint64_t bases_at;
};
/// Where they lie in a table, from `at` on: the records, of segments [chunks]; for each TaskCount [slots][chunks + 1] u32, those of a
/// slot before each chunk; of segments [chunks] ReadyBefore; then a byte for each word. All begin at multiples of 16. Without maps
/// and segments there are no records of theirs.
struct ReadyPlaces {
  ReadyRecords tasks, map_tasks, lane_maps, segments;
  std::uint64_t counts_at;
  std::uint64_t before_at;
  std::uint64_t end;
};
constexpr ReadyPlaces ready_places(std::uint64_t at, std::uint64_t slots, std::uint64_t chunks,
                                   bool maps, bool segments) {
  ReadyPlaces places{};
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t begin = at;
    at += (bytes + 15) / 16 * 16;
    return begin;
  };
  const std::uint64_t records = slots * chunks, mapped = maps ? records : 0;
  const std::uint64_t segmented = segments ? chunks : 0;
  places.tasks.words_at = take(records * sizeof(ColumnTask));
  places.map_tasks.words_at = take(mapped * sizeof(MapTask));
  places.lane_maps.words_at = take(mapped * sizeof(LaneMaps));
  places.segments.words_at = take(segmented * sizeof(SegmentedChunk));
  places.counts_at = take(kNumTaskCounts * slots * (chunks + 1) * sizeof(std::uint32_t));
  places.before_at = take(segmented * sizeof(ReadyBefore));
  places.tasks.bases_at = take(records * sizeof(ColumnTask) / 8);
  places.map_tasks.bases_at = take(mapped * sizeof(MapTask) / 8);
  places.lane_maps.bases_at = take(mapped * sizeof(LaneMaps) / 8);
  places.segments.bases_at = take(segmented * sizeof(SegmentedChunk) / 8);
  places.end = at;
  return places;
}

/// What a table says of tasks, and of whose heads.
struct ReadyArgs {
  ReadyPlaces places;          // in the table
  std::uint64_t heads_at;      // in the table: KnownChunks
  std::uint64_t table_chunks;  // of the whole table
};

/// Does what launch_take_heads does but for looking at heads and verdicts, which launch_settle_known_heads does. The caller has
/// seen that all chunks lie in the stream and have room; the kinds of `args` are those of the table's tasks.
cudaError_t launch_place_tasks(const ParseArgs& args, const ReadyArgs& ready, cudaStream_t stream);

struct SettleKnownHeadsArgs {
  SettleArgs settle;
  const unsigned char* stream;
  std::uint64_t stream_bytes;
  const unsigned char* table;
  std::uint64_t heads_at;   // in the table: KnownChunks
  std::uint64_t chunks_at;  // in the table: TableChunks
  std::uint64_t first_chunk;
};
/// Holds heads against those of the stream while the kernels before it run, and settles every verdict: a chunk with another head
/// is corrupt. The last kernel of a call.
cudaError_t launch_settle_known_heads(const SettleKnownHeadsArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
