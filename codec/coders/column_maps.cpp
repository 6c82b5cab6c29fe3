#include "codec/coders/column_maps.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "codec/coders/coder.h"
#include "codec/coders/dictionaries.h"
#include "formats/gdelta/maps/map_fields.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

// Tuples. If an exception begins a piece, the word in its place is 0: pieces are the same for any
// number of threads.
constexpr std::uint64_t kPiece = 4096;
// Fewer are not worth another thread.
constexpr std::uint64_t kFewestPieces = 4;

// What a coder may take of the bytes in bins, which are expanded sooner.
constexpr std::uint64_t kPercentOfBins = 97;

constexpr std::uint64_t pieces_of(std::uint64_t records) { return (records + kPiece - 1) / kPiece; }

// The words of all lanes of a piece.
template <class Word>
struct LanePieces {
  explicit LanePieces(int lanes) : words(kPiece * static_cast<std::size_t>(lanes)) {}
  Word* of(int lane) { return words.data() + kPiece * static_cast<std::size_t>(lane); }
  std::vector<Word> words;
};

LaneMapping mapping_of(const ColumnMaps& maps, int lane) {
  return maps.lanes.empty() ? LaneMapping{} : maps.lanes[static_cast<std::size_t>(lane)];
}

/// The indices of the values of a lane.
class LaneIndex {
 public:
  explicit LaneIndex(const std::vector<std::uint64_t>& table)
      : words_(std::max<std::size_t>(table.size(), 1)) {
    for (const std::uint64_t value : table) words_.add(value);
  }

  template <class Word>
  void look_up(Word* words, std::uint64_t count) const {
    if (words_.words().empty()) return;
    words_.find_numbers(std::span(words, count));
  }

 private:
  DistinctWords words_;
};

}  // namespace

bool is_same(const ColumnMaps& a, const ColumnMaps& b) {
  const auto same_mapping = [](const LaneMapping& one, const LaneMapping& other) {
    return one.map == other.map && one.step == other.step && one.offset == other.offset;
  };
  const auto same_step = [](const LaneStep& one, const LaneStep& other) {
    return one.target == other.target && one.source == other.source && one.kind == other.kind;
  };
  return std::equal(a.lanes.begin(), a.lanes.end(), b.lanes.begin(), b.lanes.end(), same_mapping) &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_step) &&
         a.tables == b.tables;
}

MappedColumn::MappedColumn(const ColumnBytes& column, ColumnMaps maps, Workers& workers)
    : column_(column),
      maps_(std::move(maps)),
      bytes_(std::make_unique_for_overwrite<unsigned char[]>(column.bytes())),
      mapped_(column) {
  mapped_.first = bytes_.get();
  mapped_.record_bytes = static_cast<std::uint64_t>(column.column.bytes());
  mapped_.column.type = integer_of(value_bytes(column.column.type));
  mapped_.column.big_endian = false;
  for (const auto& table : maps_.tables)
    tables_.push_back(table.empty() ? CodedTable{} : encode_table(table, column.column.type));
  code_tables(maps_.table_coders);
  if (value_bytes(column.column.type) == 8) {
    map<std::uint64_t>(workers);
  } else {
    map<std::uint32_t>(workers);
  }
}

template <class Word>
void MappedColumn::map(Workers& workers) {
  const int lanes = column_.column.tuple, bits = value_bits(column_.column.type);
  const std::uint64_t pieces = pieces_of(column_.records);
  const std::vector<LaneIndex> indices(maps_.tables.begin(), maps_.tables.end());
  std::vector<std::vector<std::uint64_t>> exceptions(pieces);
  workers.for_ranges(pieces, kFewestPieces, [&](std::uint64_t begin, std::uint64_t end) {
    LanePieces<Word> words(lanes);
    std::vector<std::uint64_t> of_lane;
    for (std::uint64_t piece = begin; piece < end; ++piece) {
      const std::uint64_t first = piece * kPiece;
      const std::uint64_t count = std::min(kPiece, column_.records - first);
      const LaneFormat format = column_.format(ValueMap::none);
      if (column_.is_whole_record())
        load_lanes(column_.at(first, 0), lanes, count, format, words.of(0), kPiece);
      for (int lane = 0; lane < lanes; ++lane) {
        if (!column_.is_whole_record())
          load_lane(column_.at(first, lane), column_.record_bytes, count, format, words.of(lane));
        of_lane.clear();
        map_lane(words.of(lane), count, bits, mapping_of(maps_, lane), first, of_lane);
        if (!indices.empty())
          indices[static_cast<std::size_t>(lane)].look_up(words.of(lane), count);
        for (const std::uint64_t record : of_lane)
          exceptions[piece].push_back(record * static_cast<std::uint64_t>(lanes) +
                                      static_cast<std::uint64_t>(lane));
      }
      std::sort(exceptions[piece].begin(), exceptions[piece].end());
      for (const LaneStep& step : maps_.steps)
        step_lane(words.of(step.target), words.of(step.source), count, bits, step.kind);
      store_lanes(words.of(0), kPiece, lanes, count, mapped_.format(ValueMap::none),
                  bytes_.get() + (mapped_.at(first, 0) - mapped_.first));
    }
  });
  for (const auto& of_piece : exceptions)
    exceptions_.insert(exceptions_.end(), of_piece.begin(), of_piece.end());
}

