// What files hold, as lines of tables.
#pragma once

#include <string>

#include "gdelta/stream.h"
#include "list_summary.h"

namespace gdelta::cli {

/// Decoded by compressed bytes; 0 for an empty file.
double ratio_of(const FileTotals& totals);

/// The table with a line for each file.
std::string summary_titles();
std::string summary_line(const std::string& file, const FileTotals& totals,
                         const FileSummary& summary);
/// Under the lines of so many files.
std::string summary_sums(std::size_t files, const FileTotals& sums);

/// The table with a line for each column of each chunk.
std::string chunk_titles();
std::string chunk_lines(const ChunkInfo& chunk, const Layout& layout);

}  // namespace gdelta::cli
