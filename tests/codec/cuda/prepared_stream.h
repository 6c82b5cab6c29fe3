// Streams whose chunk tables are prepared, for tests.
#pragma once

#include <optional>

#include "codec/cuda/cuda_cases.h"

namespace gdelta::test {

/// A stream of packed columns, and its table.
struct PreparedStream {
  PreparedStream(const char* record, const Bytes& values, std::uint64_t chunk_bytes,
                 std::optional<int> order)
      : bytes(compressed(record, values, chunk_bytes, order)),
        info(inspect(bytes).value()),
        table(make_chunk_table(info).value()) {}

  static Bytes compressed(const char* record, const Bytes& values, std::uint64_t chunk_bytes,
                          std::optional<int> order) {
    EncodeOptions options;
    options.layout = parse_record(record).value();
    options.level = 1;
    options.coder = Coder::pack;
    options.order = order;
    options.chunk_bytes = chunk_bytes;
    options.maps = false;
    options.device = "cpu";
    return compress(values, options).value();
  }
  bool is_prepared() const {
    return !table.prepared_pages.empty() && table.heads_at > 0 && table.ready.at > 0;
  }
  /// As a call sees it that is not small.
  ChunkTable without_columns() const {
    ChunkTable heads = table;
    heads.prepared_pages.clear();
    return heads;
  }
  /// As a call sees it whose tasks are made by kernels.
  ChunkTable without_tasks() const {
    ChunkTable heads = without_columns();
    heads.ready = {};
    return heads;
  }
  /// As it is without models.
  ChunkTable unprepared() const {
    ChunkTable plain = without_tasks();
    plain.kinds = {};
    plain.heads_at = 0;
    return plain;
  }

  PreparedStream cut_to(std::size_t bytes_left) const {
    PreparedStream cut = *this;
    cut.bytes.resize(bytes_left);
    return cut;
  }

  Bytes bytes;
  StreamInfo info;
  ChunkTable table;
};

}  // namespace gdelta::test
