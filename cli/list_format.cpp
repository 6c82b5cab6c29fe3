#include "list_format.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "console.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kWidestType = 20;
constexpr const char* kSummaryRow = "{:>14} {:>14} {:>8} {:>7}  {:<20} {:<10} {:<14} {}\n";
constexpr const char* kChunkRow = "{:>8} {:>14} {:>12} {:>12} {:>12}  {:<10} {:<9} {:<12} {}\n";

std::string cut(std::string text) {
  if (text.size() > kWidestType) text = text.substr(0, kWidestType - 3) + "...";
  return text;
}

std::string strides_of(const ColumnInfo& column) {
  std::string text;
  for (const auto& [stride, order] : column.strides)
    text += fmt::format("{}{}^{}", text.empty() ? "" : ",", stride, order);
  return text.empty() ? "-" : text;
}

/// "2" where all lanes have the order, else "2,2,1".
std::string lane_orders_of(const ColumnInfo& column) {
  if (column.orders.empty()) return "-";
  if (std::all_of(column.orders.begin(), column.orders.end(),
                  [&](int order) { return order == column.orders[0]; }))
    return fmt::format("{}", column.orders[0]);
  return fmt::format("{}", fmt::join(column.orders, ","));
}

}  // namespace

double ratio_of(const FileTotals& totals) {
  return totals.compressed_bytes == 0 ? 0.0
                                      : static_cast<double>(totals.decoded_bytes) /
                                            static_cast<double>(totals.compressed_bytes);
}

std::string summary_titles() {
  return fmt::format(kSummaryRow, "bytes", "compressed", "ratio", "chunks", "type x tuple", "order",
                     "coder", "file");
}

std::string summary_line(const std::string& file, const FileTotals& totals,
                         const FileSummary& summary) {
  return fmt::format(kSummaryRow, totals.decoded_bytes, totals.compressed_bytes,
                     fmt::format("{:.3f}", ratio_of(totals)), totals.chunks, cut(summary.type()),
                     summary.orders(), summary.coders(), printable(file));
}

std::string summary_sums(std::size_t files, const FileTotals& sums) {
  return fmt::format(kSummaryRow, sums.decoded_bytes, sums.compressed_bytes,
                     fmt::format("{:.3f}", ratio_of(sums)), sums.chunks, "", "", "",
                     fmt::format("{} files", files));
}

std::string chunk_titles() {
  return fmt::format(kChunkRow, "chunk", "byte", "records", "bytes", "compressed", "content",
                     "coder", "orders", "strides");
}

std::string chunk_lines(const ChunkInfo& chunk, const Layout& layout) {
  std::string text;
  for (std::size_t i = 0; i < chunk.columns.size(); ++i) {
    const ColumnInfo& column = chunk.columns[i];
    const std::string type = chunk.opaque ? "bytes" : to_string(Layout{{layout.columns[i]}});
    text += fmt::format(kChunkRow, chunk.number, chunk.byte, chunk.records, chunk.decoded_bytes,
                        column.compressed_bytes, type, coder_name(column.coder),
                        lane_orders_of(column), strides_of(column));
  }
  return text;
}

}  // namespace gdelta::cli
