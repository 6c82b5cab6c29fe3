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
#include <vector>

#include "formats/foreign/array_rows.h"
#include "gdelta/types.h"

namespace gdelta::format {

/// How much of the beginning of a file is looked at.
inline constexpr std::size_t kMostPrefixBytes = std::size_t{4} << 20;

/// How much is looked at behind an array, and behind what was looked at there in vain.
inline constexpr std::size_t kNextPrefixBytes = std::size_t{256} << 10;
/// Where the next look begins if the last one found nothing: an array's head may have begun in the
/// other half.
inline constexpr std::size_t kNextStepBytes = kNextPrefixBytes / 2;

inline constexpr std::uint64_t kUntilTheEnd = std::numeric_limits<std::uint64_t>::max();

/// An array of numbers: `head_bytes` opaque bytes, then `data_bytes` bytes of whole records of
/// `layout`.
struct Recognised {
  std::string_view name = {};    ///< of the row that knew it: "wav", "npy", "las", "zip", "tar"
  std::uint64_t head_bytes = 0;  ///< at most the size of the prefix
  Layout layout = {};            ///< passes check_layout
  /// It is kUntilTheEnd if the head does not say and the length of the file is not known. The file may
  /// still end earlier than this, unless its length was known.
  std::uint64_t data_bytes = 0;
  ArrayRows rows = {};
  /// Bytes of the array stand behind these that are no whole record.
  std::uint64_t torn_bytes = 0;
  bool in_archive = false;                   ///< there may well be more
  std::vector<MetadataEntry> metadata = {};  ///< what the head says beside: "sample_rate"
};

/// Finds out what file begins with `prefix`: an array, or an archive whose first file is one, not counting arrays of anything but
/// numbers, and files that take at most an eighth of its bytes. Nothing, if it does not parse as what it claims to be: then
/// it is a bare file.
/// Shapes      prefix: the first bytes of the file, all of it or at least kMostPrefixBytes
///             total_bytes: length of the file, if known
/// Complexity  O(prefix) at worst, a few dozen bytes for common files; no allocation but the layout
/// Threads     any number of calls at once
/// Source      formats/foreign/README.md
std::optional<Recognised> recognise(std::span<const std::byte> prefix,
                                    std::optional<std::uint64_t> total_bytes);

/// Finds the first array, worth a layout of its own, behind an array of the same file: the next of a
/// file of several, or a file of any known format, anywhere in `prefix`. What lies before it counts as
/// its head. Nothing, if none begins in the first kNextStepBytes.
/// Shapes      before: what ended where `prefix` begins; null behind a look that found nothing
///             prefix: what follows, all of it or kNextPrefixBytes
///             bytes_left: from here to the end of the file, if known
/// Complexity  O(prefix): of what looks like an array and is none, only so much is parsed
std::optional<Recognised> recognise_next(const Recognised* before,
                                         std::span<const std::byte> prefix,
                                         std::optional<std::uint64_t> bytes_left);

/// What would let the numbers of a file be recognised that are not, in a sentence for who made it. Empty
/// if there is nothing to say. `prefix` as that of recognise.
std::string_view advice_on(std::span<const std::byte> prefix);

/// How it is known what the numbers of a file are: "as its WAV header says". Empty if no row has
/// this name.
std::string_view recognised_sentence(std::string_view name);

}  // namespace gdelta::format
