// The chunks of a file, as a table: how each column was coded, and what other ways would have cost.
#pragma once

#include <span>
#include <string>

#include "gdelta/stream.h"

namespace gdelta::cli {

/// What lies between the sections: heads of blocks, indexes, headers.
std::string framing_line(const FileTotals& totals, std::uint64_t section_bytes);

/// What is said about the file: by which level it was made, how its layouts were known, its metadata.
/// Empty if nothing is said.
std::string note_lines(const std::vector<LayoutNote>& notes,
                       std::span<const MetadataEntry> metadata);

/// A line for each chunk, under a line of titles; under those of several columns a line for each
/// column. What does not fit goes on below.
std::string chunk_titles();
std::string chunk_lines(const ChunkInfo& chunk, const Layout& layout);

/// Bits that each lane takes, and the other ways, with what they would add or save.
std::string why_lines(const ChunkInfo& chunk, const Layout& layout,
                      std::span<const ColumnExplanation> columns);

}  // namespace gdelta::cli