std::vector<bool> MappedColumn::lanes_with_exceptions() const {
  std::vector<bool> lanes(column_.column.tuple);
  for (const std::uint64_t place : exceptions_) lanes[place % lanes.size()] = true;
  return lanes;
}

std::uint64_t MappedColumn::exception_bytes() const {
  return exceptions_.size() * (format::kExceptionPlaceBytes +
                               static_cast<std::uint64_t>(value_bytes(column_.column.type)));
}

void MappedColumn::code_tables(const std::vector<Coder>& coders) {
  const auto size = [&](const CodedTable& table) {
    format::ByteCount fields;
    format::write_dictionary_fields(fields, value_bytes(column_.column.type),
                                    {.table = table.fields});
    return table.bytes.size() + fields.total;
  };
  for (std::size_t number = 0; number < tables_.size(); ++number)
    for (const Coder coder : coders) {
      if (size(tables_[number]) <= column_coder(coder).shortest) continue;
      CodedTable coded = encode_table_by(coder, maps_.tables[number], column_.column.type);
      if (size(coded) * 100 < size(tables_[number]) * kPercentOfBins)
        tables_[number] = std::move(coded);
    }
}

std::uint64_t MappedColumn::table_bytes() const {
  std::vector<std::byte> fields;
  for (std::size_t lane = 0; lane < tables_.size(); ++lane) append_fields(lane, fields);
  return std::accumulate(
      tables_.begin(), tables_.end(), std::uint64_t{fields.size()},
      [](std::uint64_t sum, const CodedTable& table) { return sum + table.bytes.size(); });
}

void MappedColumn::append_behind(std::vector<std::byte>& out) const {
  append_exceptions(out);
  for (const CodedTable& table : tables_)
    out.insert(out.end(), table.bytes.begin(), table.bytes.end());
}

void MappedColumn::append_exceptions(std::vector<std::byte>& out) const {
  for (const std::uint64_t place : exceptions_)
    format::append_le(out, format::kExceptionPlaceBytes, place);
  const auto lanes = static_cast<std::uint64_t>(column_.column.tuple);
  const int bytes = value_bytes(column_.column.type);
  for (const std::uint64_t place : exceptions_) {
    const auto* value = reinterpret_cast<const std::byte*>(
        column_.at(place / lanes, static_cast<int>(place % lanes)));
    out.insert(out.end(), value, value + bytes);
  }
}

void MappedColumn::append_fields(std::size_t lane, std::vector<std::byte>& out) const {
  const LaneMapping& mapping = maps_.lanes[lane];
  format::ByteAppender sink{out};
  format::write_map_fields(
      sink, value_bytes(column_.column.type),
      {.map = static_cast<ValueMap>(mapping.map),
       .step = mapping.step,
       .offset = mapping.offset,
       .table = tables_.empty() ? format::TableFields{} : tables_[lane].fields});
}

void MappedColumn::describe(format::Front& front, format::SectionTable& table) const {
  const auto append = [&](std::uint64_t value) { format::append_le(table.map_fields, 1, value); };
  if (!maps_.lanes.empty()) {
    const auto has_own = [&](const LaneMapping& lane) { return lane.map != maps_.lanes[0].map; };
    const bool by_lane = std::any_of(maps_.lanes.begin(), maps_.lanes.end(), has_own);
    front.map = by_lane ? ValueMap::by_lane : static_cast<ValueMap>(maps_.lanes[0].map);
    bool any_fields = false;
    if (by_lane)
      for (const LaneMapping& lane : maps_.lanes) append(lane.map);
    for (std::size_t number = 0; number < maps_.lanes.size(); ++number) {
      const LaneMapping& lane = maps_.lanes[number];
      any_fields |= format::has_fields(static_cast<ValueMap>(lane.map));
      append_fields(number, table.map_fields);
    }
    if (any_fields) format::append_varint(table.map_fields, exceptions_.size());
  }
  if (maps_.steps.empty()) return;
  std::vector<format::LaneStepFields> steps;
  for (const LaneStep& step : maps_.steps)
    steps.push_back({step.target, step.source, static_cast<std::uint8_t>(step.kind)});
  front.lane_map = format::lane_map_of(steps[0].kind);
  format::ByteAppender sink{table.lane_map_fields};
  format::write_lane_map_fields(sink, column_.column.tuple, steps);
}

