// Sections whose parts are zigzagged residuals as bytes, each coded by itself: what lzma and adaptive have in common.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/coder.h"

namespace gdelta {

/// Appends what it makes of the bytes of a part.
using EncodePart = std::function<void(std::span<const unsigned char> bytes,
                                      std::vector<std::byte>& coded, Work* work)>;
void encode_byte_parts(const ColumnToEncode& encode, std::vector<std::byte>& section,
                       format::SectionTable& table, const EncodePart& encode_part);

/// Whether `coded` decodes to exactly out.size() bytes.
using DecodePart = std::function<bool(std::span<const unsigned char> coded,
                                      std::span<unsigned char> out, Work* work)>;
/// Decodes the parts of a section one behind the other, several side by side. `damage`: what is wrong if one does not.
std::optional<Error> decode_byte_parts(const SectionToDecode& section, std::span<unsigned char> out,
                                       const char* damage, const DecodePart& decode_part);

}  // namespace gdelta
