// The checksum of a chunk's original bytes: XXH3-64 over the XXH3-64s of its 4096-byte pieces, so
// that pieces can be hashed in parallel. Spec: spec.md, section 7. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

inline constexpr std::size_t kChecksumPiece = 4096;

std::uint64_t content_checksum(const unsigned char* bytes, std::size_t num_bytes);

}  // namespace gdelta
