// Where the values of one column lie in a stretch of records.
#pragma once

#include <cstdint>

#include "gdelta/types.h"
#include "kernels/words/lane_words.h"

namespace gdelta {

/// What values are behind maps and prediction: integers of that width.
constexpr ValueType integer_of(int bytes) {
  return bytes == 1   ? ValueType::i8
         : bytes == 2 ? ValueType::i16
         : bytes == 3 ? ValueType::i24
         : bytes == 4 ? ValueType::i32
                      : ValueType::i64;
}

struct ColumnBytes {
  const unsigned char* first = nullptr;  // first value of the column in the first record
  std::uint64_t record_bytes = 0;
  std::uint64_t records = 0;
  Column column;

  LaneFormat format(ValueMap map) const {
    return {.value_bytes = value_bytes(column.type),
            .big_endian = column.big_endian,
            .map = static_cast<std::uint8_t>(map)};
  }
  const unsigned char* at(std::uint64_t record, int lane) const {
    return first + record * record_bytes + lane * value_bytes(column.type);
  }
  /// Bytes of the column alone.
  std::uint64_t bytes() const { return records * static_cast<std::uint64_t>(column.bytes()); }
  bool is_whole_record() const {
    return record_bytes == static_cast<std::uint64_t>(column.bytes());
  }
  /// Whether there is but one tuple, again and again; of one record or more.
  bool has_equal_tuples() const;
};

}  // namespace gdelta