ColumnMaps read_column_maps(const SectionToDecode& section) {
  const format::BlockFrame& frame = section.chunk->frame;
  format::Cursor cursor{section.at(frame.head_at), frame.head_bytes, section.head->maps_at};
  format::Front front;
  std::uint64_t exceptions = 0;
  ColumnMaps maps;
  maps.lanes.assign(section.column.tuple,
                    {.map = static_cast<std::uint8_t>(section.head->model.front.map)});
  format::parse_value_maps(cursor, section.column, value_bytes(section.column.type),
                           section.records() * section.column.tuple, front, exceptions,
                           [&](int lane, const format::MapFields& fields) {
                             maps.lanes[static_cast<std::size_t>(lane)] = {
                                 .map = static_cast<std::uint8_t>(fields.map),
                                 .step = fields.step,
                                 .offset = fields.offset};
                           });
  format::parse_lane_map(cursor, section.column, front, [&](const format::LaneStepFields& step) {
    maps.steps.push_back({.target = step.target,
                          .source = step.source,
                          .kind = static_cast<LaneStepKind>(step.kind)});
  });
  return maps;
}

DecodeScratch maps_scratch(const Column& column, const format::ColumnHead& head) {
  const std::uint64_t word = value_bytes(column.type) == 8 ? 8 : 4;
  const std::uint64_t piece = kPiece * column.tuple * word;
  return {.bytes = piece + table_scratch(head.table_entries, head.table_coders, column.type),
          .more_bytes = piece};
}

namespace {

template <class Word>
void place_words(const SectionToDecode& section, const ColumnMaps& maps,
                 const unsigned char* values) {
  const Column& column = section.column;
  const int bytes = value_bytes(column.type), bits = value_bits(column.type);
  const ValueSink sink{
      section.out, section.tuple_bytes(), {.value_bytes = bytes, .big_endian = column.big_endian}};
  section.workers->for_ranges(
      pieces_of(section.records()), kFewestPieces, section.work,
      [&](std::uint64_t begin, std::uint64_t end) {
        LanePieces<Word> words(column.tuple);
        for (std::uint64_t piece = begin; piece < end; ++piece) {
          const std::uint64_t first = piece * kPiece;
          const std::uint64_t count = std::min(kPiece, section.records() - first);
          load_lanes(values + first * static_cast<std::uint64_t>(column.bytes()), column.tuple,
                     count, {.value_bytes = bytes}, words.of(0), kPiece);
          for (auto step = maps.steps.rbegin(); step != maps.steps.rend(); ++step)
            unstep_lane(words.of(step->target), words.of(step->source), count, bits, step->kind);
          for (int lane = 0; lane < column.tuple; ++lane)
            unmap_lane(words.of(lane), count, bits, mapping_of(maps, lane));
          sink.store_all(column.tuple, first, count, words.of(0), kPiece);
        }
      });
}

std::optional<Error> place_exceptions(const SectionToDecode& section) {
  const format::ColumnHead& head = *section.head;
  const std::uint64_t at = section.section_at() + head.section_bytes;
  const unsigned char* place = section.at(at);
  const unsigned char* value = place + format::kExceptionPlaceBytes * head.exceptions;
  const auto lanes = static_cast<std::uint64_t>(section.column.tuple);
  const auto bytes = static_cast<std::size_t>(value_bytes(section.column.type));
  std::uint64_t next = 0;  // the lowest that may come
  for (std::uint64_t i = 0; i < head.exceptions; ++i) {
    const std::uint64_t number = format::load_le(place, format::kExceptionPlaceBytes);
    if (number < next || number >= section.records() * lanes)
      return Error{.code = Errc::corrupt,
                   .message = "an exception of a value map is out of place",
                   .chunk = {},
                   .byte = section.byte + at};
    next = number + 1;
    std::memcpy(section.out + number / lanes * section.tuple_bytes() + number % lanes * bytes,
                value, bytes);
    place += format::kExceptionPlaceBytes;
    value += bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> place_mapped_column(const SectionToDecode& section,
                                         const unsigned char* values) {
  const ColumnMaps maps = read_column_maps(section);
  if (value_bytes(section.column.type) == 8) {
    place_words<std::uint64_t>(section, maps, values);
  } else {
    place_words<std::uint32_t>(section, maps, values);
  }
  if (auto error = place_exceptions(section)) return error;
  return section.head->table_entries > 0 ? look_up_dictionaries(section) : std::nullopt;
}

}  // namespace gdelta
