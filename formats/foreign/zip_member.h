// ZIP archives, and so .npz: members that are stored as they are.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "formats/foreign/archive_member.h"

namespace gdelta::format {

/// The member whose local header `prefix` begins with; nothing if it is compressed or encrypted.
std::optional<ArchiveMember> zip_member(std::span<const std::byte> prefix);

/// How to store arrays so that they can be found, if the first member is an array that is compressed.
std::string_view zip_advice(std::span<const std::byte> prefix);

}  // namespace gdelta::format
