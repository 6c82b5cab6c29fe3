// Dictionaries of lanes: their tables expanded before pages are decoded, and the indices of columns whose values are not looked up
// where they are stored (kernels/words/lane_maps.h), in place over what all other passes have left. Spec:
// formats/gdelta/maps/dictionary.md.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// What a column with such lanes has beside its ColumnTask.
struct DictionaryTask {
  const unsigned char* value_maps;  // in the head; null: no lane has a dictionary
  const unsigned char* coded;       // the tables as they stand in the stream; any alignment
  unsigned char* values;            // becomes what they hold, lane after lane; 16-byte aligned
  std::uint64_t tables_at;          // offset in the stream, for errors
  std::uint8_t type;                // format::ValueType
  bool big_endian;
  bool looked_up_before;  // where values are stored
};

struct UndoDictionariesArgs {
  const ColumnTask* tasks;
  const DictionaryTask* dictionaries;  // [num_tasks]
  std::uint32_t num_tasks;
  unsigned long long* damaged_at;  // [chunks]: lowered to the table of the first lane at fault
};
/// Both: `bytes`   at most of all these columns together; it only sizes the grid
cudaError_t launch_expand_tables(const UndoDictionariesArgs& args, std::uint64_t bytes,
                                 cudaStream_t stream);
cudaError_t launch_look_up(const UndoDictionariesArgs& args, std::uint64_t bytes,
                           cudaStream_t stream);

/// Decoded tables of chunks with so many bytes and columns take no more, each column's at a multiple of
/// 16 behind that of the one before.
constexpr std::uint64_t table_room(std::uint64_t decoded_bytes, std::uint64_t num_chunks,
                                   std::uint64_t num_slots) {
  return decoded_bytes / 8 + 16 * (num_slots + 1) * num_chunks;
}

}  // namespace gdelta::cuda
