// A layout as kernels see it: columns in slots, those of one shape side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/cuda/container/chunk_table.h"
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

struct DeviceLayout {
  std::uint64_t record_bytes = 0;
  std::uint32_t num_slots = 0;  // columns, and one for opaque chunks
  std::uint32_t opaque_slot = 0;
  bool in_segments = false;  // lengths have a slot, too: the last one
  bool apart = false;        // columns are decoded each by itself, then joined to records
  std::vector<TableColumn> columns;
  std::vector<SlotClass> classes;  // by width, then tuple
};
/// `in_segments`: chunks may say their segments.
DeviceLayout make_device_layout(const Layout& layout, bool in_segments = false);

/// Header, columns and chunks as they lie in device memory.
std::vector<std::byte> make_table_bytes(const DeviceLayout& device_layout,
                                        std::span<const TableChunk> chunks);

}  // namespace gdelta::cuda
