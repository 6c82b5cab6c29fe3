// What files hold, as the JSON that the man page documents, written as it comes.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "gdelta/stream.h"

namespace gdelta::cli {

/// Calls come in the order in which they stand here; `begin_file` to `end_file` for each file.
class JsonList {
 public:
  explicit JsonList(std::FILE* out);
  void begin_file(const std::string& name, const FileTotals& totals,
                  std::span<const MetadataEntry> metadata);
  void add_layout(const Layout& layout);
  void begin_chunks();
  /// `why` is empty, or what explain_chunk says of the columns.
  void add_chunk(const ChunkInfo& chunk, std::span<const ColumnExplanation> why);
  void end_file();
  void finish();

 private:
  void write(const std::string& text);
  void begin_item(int depth);
  void end_list(int depth);

  std::FILE* out_;
  bool first_item_ = true;  // of the list that is open
};

}  // namespace gdelta::cli
