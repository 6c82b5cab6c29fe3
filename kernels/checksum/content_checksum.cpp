#include "kernels/checksum/content_checksum.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gdelta {
namespace {

void store_digest(unsigned char* p, std::uint64_t digest) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<unsigned char>(digest >> (8 * i));
}

}  // namespace

void digest_pieces(const unsigned char* bytes, std::size_t num_bytes, std::size_t begin,
                   std::size_t end, unsigned char* digests) {
  for (std::size_t piece = begin; piece < end; ++piece, digests += 8) {
    const std::size_t at = piece * kChecksumPiece;
    store_digest(digests, XXH3_64bits(bytes + at, std::min(kChecksumPiece, num_bytes - at)));
  }
}

std::uint64_t checksum_of_digests(const unsigned char* digests, std::size_t num_pieces) {
  return XXH3_64bits(digests, 8 * num_pieces);
}

std::uint64_t content_checksum(const unsigned char* bytes, std::size_t num_bytes) {
  // Digests are fed to the outer hash a few hundred at a time: no allocation whatever the size.
  constexpr std::size_t kBatch = 512;
  unsigned char digests[8 * kBatch];
  const std::size_t num_pieces = (num_bytes + kChecksumPiece - 1) / kChecksumPiece;
  if (num_pieces <= kBatch) {
    digest_pieces(bytes, num_bytes, 0, num_pieces, digests);
    return checksum_of_digests(digests, num_pieces);
  }
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::size_t first = 0; first < num_pieces; first += kBatch) {
    const std::size_t end = std::min(first + kBatch, num_pieces);
    digest_pieces(bytes, num_bytes, first, end, digests);
    XXH3_64bits_update(&state, digests, 8 * (end - first));
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace gdelta
