// What options say: whether they hold, and what they leave to the level.
#pragma once

#include "gdelta/codec.h"

namespace gdelta {

/// Says whether the options can be kept.
/// Errors      invalid_argument
Result<void> check_options(const EncodeOptions& options);

/// Decoded bytes of a chunk: what the options say, else what the level says.
std::uint64_t chunk_bytes_of(const EncodeOptions& options);

}  // namespace gdelta
