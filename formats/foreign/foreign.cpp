#include "formats/foreign/foreign.h"

#include <algorithm>

#include "formats/foreign/npy_head.h"
#include "formats/foreign/wav_head.h"

namespace gdelta::format {

std::optional<Recognised> recognise(std::span<const std::byte> prefix,
                                    std::optional<std::uint64_t> total_bytes) {
  std::uint64_t seen = std::min(prefix.size(), kMostPrefixBytes);
  if (total_bytes) seen = std::min(seen, *total_bytes);
  prefix = prefix.first(static_cast<std::size_t>(seen));

  auto found = recognise_wav(prefix, total_bytes);
  if (!found) found = recognise_npy(prefix, total_bytes);
  if (!found || !check_layout(found->layout)) return std::nullopt;

  if (total_bytes)
    found->data_bytes = std::min(found->data_bytes, *total_bytes - found->head_bytes);
  if (found->data_bytes > kUntilTheEnd - found->head_bytes) found->data_bytes = kUntilTheEnd;
  if (found->data_bytes != kUntilTheEnd)
    found->data_bytes -= found->data_bytes % found->layout.record_bytes();
  return found;
}

}  // namespace gdelta::format
