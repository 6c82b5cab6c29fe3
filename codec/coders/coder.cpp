#include "codec/coders/coder.h"

#include <algorithm>

#include "codec/coders/column_maps.h"
#include "codec/coders/predictor.h"

namespace gdelta {
namespace {

// Undoes map and byte order while copying a column to its place.
template <class Word>
void place_column(const SectionToDecode& section, const unsigned char* values, LaneFormat format) {
  const int bytes = format.value_bytes;
  const ValueSink sink{section.out, section.tuple_bytes(), format};
  const std::uint64_t pieces = (section.records() + kColumnPiece - 1) / kColumnPiece;
  section.workers->for_ranges(
      pieces, kFewestColumnPieces, section.work, [&](std::uint64_t begin, std::uint64_t end) {
        Word words[kColumnPiece];
        for (std::uint64_t first = begin * kColumnPiece;
             first < std::min(end * kColumnPiece, section.records()); first += kColumnPiece) {
          const std::uint64_t count = std::min(kColumnPiece, section.records() - first);
          for (int lane = 0; lane < section.column.tuple; ++lane) {
            load_lane(values + (first * section.column.tuple + lane) * bytes,
                      section.column.bytes(), count, {.value_bytes = bytes}, words);
            sink.store(lane, first, count, words);
          }
        }
      });
}

}  // namespace

const ColumnCoder& column_coder(Coder coder) {
  static constexpr const ColumnCoder* kCoders[] = {
#define GDELTA_ADDRESS(name, number, ...) &name##_coder,
      GDELTA_CODERS(GDELTA_ADDRESS)
#undef GDELTA_ADDRESS
  };
  return *kCoders[static_cast<int>(coder)];
}

std::optional<Error> decode_residuals(const SectionToDecode& section, DecodeResiduals narrow,
                                      DecodeResiduals wide) {
  const format::ColumnModel& model = section.head->model;
  const Column& column = section.column;
  const bool is_wide = value_bytes(column.type) == 8;
  const DecodeResiduals decode = is_wide ? wide : narrow;
  const LaneFormat format{.value_bytes = value_bytes(column.type),
                          .big_endian = column.big_endian,
                          .map = static_cast<std::uint8_t>(model.front.map)};
  if (!section.head->is_finished_later())
    return decode(section, {section.out, section.tuple_bytes(), format});
  // It is finished where it goes: what places it reads a piece before it writes the piece.
  unsigned char* const values = section.out;
  WorkPart of_coder(section.work, 0.5), of_undoing(section.work, 0.3),
      of_placing(section.work, 0.2);
  if (auto error = decode(section.told(of_coder),
                          {values, section.tuple_bytes(), {.value_bytes = format.value_bytes}}))
    return error;
  column_predictor(model.front.predictor).undo(section.told(of_undoing), values);
  if (format::maps_in_a_pass(model.front))
    return place_mapped_column(section.told(of_placing), values);
  if (format.map == 0 && !format.big_endian) return std::nullopt;
  if (is_wide) {
    place_column<std::uint64_t>(section.told(of_placing), values, format);
  } else {
    place_column<std::uint32_t>(section.told(of_placing), values, format);
  }
  return std::nullopt;
}

}  // namespace gdelta
