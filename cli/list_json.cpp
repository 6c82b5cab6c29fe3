#include "list_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "list_format.h"

namespace gdelta::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;

// How deep items of these lists stand.
constexpr int kFileDepth = 2;
constexpr int kPartDepth = 4;

Json column_json(const ColumnInfo& column) {
  Json json;
  json["coder"] = coder_name(column.coder);
  if (!column.unknown.empty()) json["unknown"] = column.unknown;
  json["map"] = map_name(column.map);
  if (!column.map_words.empty()) json["map_words"] = column.map_words;
  if (!column.lane_map_words.empty()) json["lane_map"] = column.lane_map_words;
  if (column.exceptions > 0) json["exceptions"] = column.exceptions;
  json["predictor"] = predictor_name(column.predictor);
  json["orders"] = column.orders;
  if (column.head_order) json["head_order"] = *column.head_order;
  if (column.page_states) json["page_states"] = true;
  json["strides"] = Json::array();
  for (const auto& [stride, order] : column.strides)
    json["strides"].push_back({{"stride", stride}, {"order", order}});
  json["compressed_bytes"] = column.compressed_bytes;
  return json;
}

Json chunk_json(const ChunkInfo& chunk, std::span<const ColumnExplanation> why) {
  Json json;
  json["number"] = chunk.number;
  json["byte"] = chunk.byte;
  json["block_bytes"] = chunk.block_bytes;
  json["records"] = chunk.records;
  json["decoded_at"] = chunk.decoded_at;
  json["decoded_bytes"] = chunk.decoded_bytes;
  if (chunk.segments > 0) {
    json["segments"] = chunk.segments;
    json["continues"] = chunk.continues;
    json["goes_on"] = chunk.goes_on;
  }
  json["opaque"] = chunk.opaque;
  json["layout"] = chunk.opaque ? Json() : Json(chunk.layout);
  json["level"] = chunk.note.level == 0 ? Json() : Json(chunk.note.level);
  json["layout_origin"] =
      chunk.note.origin == LayoutOrigin::unknown ? Json() : Json(origin_name(chunk.note.origin));
  json["columns"] = Json::array();
  for (const ColumnInfo& column : chunk.columns) json["columns"].push_back(column_json(column));
  for (std::size_t i = 0; i < why.size(); ++i) {
    Json& column = json["columns"][i];
    column["lane_bits"] = why[i].lane_bits;
    column["alternatives"] = Json::array();
    for (const ColumnInfo& way : why[i].alternatives)
      column["alternatives"].push_back(column_json(way));
  }
  return json;
}

std::string indent(int depth) {
  return std::string(static_cast<std::size_t>(kIndent * depth), ' ');
}

/// The text of a value, its lines but the first moved to the right.
std::string text_of(const Json& json, int depth) {
  const std::string text = json.dump(kIndent, ' ', false, Json::error_handler_t::replace);
  std::string moved;
  for (const char c : text) {
    moved += c;
    if (c == '\n') moved += indent(depth);
  }
  return moved;
}

}  // namespace

JsonList::JsonList(std::FILE* out) : out_(out) { write("{\n  \"files\": ["); }

void JsonList::write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), out_); }

void JsonList::begin_item(int depth) {
  write((first_item_ ? "\n" : ",\n") + indent(depth));
  first_item_ = false;
}

void JsonList::end_list(int depth) { write(first_item_ ? "]" : "\n" + indent(depth) + "]"); }

void JsonList::begin_file(const std::string& name, const FileTotals& totals,
                          std::span<const MetadataEntry> metadata) {
  begin_item(kFileDepth);
  Json json;
  json["file"] = name;  // names need not be UTF-8
  json["streams"] = totals.streams;
  json["compressed_bytes"] = totals.compressed_bytes;
  json["decoded_bytes"] = totals.decoded_bytes;
  json["ratio"] = ratio_of(totals);
  json["metadata"] = Json::object();
  for (const MetadataEntry& entry : metadata) json["metadata"][entry.key] = entry.value;
  std::string members = text_of(json, kFileDepth);
  members.resize(members.rfind('\n'));
  write(members + ",\n" + indent(kFileDepth + 1) + "\"layouts\": [");
  first_item_ = true;
}

void JsonList::add_layout(const Layout& layout) {
  begin_item(kPartDepth);
  write(text_of(to_string(layout), kPartDepth));
}

void JsonList::begin_chunks() {
  end_list(kPartDepth - 1);
  write(",\n" + indent(kFileDepth + 1) + "\"chunks\": [");
  first_item_ = true;
}

void JsonList::add_chunk(const ChunkInfo& chunk, std::span<const ColumnExplanation> why) {
  begin_item(kPartDepth);
  write(text_of(chunk_json(chunk, why), kPartDepth));
}

void JsonList::end_file() {
  end_list(kPartDepth - 1);
  write("\n" + indent(kFileDepth) + "}");
  first_item_ = false;
}

void JsonList::finish() {
  end_list(1);
  write("\n}\n");
}

}  // namespace gdelta::cli
