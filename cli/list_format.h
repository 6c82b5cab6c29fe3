// What files hold, as a table with a line for each; and the words that its tables share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gdelta/stream.h"
#include "list_summary.h"

namespace gdelta::cli {

inline constexpr std::size_t kListColumns = 80;

/// Decoded by compressed bytes; 0 for an empty file.
double ratio_of(const FileTotals& totals);
/// "12.3 %" of the whole.
std::string percent_of(std::uint64_t part, std::uint64_t whole);

/// The table with a line for each file: kListColumns wide if names are short.
std::string summary_titles();
std::string summary_line(const std::string& file, const FileTotals& totals,
                         const FileSummary& summary);
/// The line under those of so many files.
std::string summary_sums(std::size_t files, const FileTotals& sums);

/// Explains the shorthand that a table used, a line for each kind of it.
class Legend {
 public:
  /// What lines of the summary need.
  void add(const FileSummary& summary);
  /// What lines of the table of chunks need.
  void add(const ColumnInfo& column);
  /// Empty if no shorthand was used.
  std::string text() const;

 private:
  bool order_range_ = false;
  bool lane_orders_ = false;
  bool has_segments_ = false;
  bool strides_ = false;
  bool stride_orders_ = false;
  bool more_coders_ = false;
  bool unknown_ = false;
  std::set<Predictor> predictors_;
  std::set<ValueMap> maps_;
  std::set<LaneMap> lane_maps_;
};

/// Words joined by spaces, in lines that end at kListColumns: the first begins after `first`, the
/// others after as many spaces as `indent`.
std::string wrapped(std::string first, std::size_t indent, const std::vector<std::string>& words);

}  // namespace gdelta::cli
