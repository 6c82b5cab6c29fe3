// Zigzagged residuals as bytes, which coders of bytes compress part by part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/residual_source.h"
#include "codec/coders/section_to_decode.h"

namespace gdelta {

/// Tuples [first, first + count).
struct TupleRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class Work;
class Workers;

/// The residuals of these ranges of a column, arranged as the model says: those of a part
/// for one range, a sample for others.
std::vector<unsigned char> residual_bytes(const ResidualSource& source,
                                          std::span<const TupleRange> ranges,
                                          const format::ColumnModel& model, Workers& workers,
                                          Work* work = nullptr);

/// Decodes the bytes of all parts of a section, one part behind the other. Gives check 6 of spec.md, section 8.
using DecodeBytes = std::optional<Error> (*)(const SectionToDecode& section,
                                             std::span<unsigned char> out);

/// Decodes a section's residuals, undoes their deltas and stores the values. Word: 64 bits for values of
/// 8 bytes, else 32.
template <class Word>
std::optional<Error> decode_residual_bytes(const SectionToDecode& section, DecodeBytes decode,
                                           const ValueSink& sink);

}  // namespace gdelta
