// TAR archives: of POSIX and of GNU, not compressed.
#pragma once

#include <cstddef>
#include <span>

#include "formats/foreign/archive_member.h"

namespace gdelta::format {

/// Where the magic number stands in a member's head.
inline constexpr std::size_t kTarMagicAt = 257;

/// The member whose head `prefix` begins with; nothing if the head's checksum does not hold.
std::optional<ArchiveMember> tar_member(std::span<const std::byte> prefix);

}  // namespace gdelta::format
