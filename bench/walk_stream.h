// For benches: random walks and the stream that the CPU makes of them by a model that is given.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gdelta/codec.h"

namespace gdelta::bench {

struct WalkShape {
  const char* record;  // maps and strides are for one column
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

/// Fills whole records with walks, other ones for each column, of which the values are made that the shape's map is for.
void fill_walks(std::span<std::byte> records, const WalkShape& shape, const Layout& layout,
                std::uint64_t seed);

/// About `total` bytes of values in chunks as encoders cut them for `chunk_bytes`.
WalkStream make_walk_stream(const WalkShape& shape, std::uint64_t total, std::uint64_t chunk_bytes);

/// Whether `out`, in device memory, holds the values of all chunks.
bool holds_the_values(const WalkStream& walks, const std::byte* out);

}  // namespace gdelta::bench
