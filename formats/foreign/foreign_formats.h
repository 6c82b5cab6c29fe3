// The formats that are known: one row each.
#pragma once

#include <span>
#include <string_view>

#include "formats/foreign/archive_member.h"
#include "formats/foreign/foreign.h"

namespace gdelta::format {

/// A row has `recognise`, or `member` if it is an archive of such files.
struct ForeignFormat {
  std::string_view name;
  std::string_view sentence;  ///< how it is known what the numbers are
  std::string_view magic;     ///< every file of the format has it
  std::size_t magic_at = 0;   ///< where it stands
  /// Does what recognise of foreign.h does, for this format alone; `data_bytes` may exceed the file and be no
  /// whole records.
  std::optional<Recognised> (*recognise)(std::span<const std::byte> prefix,
                                         std::optional<std::uint64_t> total_bytes) = nullptr;
  /// The next array of the same file, behind `before`; null if a file has one array.
  std::optional<Recognised> (*recognise_more)(const Recognised& before,
                                              std::span<const std::byte> prefix,
                                              std::optional<std::uint64_t> bytes_left) = nullptr;
  /// Gives the member that begins where `prefix` does.
  std::optional<ArchiveMember> (*member)(std::span<const std::byte> prefix) = nullptr;
  /// Does what advice_on of foreign.h does; null if there is never anything to say.
  std::string_view (*advice)(std::span<const std::byte> prefix) = nullptr;
};

/// Lists the rows in the order in which they are asked.
std::span<const ForeignFormat> foreign_formats();

inline bool has_magic(const ForeignFormat& format, std::span<const std::byte> prefix) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  return text.size() >= format.magic_at && text.substr(format.magic_at).starts_with(format.magic);
}

}  // namespace gdelta::format
