// The head of a layout block: the columns of a record. Spec: spec.md, section 3.1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::format {

/// What a layout block says.
struct LayoutHead {
  Layout layout;
  LayoutNote note;
  friend bool operator==(const LayoutHead&, const LayoutHead&) = default;
};

void append_layout_head(std::vector<std::byte>& out, const LayoutHead& head);

/// Reads such a head, the whole of it.
/// Errors      corrupt, unsupported_feature (a type this version does not know); `byte` of the
///             error is that of the block, as given
Result<LayoutHead> parse_layout_head(std::span<const std::byte> head, std::uint64_t byte);

}  // namespace gdelta::format
