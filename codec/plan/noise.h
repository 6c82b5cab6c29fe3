// Bytes that no model of numbers makes shorter: encrypted, compressed, random ones.
#pragma once

#include "codec/coders/column_bytes.h"

namespace gdelta {

/// Whether the values of a column, of a byte each, look as if they were drawn at random, and so do their differences and those of
/// these: in a sample every byte is as frequent as any other, everywhere. False of wider values and of few.
/// Complexity  some 50 000 steps, whatever the column
bool looks_like_noise(const ColumnBytes& column);

}  // namespace gdelta
