// What options become if values come in segments.
#pragma once

#include <algorithm>
#include <utility>

#include "codec/plan/encode_settings.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/stream_emitter.h"
#include "gdelta/stream.h"

namespace gdelta {

/// Whether they hold, and say what records are.
/// Errors      invalid_argument
inline Result<void> check_segment_options(const EncodeOptions& options) {
  if (auto checked = check_options(options); !checked) return checked;
  if (options.layout) return {};
  return fail(Errc::invalid_argument, "segments need a layout: say what their records are");
}

/// What they ask of each chunk.
inline EncodeSettings segment_settings(const EncodeOptions& options) {
  return {.level = options.level,
          .order = options.order,
          .stride = options.stride,
          .coder = options.coder,
          .device_decodable = options.device_decodable,
          .maps = options.maps};
}

/// What such a stream says beside its layout.
inline LayoutNote note_of_segments(const EncodeOptions& options) {
  return {.level = static_cast<std::uint8_t>(options.level), .origin = LayoutOrigin::given};
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
