// The offsets of segments in a file: bare numbers or an NPY array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdelta/codec.h"

namespace gdelta::cli {

/// What a compressed file says of the file that its offsets came from.
inline constexpr std::string_view kOffsetsKey = "offsets";

/// How offsets stand in a file: as integers of a type, behind the head of an NPY file or not.
struct OffsetsForm {
  bool is_npy = false;
  Column type{.type = ValueType::u64};

  /// "u32", "npy i64".
  std::string text() const;
  /// That of the text, else bare u64.
  static OffsetsForm of(std::string_view text);
};

struct Offsets {
  std::vector<std::uint64_t> offsets;
  OffsetsForm form;
};

/// Reads the offsets of segments of so many records. Bare ones are u64 if they hold as such, else u32.
/// Errors      io_error; invalid_argument: they are no offsets of that many records; memory_limit: reading
///             them takes more
Result<Offsets> read_offsets(const std::string& path, std::uint64_t records,
                             std::uint64_t memory_limit);

/// An error if a file has neither segments nor was made with those of a file of offsets.
Result<void> check_segmented(std::uint64_t segments, const std::vector<MetadataEntry>& entries);

/// What stands before the offsets of a file of so many.
std::string offsets_head(std::uint64_t count, OffsetsForm form);
/// The bytes of some of them.
std::vector<std::byte> offsets_bytes(std::span<const std::uint64_t> offsets, OffsetsForm form);

}  // namespace gdelta::cli
