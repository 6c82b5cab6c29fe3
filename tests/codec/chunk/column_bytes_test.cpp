#include "codec/coders/column_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdelta::test {
namespace {

/// Columns of bytes, alone and between others, of which one byte differs.
TEST(ColumnBytes, EqualTuplesAreThoseOfWhichNoByteDiffers) {
  for (const std::size_t tuple : {1, 2, 3, 7, 64}) {
    for (const std::size_t between : {0, 1, 5}) {
      for (const std::size_t records : {1, 2, 3, 63, 64, 65, 700, 4097}) {
        const std::size_t record_bytes = tuple + between;
        std::vector<unsigned char> bytes(records * record_bytes);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
          const std::size_t at = i % record_bytes;
          bytes[i] = static_cast<unsigned char>(at < tuple ? at : 31 * i);
        }
        const ColumnBytes column{
            .first = bytes.data(),
            .record_bytes = record_bytes,
            .records = records,
            .column = {ValueType::u8, static_cast<std::uint8_t>(tuple), false}};
        EXPECT_TRUE(column.has_equal_tuples()) << tuple << ", " << between << ", " << records;
        for (const std::size_t other : {std::size_t{0}, records / 2, records - 1}) {
          if (records == 1) continue;
          unsigned char& byte = bytes[other * record_bytes + tuple - 1];
          byte ^= 1;
          EXPECT_FALSE(column.has_equal_tuples()) << tuple << ", " << records << ": " << other;
          byte ^= 1;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::test
