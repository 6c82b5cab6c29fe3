#include "codec/cuda/device_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "codec/cuda/container/join_records_cuda.h"
#include "formats/gdelta/chunk_head.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

namespace {

int class_tuple(const Column& column) { return is_wide(column.tuple) ? kMaxTuple : column.tuple; }

// Columns that store their values between those of others write parts of sectors of memory, again and again, which takes up
// to four times as long as one more read and write of all values (docs/history/pages.md).
bool are_apart(const Layout& layout, bool in_segments) {
  constexpr int kSectorBytes = 32;
  const auto has_sectors = [](const Column& column) { return column.bytes() % kSectorBytes == 0; };
  return layout.columns.size() > 1 && layout.columns.size() <= kMostJoinedColumns &&
         layout.record_bytes() <= kMostJoinedBytes && !in_segments &&
         !std::ranges::all_of(layout.columns, has_sectors);
}

}  // namespace

DeviceLayout make_device_layout(const Layout& layout, bool in_segments) {
  DeviceLayout device_layout;
  device_layout.record_bytes = layout.record_bytes();
  // The columns, and behind them the one of opaque chunks.
  std::vector<Column> columns = layout.columns;
  columns.push_back(byte_layout().columns.front());
  const auto opaque = static_cast<std::uint32_t>(layout.columns.size());
  std::vector<std::uint32_t> order(columns.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t c) {
    return std::pair(value_bytes(columns[c].type), class_tuple(columns[c]));
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });

  std::uint32_t offset = 0;
  for (const Column& column : layout.columns) {
    device_layout.columns.push_back({.type = static_cast<std::uint8_t>(column.type),
                                     .tuple = column.tuple,
                                     .big_endian = static_cast<std::uint8_t>(column.big_endian),
                                     .reserved = 0,
                                     .offset = offset,
                                     .slot = 0,
                                     .reserved2 = 0});
    offset += static_cast<std::uint32_t>(column.bytes());
  }
  for (std::uint32_t slot = 0; slot < order.size(); ++slot) {
    if (order[slot] == opaque) {
      device_layout.opaque_slot = slot;
    } else {
      device_layout.columns[order[slot]].slot = slot;
    }
    const auto [bytes, tuple] = key(order[slot]);
    if (device_layout.classes.empty() || device_layout.classes.back().value_bytes != bytes ||
        device_layout.classes.back().tuple != tuple)
      device_layout.classes.push_back({.value_bytes = bytes,
                                       .tuple = tuple,
                                       .most_tuple = 1,
                                       .first_slot = slot,
                                       .end_slot = slot});
    SlotClass& last = device_layout.classes.back();
    last.end_slot = slot + 1;
    last.most_tuple = std::max<int>(last.most_tuple, columns[order[slot]].tuple);
  }
  device_layout.num_slots = static_cast<std::uint32_t>(order.size());
  device_layout.in_segments = in_segments;
  device_layout.apart = are_apart(layout, in_segments);
  if (in_segments) {
    device_layout.classes.push_back({.value_bytes = value_bytes(format::kLengthColumn.type),
                                     .tuple = format::kLengthColumn.tuple,
                                     .most_tuple = format::kLengthColumn.tuple,
                                     .first_slot = device_layout.num_slots,
                                     .end_slot = device_layout.num_slots + 1});
    ++device_layout.num_slots;
  }
  return device_layout;
}

std::vector<std::byte> make_table_bytes(const DeviceLayout& device_layout,
                                        std::span<const TableChunk> chunks) {
  const auto num_columns = static_cast<std::uint32_t>(device_layout.columns.size());
  const ChunkTableHeader header{
      .num_chunks = chunks.size(),
      .num_columns = num_columns,
      .record_bytes = static_cast<std::uint32_t>(device_layout.record_bytes),
      .opaque_slot = device_layout.opaque_slot,
      .reserved = 0};
  std::vector<std::byte> bytes(table_chunks_at(num_columns) + chunks.size_bytes());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (num_columns > 0)
    std::memcpy(bytes.data() + table_columns_at(), device_layout.columns.data(),
                num_columns * sizeof(TableColumn));
  if (!chunks.empty())
    std::memcpy(bytes.data() + table_chunks_at(num_columns), chunks.data(), chunks.size_bytes());
  return bytes;
}

}  // namespace gdelta::cuda
