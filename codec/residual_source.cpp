#include "codec/residual_source.h"

#include <algorithm>

#include "kernels/delta/lane_delta.h"
#include "kernels/delta/stride_delta.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kPiece = 4096;

// The column alone, little-endian, mapped: what stride links work on.
template <class Word>
void copy_column(const ColumnBytes& from, bool ordered, unsigned char* to) {
  const int bytes = value_bytes(from.column.type);
  Word words[kPiece];
  for (std::uint64_t first = 0; first < from.records; first += kPiece) {
    const std::uint64_t count = std::min(kPiece, from.records - first);
    for (int lane = 0; lane < from.column.tuple; ++lane) {
      load_lane(from.at(first, lane), from.record_bytes, count, from.format(ordered), words);
      store_lane(words, count, {bytes, false, false},
                 to + (first * from.column.tuple + lane) * bytes, from.column.bytes());
    }
  }
}

}  // namespace

ResidualSource::ResidualSource(const ColumnBytes& column, const format::ColumnModel& model)
    : source_(column), ordered_(model.map == format::ValueMap::ordered) {
  if (model.num_strides == 0) return;
  strided_.resize(column.bytes());
  if (value_bytes(column.column.type) == 8) {
    copy_column<std::uint64_t>(column, ordered_, strided_.data());
  } else {
    copy_column<std::uint32_t>(column, ordered_, strided_.data());
  }
  for (int link = 0; link < model.num_strides; ++link) {
    difference_stride(
        strided_.data(), column.records * column.column.tuple, value_bytes(column.column.type),
        std::size_t{model.strides[link].stride} * column.column.tuple, model.strides[link].order);
  }
  source_ = {strided_.data(), static_cast<std::uint64_t>(column.column.bytes()), column.records,
             column.column};
  source_.column.big_endian = false;
  ordered_ = false;
}

template <class Word>
void ResidualSource::residuals(int lane, std::uint64_t first, std::uint64_t count, int order,
                               History history, Word* words, Word* states) const {
  const std::uint64_t before = std::min<std::uint64_t>(first, order);
  const std::uint64_t missing = order - before;
  load_lane(source_.at(first - before, lane), source_.record_bytes, before + count,
            source_.format(ordered_), words + missing);
  if (missing > 0) {
    Word fill = 0;
    if (history == History::first_value)
      load_lane(source_.at(0, lane), source_.record_bytes, 1, source_.format(ordered_), &fill);
    std::fill(words, words + missing, fill);
  }
  difference_lane(words, count, order, value_bits(source_.column.type), states);
}

template void ResidualSource::residuals(int, std::uint64_t, std::uint64_t, int, History,
                                        std::uint32_t*, std::uint32_t*) const;
template void ResidualSource::residuals(int, std::uint64_t, std::uint64_t, int, History,
                                        std::uint64_t*, std::uint64_t*) const;

}  // namespace gdelta
