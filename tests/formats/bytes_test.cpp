// Bytes read one after the other, and where they end.
#include "formats/gdelta/bytes.h"

#include <gtest/gtest.h>

namespace gdelta::format {
namespace {

TEST(Cursor, IsNotDoneWhereItFailedAtTheEnd) {
  const Byte bytes[] = {1, 2, 3};
  Cursor cursor{bytes, sizeof bytes};
  EXPECT_EQ(cursor.fixed(2), 0x0201u);
  EXPECT_FALSE(cursor.done());
  EXPECT_EQ(cursor.byte(), 3u);
  EXPECT_TRUE(cursor.done());
  EXPECT_EQ(cursor.byte(), 0u);
  EXPECT_TRUE(cursor.failed);
  EXPECT_FALSE(cursor.done());
}

}  // namespace
}  // namespace gdelta::format
