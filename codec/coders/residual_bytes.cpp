#include "codec/coders/residual_bytes.h"

#include <algorithm>
#include <memory>

#include "codec/coders/workers.h"
#include "formats/gdelta/column_head.h"
#include "kernels/deltas/lane_delta.h"

namespace gdelta {
namespace {

/// `out` has room for `tuples` tuples; those of this range are put behind `written` others.
template <class Word>
void write_range(const ResidualSource& source, TupleRange range, const format::ColumnModel& model,
                 std::uint64_t tuples, std::uint64_t written, unsigned char* out) {
  const Column& column = source.column().column;
  const int bytes = value_bytes(column.type);
  Word words[kMaxOrder + kColumnPiece];
  Word states[kMaxOrder];
  for (std::uint64_t done = 0; done < range.count; done += kColumnPiece, written += kColumnPiece) {
    const std::uint64_t count = std::min(kColumnPiece, range.count - done);
    for (int lane = 0; lane < column.tuple; ++lane) {
      source.residuals(lane, range.first + done, count, model.front.orders[lane], History::zero,
                       words, states);
      if (model.section.arrangement != format::Arrangement::values) {
        split_planes(words, count, bytes, out + lane * tuples * bytes + written, tuples);
      } else {
        store_lane(words, count, {.value_bytes = bytes},
                   out + (written * column.tuple + lane) * bytes, column.bytes());
      }
    }
  }
}

template <class Word>
void write_residual_bytes(const ResidualSource& source, std::span<const TupleRange> ranges,
                          const format::ColumnModel& model, std::uint64_t tuples, Workers& workers,
                          Work* work, unsigned char* out) {
  std::uint64_t written = 0;
  for (const TupleRange range : ranges) {
    const std::uint64_t pieces = (range.count + kColumnPiece - 1) / kColumnPiece;
    WorkPart of_range(work, static_cast<double>(range.count) / static_cast<double>(tuples));
    workers.for_ranges(
        pieces, kFewestColumnPieces, &of_range, [&](std::uint64_t begin, std::uint64_t end) {
          const std::uint64_t first = begin * kColumnPiece;
          const std::uint64_t count = std::min(end * kColumnPiece, range.count) - first;
          write_range<Word>(source, {range.first + first, count}, model, tuples, written + first,
                            out);
        });
    written += range.count;
  }
}

}  // namespace

std::vector<unsigned char> residual_bytes(const ResidualSource& source,
                                          std::span<const TupleRange> ranges,
                                          const format::ColumnModel& model, Workers& workers,
                                          Work* work) {
  std::uint64_t tuples = 0;
  for (const TupleRange range : ranges) tuples += range.count;
  std::vector<unsigned char> bytes(tuples * source.column().column.bytes());
  if (value_bytes(source.column().column.type) == 8) {
    write_residual_bytes<std::uint64_t>(source, ranges, model, tuples, workers, work, bytes.data());
  } else {
    write_residual_bytes<std::uint32_t>(source, ranges, model, tuples, workers, work, bytes.data());
  }
  return bytes;
}

namespace {

// Residuals of tuples [first, first + count) of a lane from the bytes of a part of `tuples` tuples.
template <class Word>
void residuals_from_bytes(std::span<const unsigned char> bytes, const Column& column,
                          std::uint64_t tuples, format::Arrangement arrangement, int lane,
                          std::uint64_t first, std::uint64_t count, Word* words) {
  const int width = value_bytes(column.type);
  if (arrangement != format::Arrangement::values) {
    merge_planes(bytes.data() + lane * tuples * width + first, tuples, count, width, words);
  } else {
    load_lane(bytes.data() + (first * column.tuple + lane) * width, column.bytes(), count,
              {.value_bytes = width}, words);
  }
}

}  // namespace

template <class Word>
std::optional<Error> decode_residual_bytes(const SectionToDecode& section, DecodeBytes decode,
                                           const ValueSink& sink) {
  const format::ColumnModel& model = section.head->model;
  const std::uint64_t part_tuples = format::part_tuples(model.section, section.records());
  const auto room = std::make_unique_for_overwrite<unsigned char[]>(section.bytes());
  const std::span bytes(room.get(), section.bytes());
  WorkPart of_bytes(section.work, 0.5), of_sums(section.work, 0.5);
  if (auto error = decode(section.told(of_bytes), bytes)) return error;
  const auto values_of_all =
      static_cast<double>(section.records()) * static_cast<double>(section.column.tuple);
  section.workers->for_each(section.column.tuple, [&](std::size_t number) {
    const int lane = static_cast<int>(number);
    Word words[kColumnPiece];
    Word states[kMaxOrder] = {};
    for (std::uint64_t begin = 0; begin < section.records(); begin += part_tuples) {
      const std::uint64_t tuples = std::min(part_tuples, section.records() - begin);
      const std::span<const unsigned char> part(bytes.data() + begin * section.column.bytes(),
                                                tuples * section.column.bytes());
      for (std::uint64_t first = 0; first < tuples; first += kColumnPiece) {
        const std::uint64_t count = std::min(kColumnPiece, tuples - first);
        const WorkPart of_piece(&of_sums, static_cast<double>(count) / values_of_all);
        residuals_from_bytes(part, section.column, tuples, model.section.arrangement, lane, first,
                             count, words);
        sum_lane(words, count, model.front.orders[lane], states);
        sink.store(lane, begin + first, count, words);
      }
    }
  });
  return std::nullopt;
}

template std::optional<Error> decode_residual_bytes<std::uint32_t>(const SectionToDecode&,
                                                                   DecodeBytes, const ValueSink&);
template std::optional<Error> decode_residual_bytes<std::uint64_t>(const SectionToDecode&,
                                                                   DecodeBytes, const ValueSink&);

}  // namespace gdelta
