#include "codec/chunk/chunk_checksum.h"

#include <vector>

#include "kernels/checksum/content_checksum.h"

namespace gdelta {

namespace {

// Fewer are not worth another thread.
constexpr std::uint64_t kFewestPieces = 64;

}  // namespace

std::uint64_t chunk_checksum(std::span<const std::byte> values, Workers& workers) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(values.data());
  const std::uint64_t pieces = (values.size() + kChecksumPiece - 1) / kChecksumPiece;
  if (workers.num_ranges(pieces, kFewestPieces) == 1) return content_checksum(bytes, values.size());
  std::vector<unsigned char> digests(8 * pieces);
  workers.for_ranges(pieces, kFewestPieces, [&](std::uint64_t begin, std::uint64_t end) {
    digest_pieces(bytes, values.size(), begin, end, digests.data() + 8 * begin);
  });
  return checksum_of_digests(digests.data(), pieces);
}

}  // namespace gdelta
