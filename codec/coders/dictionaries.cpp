#include "codec/coders/dictionaries.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "codec/coders/value_table.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/maps/map_fields.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kPiece = 4096;
// Fewer are not worth another thread.
constexpr std::uint64_t kFewestPieces = 8;

struct LaneTable {
  int lane = 0;
  format::TableFields fields;
  std::uint64_t at = 0;  // offset in the block
};

std::vector<LaneTable> tables_of(const SectionToDecode& section) {
  const format::BlockFrame& frame = section.chunk->frame;
  format::Cursor cursor{section.at(frame.head_at), frame.head_bytes, section.head->maps_at};
  format::Front front;
  std::uint64_t exceptions = 0, at = section.section_at() + section.head->tables_at();
  std::vector<LaneTable> tables;
  format::parse_value_maps(cursor, section.column, value_bytes(section.column.type),
                           section.records() * section.column.tuple, front, exceptions,
                           [&](int lane, const format::MapFields& fields) {
                             if (fields.table.entries == 0) return;
                             tables.push_back({lane, fields.table, at});
                             at += fields.table.bytes;
                           });
  return tables;
}

/// Whether all indices of the lane were in the table.
template <class Word>
bool look_up(const SectionToDecode& section, int lane, const std::vector<std::uint64_t>& table) {
  const LaneFormat format{.value_bytes = value_bytes(section.column.type),
                          .big_endian = section.column.big_endian};
  const ValueSink sink{section.out, section.tuple_bytes(), format};
  const std::uint64_t pieces = (section.records() + kPiece - 1) / kPiece;
  std::atomic<bool> are_all_there = true;
  section.workers->for_ranges(pieces, kFewestPieces, [&](std::uint64_t begin, std::uint64_t end) {
    Word words[kPiece];
    for (std::uint64_t piece = begin; piece < end && are_all_there; ++piece) {
      const std::uint64_t first = piece * kPiece;
      const std::uint64_t count = std::min(kPiece, section.records() - first);
      load_lane(section.out + first * section.tuple_bytes() + lane * format.value_bytes,
                section.tuple_bytes(), count, format, words);
      for (std::uint64_t i = 0; i < count; ++i) {
        if (words[i] >= table.size()) return void(are_all_there = false);
        words[i] = static_cast<Word>(table[words[i]]);
      }
      sink.store(lane, first, count, words);
    }
  });
  return are_all_there;
}

}  // namespace

std::optional<Error> look_up_dictionaries(const SectionToDecode& section) {
  const auto corrupt = [&](const char* message, const LaneTable& table) {
    return Error{
        .code = Errc::corrupt, .message = message, .chunk = {}, .byte = section.byte + table.at};
  };
  const ValueType type = section.column.type;
  for (const LaneTable& table : tables_of(section)) {
    const auto values = decode_table(table.fields, section.at(table.at), type);
    if (!values) return corrupt("the table of a dictionary is damaged", table);
    if (!(value_bytes(type) == 8 ? look_up<std::uint64_t>(section, table.lane, *values)
                                 : look_up<std::uint32_t>(section, table.lane, *values)))
      return corrupt("an index is beyond the table of its dictionary", table);
  }
  return std::nullopt;
}

}  // namespace gdelta
