// Cuts one column in device memory into chunks and plans each by the lowest level of effort: order of
// each lane and value map from sampled groups, by the costs of kernels/bitpack/order_cost.h. Gives
// what the host's planner gives. Cannot fail; nothing synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/plan/quick_dictionaries.h"
#include "formats/gdelta/maps/map_fields.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/words/maps/lane_mapping.h"
#include "kernels/words/value_maps.h"

namespace gdelta::cuda {

/// Chunks have less than 2^32 bytes, and few of their groups are sampled.
using DeviceSample = GroupSampleOf<std::uint32_t>;

/// CutShape::asked_stride of a call that looks for strides.
inline constexpr std::uint32_t kFoundStrides = ~0u;

/// A column of `records` tuples alone, cut into chunks that are alike but for the last.
struct CutShape {
  static constexpr int kMostMaps = kNumPlainMaps;
  const unsigned char* values;
  std::uint64_t records;
  std::uint64_t chunk_records;
  std::uint32_t column_groups;  // sampled, as sample_groups takes it
  std::uint32_t num_chunks;
  std::uint32_t tuple_bytes;
  std::uint32_t page_groups;       // of pack, by which orders and maps are weighed
  std::uint32_t part_groups;       // of a section's pages
  std::uint32_t last_part_groups;  // of the last chunk's
  std::uint8_t value_bytes;
  std::uint8_t tuple;
  bool big_endian;
  std::uint8_t num_maps;         // that take the type
  std::uint8_t maps[kMostMaps];  // in rising order; the first is none
  std::uint32_t exact_maps;    // that lanes are looked at for, too: a bit for each (exact_maps_of)
  std::uint32_t asked_stride;  // that is tried, or kFoundStrides; 0: none
  std::int8_t asked_order;     // for every lane; -1: the best up to max_order
  std::int8_t max_order;       // 0 … 2
  bool asked_coder;            // a chunk that does not look worth it is tried, too

  /// The orders that are weighed.
  __host__ __device__ int lowest_order() const { return asked_order >= 0 ? asked_order : 0; }
  __host__ __device__ int highest_order() const {
    return asked_order >= 0 ? asked_order : max_order;
  }

  __host__ __device__ std::uint32_t records_of(std::uint64_t chunk) const {
    const std::uint64_t left = records - chunk * chunk_records;
    return static_cast<std::uint32_t>(left < chunk_records ? left : chunk_records);
  }
  __host__ __device__ std::uint32_t pages_of(std::uint32_t chunk_tuples) const {
    return (chunk_tuples + kGroupValues * page_groups - 1) / (kGroupValues * page_groups);
  }
  __host__ __device__ std::uint32_t part_groups_of(std::uint64_t chunk) const {
    return chunk + 1 < num_chunks ? part_groups : last_part_groups;
  }
  __host__ __device__ std::uint32_t parts_of(std::uint64_t chunk) const {
    const std::uint32_t part_tuples = kGroupValues * part_groups_of(chunk);
    return (records_of(chunk) + part_tuples - 1) / part_tuples;
  }
  __host__ __device__ std::uint32_t page_units_of(std::uint64_t chunk) const {
    const std::uint32_t groups = (records_of(chunk) + kGroupValues - 1) / kGroupValues;
    return PackTask::units(part_groups_of(chunk), groups, tuple);
  }
  __host__ __device__ std::uint64_t units_of(std::uint64_t chunk) const {
    return std::uint64_t{parts_of(chunk)} * page_units_of(chunk);
  }
};

/// A lane of a chunk that may get a map in a pass of its own.
struct ExactLane {
  LaneMapping mapping;       // without one the lane has the map without fields
  std::uint64_t bits;        // about what it takes behind it,
  std::uint64_t plain_bits;  // and behind the map without fields
  std::uint8_t order;        // behind it
};

/// What else is known of a lane that may get a dictionary.
struct LaneTable {
  format::TableFields fields;  // if it has one
  PlacesSeen seen;             // of a few groups
};

/// Tables of lanes with a dictionary as they are coded, and what blocks need to make them. Arrays in device memory.
struct LaneTables {
  /// Side by side: of values of eight bytes a multiprocessor has one, of others two.
  static constexpr std::uint32_t most_blocks(int value_bytes) {
    return value_bytes == 8 ? 160 : 264;
  }

