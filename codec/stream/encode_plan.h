// What is decided before the first chunk of a stream is encoded.
#pragma once

#include <optional>
#include <string_view>

#include "codec/backend/backend.h"
#include "codec/stream/chunk_cutter.h"

namespace gdelta {

/// How much of an input is looked at to find out what its numbers are.
inline constexpr std::size_t kSampleBytes = std::size_t{4} << 20;

/// Errors      invalid_argument
Result<void> check_options(const EncodeOptions& options);

/// Decoded bytes of a chunk: what the options say, else what the level says.
std::uint64_t chunk_bytes_of(const EncodeOptions& options);

struct PlannedInput {
  InputPlan plan;
  std::string_view origin;   // "given", "wav", "npy", "found"
  bool plain_bytes = false;  // no numbers were found
};

/// `sample` is the beginning of the input, all of it or kSampleBytes.
PlannedInput plan_input(const EncodeOptions& options, std::span<const std::byte> sample,
                        std::optional<std::uint64_t> total_bytes);

EncodeSettings encode_settings(const EncodeOptions& options, const PlannedInput& input);

}  // namespace gdelta
