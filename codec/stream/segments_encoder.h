// Segments in host memory on their way to a stream: the same chunks as a SegmentWriter's, in jobs that refer to the caller's values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/stream/stream_sink.h"
#include "gdelta/codec.h"

namespace gdelta {

/// `options` hold and have a layout; `offsets` are as check_offsets wants them for these values, whole records.
/// Errors      unsupported_backend, memory_limit, out_of_memory, cancelled, and what the sink returns
Result<void> encode_segments(StreamSink& sink, std::span<const std::uint64_t> offsets,
                             std::span<const std::byte> values, const EncodeOptions& options);

}  // namespace gdelta
