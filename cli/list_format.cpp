#include "list_format.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "console.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kWidestType = 20;

double ratio_of(const StreamInfo& info) {
  return info.compressed_bytes == 0
             ? 0.0
             : static_cast<double>(info.decoded_bytes) / static_cast<double>(info.compressed_bytes);
}

std::string cut(std::string text) {
  if (text.size() > kWidestType) text = text.substr(0, kWidestType - 3) + "...";
  return text;
}

std::string type_of(const StreamInfo& info) {
  if (info.layouts.empty()) return info.chunks.empty() ? "-" : "u8";
  std::set<std::string> texts;
  for (const Layout& layout : info.layouts) texts.insert(to_string(layout));
  if (texts.size() > 1) return fmt::format("{} layouts", texts.size());
  return cut(*texts.begin());
}

/// Visits the columns of all chunks of numbers, or of all chunks where no chunk holds numbers.
template <class Visit>
void for_each_column(const StreamInfo& info, Visit visit) {
  const bool numbers = std::any_of(info.chunks.begin(), info.chunks.end(),
                                   [](const ChunkInfo& chunk) { return !chunk.opaque; });
  for (const ChunkInfo& chunk : info.chunks)
    if (!chunk.opaque || !numbers)
      for (const ColumnInfo& column : chunk.columns) visit(column);
}

/// "2", "0-3", and after a + the distances of further strides.
std::string orders_of(const StreamInfo& info) {
  std::set<int> orders;
  std::set<std::uint64_t> strides;
  for_each_column(info, [&](const ColumnInfo& column) {
    orders.insert(column.orders.begin(), column.orders.end());
    for (const auto& [stride, order] : column.strides) strides.insert(stride);
  });
  if (orders.empty()) return "-";
  std::string text = orders.size() == 1 ? fmt::format("{}", *orders.begin())
                                        : fmt::format("{}-{}", *orders.begin(), *orders.rbegin());
  if (strides.size() == 1) text += fmt::format("+s{}", *strides.begin());
  if (strides.size() > 1) text += fmt::format("+{} strides", strides.size());
  return text;
}

/// The coders by how many columns of chunks they code, the most frequent first.
std::string coders_of(const StreamInfo& info) {
  std::map<Coder, std::size_t> counts;
  for_each_column(info, [&](const ColumnInfo& column) { ++counts[column.coder]; });
  std::vector<std::pair<Coder, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [coder, count] : sorted)
    text += fmt::format("{}{}", text.empty() ? "" : ",", coder_name(coder));
  return text.empty() ? "-" : text;
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

std::string column_type(const StreamInfo& info, const ChunkInfo& chunk, std::size_t column) {
  if (chunk.opaque) return "bytes";
  if (chunk.layout >= info.layouts.size() || column >= info.layouts[chunk.layout].columns.size())
    return "-";
  return to_string(Layout{{info.layouts[chunk.layout].columns[column]}});
}

constexpr const char* kSummaryRow = "{:>14} {:>14} {:>8} {:>7}  {:<20} {:<10} {:<14} {}\n";

nlohmann::ordered_json column_json(const ColumnInfo& column) {
  nlohmann::ordered_json json;
  json["coder"] = coder_name(column.coder);
  json["ordered_map"] = column.ordered_map;
  json["orders"] = column.orders;
  json["strides"] = nlohmann::ordered_json::array();
  for (const auto& [stride, order] : column.strides)
    json["strides"].push_back({{"stride", stride}, {"order", order}});
  json["compressed_bytes"] = column.compressed_bytes;
  return json;
}

nlohmann::ordered_json chunk_json(const ChunkInfo& chunk) {
  nlohmann::ordered_json json;
  json["number"] = chunk.number;
  json["byte"] = chunk.byte;
  json["block_bytes"] = chunk.block_bytes;
  json["records"] = chunk.records;
  json["decoded_at"] = chunk.decoded_at;
  json["decoded_bytes"] = chunk.decoded_bytes;
  json["opaque"] = chunk.opaque;
  json["layout"] = chunk.opaque ? nlohmann::ordered_json() : nlohmann::ordered_json(chunk.layout);
  json["columns"] = nlohmann::ordered_json::array();
  for (const ColumnInfo& column : chunk.columns) json["columns"].push_back(column_json(column));
  return json;
}

nlohmann::ordered_json file_json(const ListedFile& file) {
  nlohmann::ordered_json json;
  json["file"] = file.name;
  json["streams"] = file.info.streams;
  json["compressed_bytes"] = file.info.compressed_bytes;
  json["decoded_bytes"] = file.info.decoded_bytes;
  json["ratio"] = ratio_of(file.info);
  json["layouts"] = nlohmann::ordered_json::array();
  for (const Layout& layout : file.info.layouts) json["layouts"].push_back(to_string(layout));
  json["chunks"] = nlohmann::ordered_json::array();
  for (const ChunkInfo& chunk : file.info.chunks) json["chunks"].push_back(chunk_json(chunk));
  return json;
}

}  // namespace

std::string summary_table(const std::vector<ListedFile>& files) {
  std::string text = fmt::format(kSummaryRow, "bytes", "compressed", "ratio", "chunks",
                                 "type x tuple", "order", "coder", "file");
  StreamInfo sum;
  std::size_t chunks = 0;
  for (const ListedFile& file : files) {
    const StreamInfo& info = file.info;
    text += fmt::format(kSummaryRow, info.decoded_bytes, info.compressed_bytes,
                        fmt::format("{:.3f}", ratio_of(info)), info.chunks.size(), type_of(info),
                        orders_of(info), coders_of(info), printable(file.name));
    sum.decoded_bytes += info.decoded_bytes;
    sum.compressed_bytes += info.compressed_bytes;
    chunks += info.chunks.size();
  }
  if (files.size() > 1)
    text += fmt::format(kSummaryRow, sum.decoded_bytes, sum.compressed_bytes,
                        fmt::format("{:.3f}", ratio_of(sum)), chunks, "", "", "",
                        fmt::format("{} files", files.size()));
  return text;
}

std::string chunk_table(const ListedFile& file) {
  std::string text =
      fmt::format("{:>8} {:>14} {:>12} {:>12} {:>12}  {:<10} {:<9} {:<12} {}\n", "chunk", "byte",
                  "records", "bytes", "compressed", "content", "coder", "orders", "strides");
  for (const ChunkInfo& chunk : file.info.chunks)
    for (std::size_t i = 0; i < chunk.columns.size(); ++i) {
      const ColumnInfo& column = chunk.columns[i];
      text += fmt::format("{:>8} {:>14} {:>12} {:>12} {:>12}  {:<10} {:<9} {:<12} {}\n",
                          chunk.number, chunk.byte, chunk.records, chunk.decoded_bytes,
                          column.compressed_bytes, column_type(file.info, chunk, i),
                          coder_name(column.coder), lane_orders_of(column), strides_of(column));
    }
  return text;
}

std::string list_json(const std::vector<ListedFile>& files) {
  nlohmann::ordered_json json;
  json["files"] = nlohmann::ordered_json::array();
  for (const ListedFile& file : files) json["files"].push_back(file_json(file));
  using Handler = nlohmann::ordered_json::error_handler_t;
  return json.dump(2, ' ', false, Handler::replace) + "\n";  // names need not be UTF-8
}

}  // namespace gdelta::cli
