// Types, tuples and records as people write them.
#include "gdelta/types.h"

#include <gtest/gtest.h>

namespace gdelta {
namespace {

TEST(Types, EveryTypeNameIsReadBackInBothByteOrders) {
  for (int i = 0; i < kNumValueTypes; ++i) {
    const auto type = static_cast<ValueType>(i);
    for (const bool big_endian : {false, true}) {
      const std::string text = std::string(type_name(type)) + (big_endian ? ":be" : "");
      const auto column = parse_type(text);
      ASSERT_TRUE(column) << text;
      EXPECT_EQ(*column, (Column{type, 1, big_endian})) << text;
    }
  }
}

TEST(Types, AnUnknownTypeIsRefusedWithTheListOfTypes) {
  for (const char* text :
       {"", "i", "int", "i33", "I32", "f128", " i32", "i32 ", "bf", "x3", ":be"}) {
    const auto column = parse_type(text);
    ASSERT_FALSE(column) << text;
    EXPECT_EQ(column.error().code, Errc::invalid_argument);
    EXPECT_NE(column.error().message.find("bf16"), std::string::npos) << column.error().message;
  }
}

TEST(Types, ATupleAfterAPlainTypeIsExplained) {
  const auto column = parse_type("i32x3");
  ASSERT_FALSE(column);
  EXPECT_NE(column.error().message.find("tuple"), std::string::npos);
}

TEST(Types, AByteOrderIsBeOrLe) {
  EXPECT_FALSE(parse_type("i32:le")->big_endian);
  for (const char* text : {"i32:", "i32:BE", "i32:b", "i32:be:be"})
    EXPECT_FALSE(parse_type(text)) << text;
}

TEST(Types, ARecordIsReadBackAsItIsWritten) {
  for (const char* text :
       {"i32x3,u16,u8x2,f64", "i16:bex2", "u8", "bf16x64", "f16:be,i24:bex7,u24"}) {
    const auto layout = parse_record(text);
    ASSERT_TRUE(layout) << text;
    EXPECT_EQ(to_string(*layout), text);
  }
  const auto layout = parse_record("i32x3,u16:be,u8x2,f64");
  ASSERT_EQ(layout->columns.size(), 4u);
  EXPECT_EQ(layout->columns[0], (Column{ValueType::i32, 3, false}));
  EXPECT_EQ(layout->columns[1], (Column{ValueType::u16, 1, true}));
  EXPECT_EQ(layout->record_bytes(), 24u);
}

TEST(Types, ARecordThatIsNoneIsRefused) {
  for (const char* text :
       {"", ",", "i32,", ",i32", "i32,,u8", "i32x", "i32x0", "i32x65", "i32x-1", "i32x1.5",
        "i32x99999999999999999999", "i32x3:be", "i32 x3", "i32x 3", "i32xx3", "i32x3x3"}) {
    const auto layout = parse_record(text);
    ASSERT_FALSE(layout) << text;
    EXPECT_EQ(layout.error().code, Errc::invalid_argument);
    EXPECT_FALSE(layout.error().message.empty());
  }
}

TEST(Types, AnErrorQuotesLongTextInPart) {
  const auto layout = parse_record(std::string(1 << 20, 'q'));
  ASSERT_FALSE(layout);
  EXPECT_LT(layout.error().message.size(), 300u);
}

TEST(Types, LimitsOfALayoutHold) {
  EXPECT_FALSE(check_layout(Layout{}));
  EXPECT_TRUE(check_layout(byte_layout()));
  EXPECT_EQ(byte_layout().record_bytes(), 1u);

  Layout widest;  // 128 x 64 x 8 bytes: exactly 64 KiB
  widest.columns.assign(128, Column{ValueType::f64, 64, false});
  EXPECT_TRUE(check_layout(widest));
  widest.columns.push_back(Column{});
  EXPECT_FALSE(check_layout(widest));

  Layout most;
  most.columns.assign(kMaxColumns, Column{});
  EXPECT_TRUE(check_layout(most));
  EXPECT_EQ(parse_record(to_string(most)), most);
  most.columns.push_back(Column{});
  EXPECT_FALSE(check_layout(most));
  EXPECT_FALSE(parse_record(to_string(most)));

  EXPECT_FALSE(check_layout(Layout{{Column{ValueType::i8, 0, false}}}));
  EXPECT_FALSE(check_layout(Layout{{Column{ValueType::i8, 65, false}}}));
  EXPECT_FALSE(check_layout(Layout{{Column{static_cast<ValueType>(14), 1, false}}}));
}

TEST(Types, CodersHaveNames) {
  EXPECT_EQ(coder_name(Coder::raw), "raw");
  EXPECT_EQ(coder_name(Coder::constant), "constant");
  EXPECT_EQ(coder_name(Coder::pack), "pack");
  EXPECT_EQ(coder_name(Coder::zstd), "zstd");
}

}  // namespace
}  // namespace gdelta
