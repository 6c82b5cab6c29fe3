// The checksum of a chunk's original bytes: XXH3-64 over the XXH3-64s of its 4096-byte pieces, so
// that pieces can be hashed in parallel. Spec: spec.md, section 7. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

inline constexpr std::size_t kChecksumPiece = 4096;

std::uint64_t content_checksum(const unsigned char* bytes, std::size_t num_bytes);

/// The same in steps. Digests of pieces [begin, end) of num_bytes bytes, 8 bytes each, little-endian.
void digest_pieces(const unsigned char* bytes, std::size_t num_bytes, std::size_t begin,
                   std::size_t end, unsigned char* digests);
/// The checksum from the digests of all pieces.
std::uint64_t checksum_of_digests(const unsigned char* digests, std::size_t num_pieces);

}  // namespace gdelta
