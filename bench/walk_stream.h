// For benches: random walks and the stream that the CPU makes of them by a model that is given.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gdelta/codec.h"

namespace gdelta::bench {

struct WalkShape {
  const char* record;  // one column; for device_encode any number
  int order;
  double exceptions = 0;  // share of residuals that need four bits more
  Coder coder = Coder::pack;
  std::string_view map =
      {};  // decimal and scaled, of floats; multiple, of integers; differences, of lanes to the first
  std::uint32_t stride = 0;  // of a further difference of order 1, in tuples
};

struct WalkStream {
  std::vector<std::vector<std::byte>> values;  // of each chunk
  std::vector<std::byte> stream;
  StreamInfo info;
};

/// Makes of walks, whole numbers, the values that the shape's map is for.
void step_walks(std::span<std::byte> values, const WalkShape& shape, ValueType type);

/// About `total` bytes of values in chunks as encoders cut them for `chunk_bytes`.
WalkStream make_walk_stream(const WalkShape& shape, std::uint64_t total, std::uint64_t chunk_bytes);

/// Whether `out`, in device memory, holds the values of all chunks.
bool holds_the_values(const WalkStream& walks, const std::byte* out);

}  // namespace gdelta::bench
