// The six bytes a stream begins with, and the frames that may stand before them. Spec: spec.md,
// section 2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gdelta/error.h"

namespace gdelta::format {

inline constexpr std::uint8_t kFormatVersion = 0;
inline constexpr std::size_t kMagicBytes = 4;
inline constexpr std::size_t kStreamHeaderBytes = 6;
inline constexpr std::array<std::byte, kStreamHeaderBytes> kStreamHeader = {
    std::byte{0x89},           std::byte{'G'}, std::byte{'D'}, std::byte{'Z'},
    std::byte{kFormatVersion}, std::byte{0}};

/// What the first bytes of a stream or of a frame between streams turn out to be.
enum class Opening { stream, skippable, cut_short, neither };

/// Looks at up to four bytes; `cut_short` if they are fewer and may become either of the two.
Opening recognise_opening(std::span<const std::byte> first_bytes);
/// Whether these bytes, at most four, begin the magic number of a stream.
bool begins_stream(std::span<const std::byte> bytes);

/// Checks version and flags. `byte` is where the header starts in the file.
/// Errors      truncated, not_gdelta, unsupported_version, unsupported_feature
Result<void> check_stream_header(std::span<const std::byte> header, std::uint64_t byte);

}  // namespace gdelta::format
