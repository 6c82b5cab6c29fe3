#include "list_chunks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "console.h"
#include "list_format.h"

namespace gdelta::cli {

namespace {

constexpr const char* kChunkRow = "{:>6} {:>11} {:>9} {:>9} {:>10} {:>5}  ";
constexpr std::size_t kCodingColumn = 57;  // where the text behind such a row begins
constexpr std::size_t kLanesAWord = 8;     // a line may end after so many
constexpr std::size_t kWhyIndent = 8;

using Words = std::vector<std::string>;

std::string content_of(const ChunkInfo& chunk, const Layout& layout, std::size_t column) {
  return chunk.opaque ? "bytes" : to_string(Layout{{layout.columns[column]}});
}

/// "2" if all lanes have the order, else "2,2,1", which may be cut between words.
void add_orders(Words& words, const ColumnInfo& column) {
  const auto& orders = column.orders;
  if (orders.empty()) return;
  const bool same =
      std::adjacent_find(orders.begin(), orders.end(), std::not_equal_to<>()) == orders.end();
  for (std::size_t lane = 0; lane < (same ? 1 : orders.size()); ++lane) {
    if (lane % kLanesAWord == 0) words.emplace_back();
    words.back() += fmt::format("{}{}", orders[lane], same || lane + 1 == orders.size() ? "" : ",");
  }
}

void add_words(Words& words, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
}

/// "pack", "2,1" or "linear", "decimal", "/100", "lanes", "1-0", "+s640", "+s2^2".
Words coding_of(const ColumnInfo& column) {
  Words words;
  if (!column.unknown.empty()) {
    add_words(words, column.unknown + ", unknown to this version");
    return words;
  }
  words.emplace_back(coder_name(column.coder));
  if (!predictor_sentence(column.predictor).empty())
    words.emplace_back(predictor_name(column.predictor));
  add_orders(words, column);
  // What might have been coded is told of without the fields of its map.
  add_words(words, column.map_words.empty() && column.map != ValueMap::none ? map_name(column.map)
                                                                            : column.map_words);
  add_words(words, column.lane_map_words);
  for (const auto& [stride, order] : column.strides)
    words.push_back(order == 1 ? fmt::format("+s{}", stride)
                               : fmt::format("+s{}^{}", stride, order));
  return words;
}

/// A line on the segments of a chunk; empty if it does not say them.
std::string segments_text(const ChunkInfo& chunk) {
  if (chunk.segments == 0) return {};
  return fmt::format("{:>{}}{} {}{}{}\n", "", kWhyIndent, chunk.segments,
                     chunk.segments == 1 ? "segment" : "segments",
                     chunk.continues ? ", the first from before" : "",
                     chunk.goes_on ? ", the last goes on" : "");
}

std::string bits_text(double bits, std::uint64_t values) {
  return values == 0 ? "-" : fmt::format("{:.1f}", bits / static_cast<double>(values));
}

std::string bits_of(const ColumnInfo& info, const Column& column, std::uint64_t records) {
  return bits_text(8.0 * static_cast<double>(info.compressed_bytes), records * column.tuple);
}

Words lane_bits_of(const ColumnExplanation& explanation, std::uint64_t records) {
  Words words;
  for (const std::uint64_t bits : explanation.lane_bits)
    words.push_back(bits_text(static_cast<double>(bits), records));
  return words;
}

/// "+12.3 %" of what was stored.
std::string change(std::uint64_t bytes, std::uint64_t stored) {
  if (stored == 0) return "-";
  const double share = static_cast<double>(bytes) / static_cast<double>(stored) - 1;
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string alternative_lines(const ColumnExplanation& explanation, std::uint64_t stored) {
  std::string text;
  const auto& ways = explanation.alternatives;
  const auto smaller = [](const ColumnInfo& a, const ColumnInfo& b) {
    return a.compressed_bytes < b.compressed_bytes;
  };
  const auto best = std::min_element(ways.begin(), ways.end(), smaller);
  for (auto way = ways.begin(); way != ways.end(); ++way) {
    Words words = coding_of(*way);
    if (way == best && way->compressed_bytes < stored) words.emplace_back("(the smallest)");
    text += wrapped(fmt::format("{:>{}}{:>10} {:>10}  ", "", kWhyIndent, way->compressed_bytes,
                                change(way->compressed_bytes, stored)),
                    kWhyIndent + 23, words);
  }
  return text;
}

// How a layout was known; empty if its encoder did not say.
std::string how_known(LayoutOrigin origin) {
  if (origin == LayoutOrigin::file_format) return "its type is what the head of a file said";
  const std::string_view sentence = origin_sentence(origin_name(origin));
  return sentence.empty() ? "" : fmt::format("its type was {}", sentence);
}

}  // namespace

std::string framing_line(const FileTotals& totals, std::uint64_t section_bytes) {
  const std::uint64_t framing =
      totals.compressed_bytes - std::min(section_bytes, totals.compressed_bytes);
  const std::string segments =
      totals.segments > 0 ? fmt::format("; {} segments", totals.segments) : "";
  return fmt::format("{} {}{}; heads and indexes take {} bytes, {}\n", totals.chunks,
                     totals.chunks == 1 ? "chunk" : "chunks", segments, framing,
                     percent_of(framing, totals.compressed_bytes));
}

std::string note_lines(const std::vector<LayoutNote>& notes,
                       std::span<const MetadataEntry> metadata) {
  std::string text;
  for (const LayoutNote& note : notes) {
    const std::string level = note.level > 0 ? fmt::format("made at level {}", note.level) : "";
    const std::string how = how_known(note.origin);
    if (level.empty() && how.empty()) continue;
    text += fmt::format("{}{}{}\n", level, level.empty() || how.empty() ? "" : "; ", how);
  }
  for (const MetadataEntry& entry : metadata)
    text += fmt::format("{} = {}\n", printable(entry.key), printable(entry.value));
  return text;
}

std::string chunk_titles() {
  return "\n" +
         fmt::format(kChunkRow, "chunk", "at byte", "records", "bytes", "compressed", "bits") +
         "coded as\n";
}

std::string chunk_lines(const ChunkInfo& chunk, const Layout& layout) {
  const bool single = chunk.columns.size() == 1;
  const std::uint64_t records = chunk.decoded_bytes / layout.record_bytes();
  const auto column_words = [&](std::size_t i) {
    Words words = coding_of(chunk.columns[i]);
    words.insert(words.begin(), content_of(chunk, layout, i));
    return words;
  };
  const std::string segments = segments_text(chunk);
  const auto bits = [&](std::size_t i) {
    return bits_of(chunk.columns[i], layout.columns[i], records);
  };
  std::string text =
      wrapped(fmt::format(kChunkRow, chunk.number, chunk.byte, chunk.records, chunk.decoded_bytes,
                          chunk.block_bytes, single ? bits(0) : ""),
              kCodingColumn,
              single ? column_words(0) : Words{fmt::format("{} columns", chunk.columns.size())});
  text += segments;
  if (single) return text;
  for (std::size_t i = 0; i < chunk.columns.size(); ++i)
    text +=
        wrapped(fmt::format(kChunkRow, "", "", "", "", chunk.columns[i].compressed_bytes, bits(i)),
                kCodingColumn, column_words(i));
  return text;
}

std::string why_lines(const ChunkInfo& chunk, const Layout& layout,
                      std::span<const ColumnExplanation> columns) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint64_t stored = chunk.columns[i].compressed_bytes;
    if (columns.size() > 1)
      text += fmt::format("{:>{}}column {}, {}\n", "", kWhyIndent - 2, i + 1,
                          content_of(chunk, layout, i));
    const Words lanes = lane_bits_of(columns[i], chunk.records);
    if (lanes.size() > 1)
      text +=
          wrapped(fmt::format("{:>{}}bits of each lane: ", "", kWhyIndent), kWhyIndent + 2, lanes);
    text += alternative_lines(columns[i], stored);
  }
  return text;
}

}  // namespace gdelta::cli
