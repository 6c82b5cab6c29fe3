// What options become if values come in segments.
#pragma once

#include <algorithm>
#include <utility>

#include "codec/stream/encode_plan.h"
#include "gdelta/stream.h"

namespace gdelta {

/// There is no encoder of segments on a GPU.
inline EncodeOptions on_the_cpu(EncodeOptions options) {
  options.device = "cpu";
  return options;
}

/// A chunk holds lengths beside its values, as many bytes at most.
inline EncodeOptions with_lengths(EncodeOptions options) {
  options.chunk_bytes = 2 * chunk_bytes_of(options);
  return options;
}

/// Offsets are held all the time.
inline EncodeOptions beside_offsets(EncodeOptions options,
                                    const std::vector<ArraySegments>& segments) {
  if (options.memory_limit == ~std::uint64_t{0}) return options;
  for (const ArraySegments& array : segments)
    options.memory_limit -=
        std::min<std::uint64_t>(options.memory_limit, array.offsets.size() * sizeof(std::uint64_t));
  return options;
}

}  // namespace gdelta
