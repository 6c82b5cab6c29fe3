// What a file holds, as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta::cli {

/// A file and what inspect() found in it.
struct ListedFile {
  std::string name;
  StreamInfo info;
};

/// One line a file, under a line of titles; a line of sums where there are several.
std::string summary_table(const std::vector<ListedFile>& files);
/// One line for each column of each chunk.
std::string chunk_table(const ListedFile& file);
/// Everything, in the form that the man page documents.
std::string list_json(const std::vector<ListedFile>& files);

}  // namespace gdelta::cli
