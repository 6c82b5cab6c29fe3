// The checksum of a chunk's values. Spec: spec.md, section 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/coders/workers.h"

namespace gdelta {

/// XXH3-64 over the XXH3-64s of 4096-byte pieces, which several threads hash.
/// Errors      none but std::bad_alloc: with several threads, 8 bytes a piece are held
std::uint64_t chunk_checksum(std::span<const std::byte> values, Workers& workers);

}  // namespace gdelta