  LaneTable* lanes;        // [lanes of all chunks]
  std::uint32_t* coded;    // [lanes of all chunks × coded_words()]
  unsigned char* places;   // [blocks × num_places()] words: WordSet
  std::uint16_t* indices;  // [blocks × num_places()]: of the words there
  unsigned char* ranks;    // [blocks × num_ranks()] words
  std::uint32_t blocks;    // at once
  std::uint32_t entries;   // that a table may have; 0: none are made
  std::uint32_t value_bytes;

  /// Four of five places are taken at most.
  GDELTA_HD std::uint32_t set_size() const { return (entries + entries / 4 + 4) / 4 * 4; }
  /// With the two behind them that WordSet has, those of all blocks aligned.
  GDELTA_HD std::uint32_t num_places() const { return (set_size() + 2 + 7) / 8 * 8; }
  /// Those of a block as they come, and as many that are sorted, aligned.
  GDELTA_HD std::uint32_t num_ranks() const { return 2 * ((entries + 7) / 8 * 8); }
  /// Bins take no more than one of all gaps would.
  GDELTA_HD std::uint32_t coded_words() const { return (entries + 2) * value_bytes / 4 + 1; }

  template <class Word>
  GDELTA_HD Word* places_of(std::uint64_t block) const {
    return reinterpret_cast<Word*>(places) + block * num_places();
  }
  GDELTA_HD std::uint16_t* indices_of(std::uint64_t block) const {
    return indices + block * num_places();
  }
  template <class Word>
  GDELTA_HD Word* ranks_of(std::uint64_t block) const {
    return reinterpret_cast<Word*>(ranks) + block * num_ranks();
  }
  GDELTA_HD std::uint32_t* coded_of(std::uint64_t lane) const {
    return coded + lane * coded_words();
  }
};

/// What is known of a chunk with such lanes.
struct ExactChunk {
  std::uint64_t lanes;  // a bit for each whose words are to be made; 0: the chunk has no such maps
  unsigned long long failed;  // a bit for each of which a value has no word
  unsigned blocks_done;       // that have made words
  std::uint8_t plain;         // the map without fields
  std::uint8_t map;           // that the head names
};

/// The maps in a pass of their own that lanes of chunks may get (codec/plan/exact_maps.h). Arrays in device memory.
struct ExactMaps {
  /// A number, and a step and an offset, or what is said of a table.
  static constexpr std::uint32_t kMostLaneFields = 1 + 3 + 3 + 2 + (1 << format::kMostSelectorBits);

  ExactChunk* chunks;  // null: none is looked for
  ExactLane* lanes;    // [chunks × tuple]
  unsigned char*
      fields;  // [chunks × field_bytes(tuple)]: what heads say behind the number of the map
  LaneTables tables;
  std::uint32_t tuple;

  static constexpr std::uint32_t field_bytes(std::uint32_t tuple) {
    return kMostLaneFields * tuple + 1;  // how many exceptions there are
  }
  __device__ ExactLane* lanes_of(std::uint32_t chunk) const {
    return lanes + std::uint64_t{chunk} * tuple;
  }
  __device__ LaneTable* tables_of(std::uint32_t chunk) const {
    return tables.lanes + std::uint64_t{chunk} * tuple;
  }
  __device__ unsigned char* fields_of(std::uint32_t chunk) const {
    return fields + std::uint64_t{chunk} * field_bytes(tuple);
  }
};

/// What a planner leaves for the kernels after it. Arrays in device memory.
struct PlanArgs {
  CutShape shape;
  PackTask* tasks;             // [num_chunks]
  std::uint64_t* unit_starts;  // [num_chunks + 1]
  std::uint32_t* differs;      // [num_chunks], becomes zero
  ExactMaps maps;              // what `tasks` are without
  std::uint32_t* num_stepped;  // becomes zero; null: no steps are looked for
};

cudaError_t launch_plan_chunks(const PlanArgs& args, cudaStream_t stream);

/// Its first step with CutShape::exact_maps, of floats and of integers: the mappings that give sampled groups back.
cudaError_t launch_find_step_maps(const PlanArgs& args, cudaStream_t stream);
cudaError_t launch_find_multiples(const PlanArgs& args, cudaStream_t stream);

}  // namespace gdelta::cuda
