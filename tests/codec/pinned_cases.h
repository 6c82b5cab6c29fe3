// Checksums of what the library writes for generated values, by coder: tables that are checked in, so that a
// change of bytes is a line in a diff. What libzstd and liblzma make is left out, since it may differ between their
// versions; what was planned for it is not.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "codec/chunk/chunk_cases.h"
#include "formats/gdelta/block_frame.h"
#include "gdelta/codec.h"
#include "places.h"
#include "stages/registry.h"

namespace gdelta::test {

inline const char* pattern_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::smooth:
      return "smooth";
    case Pattern::random:
      return "random";
    case Pattern::extremes:
      return "extremes";
    case Pattern::alternating:
      return "alternating";
    case Pattern::special_floats:
      return "special_floats";
    case Pattern::equal:
      return "equal";
    default:
      return "repeated";
  }
}

inline std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return format::hash_bytes(bytes);
}

inline bool is_made_by_a_library(Coder coder) {
  return format::coder_traits(coder).bound == format::SectionBound::frames;
}

/// What was decided for every column of every chunk, as text.
inline std::string plan_text(const StreamInfo& info) {
  std::string text;
  for (const ChunkInfo& chunk : info.chunks) {
    text += fmt::format("{} {}:", chunk.records, chunk.opaque);
    for (const ColumnInfo& column : chunk.columns) {
      text += fmt::format(" {} {} {}", coder_name(column.coder), column.map == ValueMap::ordered,
                          column.page_groups);
      for (const int order : column.orders) text += fmt::format(",{}", order);
      for (const auto& [stride, order] : column.strides)
        text += fmt::format(" {}^{}", stride, order);
      if (!is_made_by_a_library(column.coder)) text += fmt::format(" {}", column.compressed_bytes);
    }
    text += '\n';
  }
  return text;
}

inline bool is_made_by_a_library(const StreamInfo& info) {
  for (const ChunkInfo& chunk : info.chunks)
    for (const ColumnInfo& column : chunk.columns)
      if (is_made_by_a_library(column.coder)) return true;
  return false;
}

/// "bytes,SIZE,CHECKSUM" of a stream, or "plan,,CHECKSUM" if a library made some of it.
inline std::string pinned_part(const Bytes& stream) {
  const auto info = inspect(stream);
  EXPECT_TRUE(info);
  if (!info) return "unreadable";
  if (!is_made_by_a_library(*info))
    return fmt::format("bytes,{},{:016x}", stream.size(), checksum_of(stream));
  const std::string text = plan_text(*info);
  return fmt::format("plan,,{:016x}",
                     checksum_of({reinterpret_cast<const std::byte*>(text.data()), text.size()}));
}

/// What an encoder is asked for: a coder, or nothing. One table each: record,shape,level → what pinned_part says.
using PinnedRows = std::map<std::string, std::string>;
using PinnedTables = std::map<std::string, PinnedRows>;

/// Written by `device`, which must make no difference.
inline PinnedTables pinned_tables(const std::string& device) {
  PinnedTables tables;
  for (const char* record : {"u8", "i16x2", "u24:be", "i32x3", "f32", "f64:be", "u64x2", "bf16x5",
                             "i32x3,u16,u8x2,f64"}) {
    const Layout layout = parse_record(record).value();
    for (const Pattern pattern :
         {Pattern::smooth, Pattern::random, Pattern::repeated, Pattern::special_floats}) {
      const Bytes values = make_values(layout, 1500, pattern);
      for (const int level : {1, 2, 3, 5, 6, 9}) {
        for (const std::optional<Coder>& coder : coder_choices()) {
          // Raw is the same at every level, and so is the rest of what is asked for at most of them.
          if (coder && level != 1 && level != 5) continue;
          if (coder == Coder::raw && level != 1) continue;
          EncodeOptions options;
          options.layout = layout;
          options.level = level;
          options.coder = coder;
          options.device = device;
          options.chunk_bytes = 1000 * layout.record_bytes();
          const auto stream = compress(values, options);
          EXPECT_TRUE(stream);
          tables[std::string(coder ? coder_name(*coder) : "any")]
                [fmt::format("\"{}\",{},{}", record, pattern_name(pattern), level)] =
                    stream ? pinned_part(*stream) : "failed";
        }
      }
    }
  }
  return tables;
}

inline std::string pinned_path(const std::string& table) {
  return std::string(kSourceDir) + "/tests/codec/pinned/" + table + ".csv";
}

inline constexpr const char* kPinnedHead = "record,shape,level,what,size,xxh3";

/// The rows that are checked in.
inline PinnedRows read_pinned_rows(const std::string& table) {
  PinnedRows rows;
  std::ifstream file(pinned_path(table));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, kPinnedHead) << pinned_path(table);
  while (std::getline(file, line)) {
    std::size_t end = line.size();  // before what, size and xxh3
    for (int comma = 0; comma < 3; ++comma) end = line.rfind(',', end - 1);
    rows[line.substr(0, end)] = line.substr(end + 1);
  }
  return rows;
}

inline void write_pinned_rows(const std::string& table, const PinnedRows& rows) {
  std::ofstream file(pinned_path(table));
  file << kPinnedHead << '\n';
  for (const auto& [name, part] : rows) file << name << ',' << part << '\n';
}

}  // namespace gdelta::test
