// The head of a layout block: the columns of a record. Spec: spec.md, section 3.1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::format {

void append_layout_head(std::vector<std::byte>& out, const Layout& layout);

/// Reads such a head, the whole of it.
/// Errors      corrupt, unsupported_feature (a type this version does not know); `byte` of the
///             error is that of the block, as given
Result<Layout> parse_layout_head(std::span<const std::byte> head, std::uint64_t byte);

/// Bytes the head at the start of `bytes` takes, for heads that others follow; 0 where there is
/// none.
std::size_t layout_head_bytes(std::span<const std::byte> bytes);

}  // namespace gdelta::format
