// The page decoder on a simulated device, in random orders of warps: sections of the encoder against
// the values. What a GPU alone can show is for the codec's CUDA tests.
#include "simulator/page_launch.h"

namespace gdelta::test {
namespace {

/// The column's bytes of all records, and nothing else.
Expected expect_values(const PackedCase& packed, std::size_t misaligned) {
  Expected expected = untouched(packed, misaligned);
  unsigned char* out = expected.out.data() + kMargin + misaligned;
  for (std::size_t chunk = 0; chunk < packed.columns.size(); ++chunk) {
    const PackedColumn& column = packed.columns[chunk];
    for (std::uint64_t i = 0; i < column.records; ++i) {
      const std::uint64_t at = i * column.record_bytes + column.offset;
      std::copy_n(packed.values[chunk].data() + at, column.tuple_bytes(), out + at);
    }
    out += packed.values[chunk].size();
  }
  return expected;
}

/// Each column of the case, a warp a page: by one block, which draws tickets first, by two and by
/// many; then a block a page. Every launch takes its warps in an order of its own.
void expect_decodes(const PageCase& c) {
  const std::size_t columns = parse_record(c.record).value().columns.size();
  for (std::size_t which = 0; which < columns; ++which) {
    PackedCase packed;
    ASSERT_NO_FATAL_FAILURE(pack(c, which, packed));
    const Expected expected = expect_values(packed, c.misaligned);
    PageLaunch launch(packed, c.misaligned);
    for (const std::uint64_t max_pages : {std::uint64_t{1}, std::uint64_t{2}, kEveryBlock})
      EXPECT_TRUE(launch.leaves(expected, max_pages)) << c << " column " << which;
    EXPECT_TRUE(launch.leaves(expected, kEveryBlock, true))
        << c << " column " << which << " by block";
  }
}

const char* integer_of(int bytes) {
  constexpr const char* kNames[] = {"", "u8", "u16", "i24", "i32", "", "", "", "i64"};
  return kNames[bytes];
}

class PagesOfWidth : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(PagesSimulator, PagesOfWidth, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(PagesOfWidth, DecodeForEveryTupleAndOrder) {
  const int bytes = GetParam();
  for (int tuple = 1; tuple <= 4; ++tuple) {
    for (const int order : {0, 1, 2, 3, kMixedOrders}) {
      for (const double outliers : {0.0, 0.01, 0.2}) {
        PageCase c{std::string(integer_of(bytes)) + "x" + std::to_string(tuple)};
        c.order = order;
        c.outliers = outliers;
        c.most_bits = 5 * bytes;
        c.empty_groups = order % 2 == 1;
        c.page_groups = order == 2 ? 32 / tuple : 7;  // the second is no multiple of a tile
        c.records = order == 2 ? 4096 / tuple + 900 : 1900;
        expect_decodes(c);
      }
    }
  }
}

TEST_P(PagesOfWidth, DecodeGroupsOfEveryWidth) {
  for (const int tuple : {1, 3}) {
    PageCase c{std::string(integer_of(GetParam())) + "x" + std::to_string(tuple)};
    c.most_bits = 8 * GetParam();
    c.empty_groups = true;
    c.page_groups = 10;
    c.records = 128 * 600 / static_cast<unsigned>(tuple);
    c.chunks = 1;
    expect_decodes(c);
  }
}

TEST_P(PagesOfWidth, DecodeToAnyAddressAndIntoWideRecords) {
  const std::string type = integer_of(GetParam());
  for (const std::size_t misaligned : {1, 2, 4, 8, 12}) {
    for (const int tuple : {1, 3}) {
      PageCase c{type + "x" + std::to_string(tuple)};
      c.most_bits = 4 * GetParam();
      c.outliers = 0.01;
      c.misaligned = misaligned;
      c.records = 1500;
      expect_decodes(c);
    }
  }
  for (const std::string& record : {"u8," + type, type + "x2,u16," + type, type + "x4,u32"}) {
    PageCase c{record};
    c.most_bits = 5;
    c.records = 1500;
    expect_decodes(c);
  }
}

// Slabs that are whole, cut and several, in teams of one, two and four warps.
TEST_P(PagesOfWidth, DecodeWideTuplesOfEveryOrder) {
  const int bytes = GetParam();
  for (const int tuple : {5, 8, 13, 33, 64}) {
    for (const int order : {0, 1, 2, kMixedOrders}) {
      PageCase c{std::string(integer_of(bytes)) + "x" + std::to_string(tuple)};
      if (order == kMixedOrders && tuple > 8) continue;
      c.order = order;
      c.outliers = order == 0 ? 0 : 0.02 * order * order;
      c.most_bits = 5 * bytes;
      c.empty_groups = order != 0;
      c.page_groups = order == 2 ? 8 : 3;  // the second is no multiple of a tile
      c.records = order == 2 ? 1500 : 700;
      expect_decodes(c);
    }
  }
}

TEST_P(PagesOfWidth, DecodeWideTuplesToAnyAddressAndIntoWideRecords) {
  const std::string type = integer_of(GetParam());
  for (const std::size_t misaligned : {1, 2, 4, 8, 12}) {
    for (const char* tuple : {"x5", "x6", "x7", "x8"}) {
      PageCase c{type + tuple};
      c.most_bits = 4 * GetParam();
      c.outliers = 0.01;
      c.misaligned = misaligned;
      c.records = 700;
      expect_decodes(c);
    }
  }
  for (const std::string& record :
       {"u8," + type + "x5", type + "x8,u16," + type + "x9", "u64x2," + type + "x16"}) {
    PageCase c{record};
    c.most_bits = 5;
    c.records = 700;
    expect_decodes(c);
  }
}

TEST(PagesSimulator, ManyPagesAreDrawnAsTickets) {
  for (const char* record : {"i32", "u16x3", "i64x2", "u8x4", "i32x6", "i64x9"}) {
    PageCase c{record};
    c.most_bits = 6;
    c.outliers = 0.01;
    c.page_groups = 2;
    c.records = 700;
    c.chunks = 40;
    expect_decodes(c);
  }
}

// More lanes than a warp takes, and more than a block's stage holds.
TEST(PagesSimulator, BlocksDecodeTuplesOfAnySize) {
  for (const char* record : {"u8x5", "i24x17", "u16x33", "i32x64", "i64x64"}) {
    PageCase c{record};
    c.order = 2;
    c.most_bits = 7;
    c.outliers = 0.01;
    c.empty_groups = true;
    c.page_groups = 3;
    c.records = 700;
    PackedCase packed;
    ASSERT_NO_FATAL_FAILURE(pack(c, 0, packed));
    EXPECT_TRUE(PageLaunch(packed, 1).leaves(expect_values(packed, 1), kEveryBlock, true)) << c;
  }
}

TEST(PagesSimulator, PagesOfAWarpLieManyColumnsApart) {
  PageCase c{"u32"};
  c.most_bits = 6;
  c.records = 100;
  c.chunks = 100;
  expect_decodes(c);
}

TEST(PagesSimulator, ByteOrderAndValueMapAreUndone) {
  for (const char* record : {"f16:be", "f32:bex3", "f64:be", "f32x2", "f64x4", "bf16"}) {
    for (const bool ordered : {false, true}) {
      PageCase c{record};
      c.most_bits = 9;
      c.outliers = 0.01;
      c.ordered = ordered;
      expect_decodes(c);
    }
  }
  for (const char* record : {"i24:be", "u16:bex4", "i64:bex3"}) {
    PageCase c{record};
    c.most_bits = 9;
    expect_decodes(c);
  }
}

}  // namespace
}  // namespace gdelta::test
