// A file inside an archive, as the head in front of it tells.
#pragma once

#include <cstdint>
#include <optional>

namespace gdelta::format {

struct ArchiveMember {
  std::uint64_t content_at = 0;                // counted from where the member's head begins
  std::optional<std::uint64_t> content_bytes;  // empty: the head does not say
  std::uint64_t next_at = 0;  // where the member behind begins, if its size is known
  bool is_file = true;        // no folder, and no note on the member behind
};

}  // namespace gdelta::format
