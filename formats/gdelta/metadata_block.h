// The head of a metadata block: keys and values about a stream that decoding does not need. Spec:
// spec.md, section 3.4.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::format {

/// Precondition: check_metadata holds.
void append_metadata_head(std::vector<std::byte>& out, std::span<const MetadataEntry> entries);

/// Reads such a head, the whole of it.
/// Errors      corrupt; `byte` of the error is that of the block, as given
Result<std::vector<MetadataEntry>> parse_metadata_head(std::span<const std::byte> head,
                                                       std::uint64_t byte);

}  // namespace gdelta::format
