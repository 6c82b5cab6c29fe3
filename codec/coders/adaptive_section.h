// The adaptive coder's section: sizes and signs of residuals by probabilities that follow them. Spec:
// coders/adaptive.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gdelta/types.h"

namespace gdelta {

/// Appends one stream of `bytes`, the zigzagged residuals of whole tuples of the column.
void encode_adaptive_stream(std::span<const unsigned char> bytes, const Column& column,
                            std::vector<std::byte>& section);

/// Whether `stream` is the one stream that decodes to out.size() bytes, whole tuples of the column.
bool decode_adaptive_stream(std::span<const unsigned char> stream, const Column& column,
                            std::span<unsigned char> out);

}  // namespace gdelta
