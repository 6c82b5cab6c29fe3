#include "codec/coders/apart_columns.h"

#include <gtest/gtest.h>

#include <cstring>

#include "codec/chunk/chunk_cases.h"
#include "codec/plan/planner.h"

namespace gdelta::test {
namespace {

/// Every tuple of every column is that of the records.
void expect_columns(const char* record, std::uint64_t records, Workers& workers) {
  const Layout layout = parse_record(record).value();
  const Bytes values = make_values(layout, records, Pattern::random);
  const ApartColumns apart(values, layout, workers);
  std::uint64_t offset = 0;
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    const ColumnBytes& column = apart[c];
    const auto bytes = static_cast<std::size_t>(layout.columns[c].bytes());
    ASSERT_EQ(column.records, records) << record;
    ASSERT_TRUE(column.is_whole_record()) << record;
    for (std::uint64_t i = 0; i < records; ++i)
      ASSERT_EQ(
          std::memcmp(column.at(i, 0), values.data() + i * layout.record_bytes() + offset, bytes),
          0)
          << record << ", column " << c << ", record " << i;
    offset += bytes;
  }
}

TEST(ApartColumns, HoldTheTuplesOfTheirColumns) {
  Workers several(3);
  for (const char* record :
       {"u8,u8", "i32x3,u16,u8x2", "u8,i24:be,f64x64", "f64x64,u8x64,f64x64"}) {
    for (const std::uint64_t records : {1, 2, 1000, 40'001}) {
      expect_columns(record, records, Workers::alone());
      expect_columns(record, records, several);
    }
  }
}

TEST(ApartColumns, AreThoseOfAPlanForSeveralAlone) {
  const auto plan_of = [](const char* record) {
    const Layout layout = parse_record(record).value();
    return plan_chunk(make_values(layout, 1000, Pattern::smooth), layout, false, {});
  };
  EXPECT_EQ(plan_of("i32x3").apart, nullptr);
  EXPECT_NE(plan_of("i32x3,u16").apart, nullptr);
}

}  // namespace
}  // namespace gdelta::test
