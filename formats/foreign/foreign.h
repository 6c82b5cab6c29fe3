// File formats of others that hold plain numbers behind a head: which bytes are the numbers, and
// what kind they are.
//
// A file is only taken apart, never interpreted: the head and whatever follows the numbers are kept
// as opaque bytes, so every file comes back byte for byte, however wrong its head is. A wrong guess
// here costs compression, never data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "gdelta/types.h"

namespace gdelta::format {

/// How much of a file is looked at.
inline constexpr std::size_t kMostPrefixBytes = std::size_t{4} << 20;

inline constexpr std::uint64_t kUntilTheEnd = std::numeric_limits<std::uint64_t>::max();

/// A file that was recognised: `head_bytes` opaque bytes, `data_bytes` bytes of whole records of
/// `layout`, and what is left, opaque again.
struct Recognised {
  std::string_view name;         ///< "wav", "npy"
  std::uint64_t head_bytes = 0;  ///< at most the size of the prefix
  Layout layout;                 ///< passes check_layout
  /// kUntilTheEnd where the head does not say and the length of the file is not known. The file may
  /// still end earlier than this, unless its length was known.
  std::uint64_t data_bytes = 0;
};

/// Finds out what file begins with `prefix`. Nothing, where it does not parse as what it claims to
/// be: then it is a bare file.
/// Shapes      prefix: the first bytes of the file, all of it or at least kMostPrefixBytes
///             total_bytes: length of the file, if known
/// Complexity  O(prefix) at worst, a few dozen bytes for common files; no allocation but the layout
/// Threads     any number of calls at once
/// Source      formats/foreign/README.md
std::optional<Recognised> recognise(std::span<const std::byte> prefix,
                                    std::optional<std::uint64_t> total_bytes);

}  // namespace gdelta::format
