// What the bytes of a sample look like before they are taken for numbers: text, or records of some
// length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdelta {

/// True for ASCII text with separators, such as CSV or MatrixMarket files. Four stretches of so many
/// bytes are looked at.
bool looks_like_text(std::span<const std::byte> sample, std::uint64_t stretch_bytes);

/// Lengths at which bytes repeat more often than at others, at most 512 and few: the record length
/// of mixed records, and of tuples that are longer than detection tries on its own. Looks at as much.
std::vector<std::uint64_t> byte_periods(std::span<const std::byte> sample,
                                        std::uint64_t stretch_bytes);

}  // namespace gdelta
