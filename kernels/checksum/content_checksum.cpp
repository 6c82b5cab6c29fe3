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

std::uint64_t content_checksum(const unsigned char* bytes, std::size_t num_bytes) {
  // Digests are fed to the outer hash a few hundred at a time: no allocation whatever the size.
  constexpr std::size_t kBatch = 512;
  unsigned char digests[8 * kBatch];
  const std::size_t num_pieces = (num_bytes + kChecksumPiece - 1) / kChecksumPiece;
  const auto digest_pieces = [&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = (first + k) * kChecksumPiece;
      store_digest(digests + 8 * k,
                   XXH3_64bits(bytes + at, std::min(kChecksumPiece, num_bytes - at)));
    }
  };
  if (num_pieces <= kBatch) {
    digest_pieces(0, num_pieces);
    return XXH3_64bits(digests, 8 * num_pieces);
  }
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::size_t first = 0; first < num_pieces; first += kBatch) {
    const std::size_t count = std::min(kBatch, num_pieces - first);
    digest_pieces(first, count);
    XXH3_64bits_update(&state, digests, 8 * count);
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace gdelta
