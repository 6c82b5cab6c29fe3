#include "list_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "console.h"

namespace gdelta::cli {

namespace {

constexpr const char* kSummaryRow = "{:>12} {:>12} {:>7}  {:<11} {:<11} {:<9} {}\n";

std::string summary_row(const FileTotals& totals, const std::string& type,
                        const std::string& coders, const std::string& orders,
                        const std::string& name) {
  return fmt::format(kSummaryRow, totals.decoded_bytes, totals.compressed_bytes,
                     fmt::format("{:.3f}", ratio_of(totals)), type, coders, orders, name);
}

}  // namespace

double ratio_of(const FileTotals& totals) {
  return totals.compressed_bytes == 0 ? 0.0
                                      : static_cast<double>(totals.decoded_bytes) /
                                            static_cast<double>(totals.compressed_bytes);
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  const double share = whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", 100 * share);
}

std::string summary_titles() {
  return fmt::format(kSummaryRow, "bytes", "compressed", "ratio", "type", "coder", "order", "file");
}

std::string summary_line(const std::string& file, const FileTotals& totals,
                         const FileSummary& summary) {
  return summary_row(totals, summary.type(), summary.coders(), summary.orders(), printable(file));
}

std::string summary_sums(std::size_t files, const FileTotals& sums) {
  return summary_row(sums, "", "", "", fmt::format("{} files", files));
}

void Legend::add(const FileSummary& summary) {
  const std::string orders = summary.orders();
  if (orders.find('-', 1) != std::string::npos) order_range_ = true;
  if (summary.has_segments()) has_segments_ = true;
  if (orders.find("+s") != std::string::npos) strides_ = true;
  if (summary.coders().find('+') != std::string::npos) more_coders_ = true;
  if (summary.has_unknown()) unknown_ = true;
}

void Legend::add(const ColumnInfo& column) {
  if (std::adjacent_find(column.orders.begin(), column.orders.end(), std::not_equal_to<>()) !=
      column.orders.end())
    lane_orders_ = true;
  for (const auto& stride : column.strides) {
    strides_ = true;
    if (stride.second > 1) stride_orders_ = true;
  }
  if (!predictor_sentence(column.predictor).empty()) predictors_.insert(column.predictor);
  for (int number = 1; number < kNumValueMaps; ++number) {
    const auto map = static_cast<ValueMap>(number);
    if (column.map == map || column.map_words.find(map_name(map)) != std::string::npos)
      maps_.insert(map);
  }
  if (column.lane_map != LaneMap::none) lane_maps_.insert(column.lane_map);
}

std::string Legend::text() const {
  std::string text;
  const auto add = [&text](bool used, std::string_view line) {
    if (used) text += fmt::format("  {}\n", line);
  };
  add(more_coders_, "+1       and so many other coders in some chunks: list -v shows them");
  add(unknown_, "unknown  a coder, map or predictor of a newer gdelta: list -v names it");
  add(order_range_, "1-3      differences are taken once to 3 times, by lane and chunk");
  add(lane_orders_, "2,1,0    how many times differences are taken in each lane of the tuple");
  add(has_segments_, "seg      values come in segments: list -v counts them");
  for (const Predictor predictor : predictors_)
    text += fmt::format("  {:<8} {}\n", predictor_name(predictor), predictor_sentence(predictor));
  for (const ValueMap map : maps_)
    text += fmt::format("  {:<7}  {}\n", map_name(map), map_sentence(map));
  for (const LaneMap map : lane_maps_) text += fmt::format("  lanes    {}\n", map_sentence(map));
  add(strides_, "+s640    then differences over 640 tuples (+s: over several distances)");
  add(stride_orders_, "+s640^2  the same taken twice");
  return text.empty() ? text : "\n" + text;
}

std::string wrapped(std::string first, std::size_t indent, const std::vector<std::string>& words) {
  std::string text;
  std::string line = std::move(first);
  bool begun = false;  // the line has a word
  for (const std::string& word : words) {
    if (begun && line.size() + 1 + word.size() > kListColumns) {
      text += line + "\n";
      line = std::string(indent, ' ');
      begun = false;
    }
    if (begun) line += ' ';
    line += word;
    begun = true;
  }
  return text + line + "\n";
}

}  // namespace gdelta::cli
