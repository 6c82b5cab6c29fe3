// Damaged pages on a simulated device, against the decoder of the host.
#include "codec/coders/pack_section.h"
#include "kernels/bitpack/group_layout.h"
#include "simulator/page_launch.h"

namespace gdelta::test {
namespace {

/// What the host's decoder makes of a page without value map: lanes, a page apart; false where it
/// refuses the page.
bool decode_on_host(const PackedColumn& column, std::size_t page,
                    std::vector<std::uint64_t>& words) {
  const std::uint64_t begin = column.page_begin(page), end = column.page_ends[page];
  const PageBytes bytes{column.section.data() + begin, end - begin, column.section.size() - begin};
  const std::uint64_t tuples = column.page_tuples(page),
                      apart = format::part_tuples(column.model, column.records);
  words.assign(apart * column.column.tuple, 0);
  if (value_bytes(column.column.type) == 8)
    return decode_page(bytes, column.column, column.model, tuples, words.data(), apart);
  std::vector<std::uint32_t> narrow(words.size());
  const bool whole = decode_page(bytes, column.column, column.model, tuples, narrow.data(), apart);
  std::copy(narrow.begin(), narrow.end(), words.begin());
  return whole;
}

/// What the host makes of sections that may be damaged; little-endian columns without value map.
Expected expect_as_host(const PackedCase& packed) {
  Expected expected = untouched(packed, 0);
  std::size_t out_at = kMargin;
  for (std::size_t chunk = 0; chunk < packed.columns.size(); ++chunk) {
    const PackedColumn& column = packed.columns[chunk];
    const int bytes = value_bytes(column.column.type);
    std::vector<std::uint64_t> words;
    for (std::size_t page = 0; page < column.page_ends.size(); ++page) {
      const bool whole = decode_on_host(column, page, words);
      if (!whole)
        expected.damaged[chunk] = std::min<unsigned long long>(
            expected.damaged[chunk], section_at(chunk) + column.page_begin(page));
      const std::uint64_t apart = format::part_tuples(column.model, column.records);
      for (std::uint64_t i = 0; i < column.page_tuples(page); ++i) {
        std::size_t at = out_at + (page * apart + i) * column.record_bytes + column.offset;
        for (int lane = 0; lane < column.column.tuple; ++lane) {
          for (int k = 0; k < bytes; ++k, ++at) {
            expected.out[at] = static_cast<unsigned char>(words[lane * apart + i] >> (8 * k));
            expected.unspecified[at] = !whole;
          }
        }
      }
    }
    out_at += packed.values[chunk].size();
  }
  return expected;
}

unsigned char& descriptor_byte(PackedColumn& column, std::size_t page, std::size_t byte) {
  return column.section[column.page_begin(page) +
                        format::page_state_bytes(column.model, column.column) + byte];
}

/// Both devices find the same damage, or none, and nobody touches what is not theirs.
void expect_as_host_says(const PackedCase& packed, bool damaged, const std::string& what) {
  const Expected expected = expect_as_host(packed);
  if (damaged) {
    EXPECT_TRUE(std::any_of(expected.damaged.begin(), expected.damaged.end(), [](auto at) {
      return at != kWhole;
    })) << what;
  }
  PageLaunch launch(packed, 0);
  EXPECT_TRUE(launch.leaves(expected, kEveryBlock)) << what;
}

PageCase damage_case(const std::string& record) {
  PageCase c{record};
  c.most_bits = 3;
  c.outliers = 0.03;
  c.page_groups = 5;
  c.records = 1500;
  c.chunks = 1;
  return c;
}

constexpr const char* kDamagedRecords[] = {"u8", "u16x2", "i24x4", "i32", "i32x3", "i64", "i64x4"};

TEST(PagesDamageSimulator, DescriptorsThatDoNotFitAreReported) {
  for (const char* record : kDamagedRecords) {
    PackedCase whole;
    ASSERT_NO_FATAL_FAILURE(pack(damage_case(record), 0, whole));
    for (std::size_t bit = 0; bit < 16; ++bit) {
      PackedCase packed = whole;
      const std::size_t pages = packed.columns[0].page_ends.size(), page = bit % pages;
      descriptor_byte(packed.columns[0], page, 2 * (bit % 2) + bit / 8) ^=
          static_cast<unsigned char>(1 << bit % 8);
      expect_as_host_says(packed, true, std::string(record) + " bit " + std::to_string(bit));
    }
  }
}

TEST(PagesDamageSimulator, ExceptionsBehindTheirGroupAreReported) {
  for (const char* record : kDamagedRecords) {
    PackedCase packed;
    ASSERT_NO_FATAL_FAILURE(pack(damage_case(record), 0, packed));
    PackedColumn& column = packed.columns[0];
    const std::size_t all_groups = 5u * column.column.tuple;
    std::uint32_t exceptions_at = column.page_begin(1) +
                                  format::page_state_bytes(column.model, column.column) +
                                  2 * static_cast<std::uint32_t>(all_groups);
    for (std::size_t group = 0; group < all_groups; ++group) {
      const GroupDescriptor descriptor{
          static_cast<std::uint32_t>(format::load_le(&descriptor_byte(column, 1, 2 * group), 2))};
      exceptions_at += static_cast<std::uint32_t>(descriptor.group_bytes());
    }
    ASSERT_LT(exceptions_at, column.page_ends[1]) << record;
    column.section[exceptions_at] |= 128;  // the first position
    expect_as_host_says(packed, true, record);
  }
}

TEST(PagesDamageSimulator, PagesThatAreCutAreReported) {
  for (const char* record : kDamagedRecords) {
    PackedCase whole;
    ASSERT_NO_FATAL_FAILURE(pack(damage_case(record), 0, whole));
    for (std::uint32_t cut : {1u, 2u, 16u, 100u, 1u << 20}) {
      for (const bool last : {false, true}) {
        PackedCase packed = whole;
        PackedColumn& column = packed.columns[0];
        const std::size_t page = last ? column.page_ends.size() - 1 : 0;
        std::uint32_t& end = column.page_ends[page];
        end -= std::min(cut, end - column.page_begin(page));
        if (last) column.section.resize(end);
        expect_as_host_says(packed, true, std::string(record) + " cut " + std::to_string(cut));
      }
    }
  }
}

TEST(PagesDamageSimulator, AnyDamagedByteIsJudgedAsOnTheHost) {
  std::mt19937_64 random(7);
  for (const char* record : kDamagedRecords) {
    PackedCase whole;
    ASSERT_NO_FATAL_FAILURE(pack(damage_case(record), 0, whole));
    for (int round = 0; round < 40; ++round) {
      PackedCase packed = whole;
      PageBuffer& section = packed.columns[0].section;
      for (int flips = 1 + round % 3; flips > 0; --flips)
        section[random() % section.size()] ^= static_cast<unsigned char>(1 << random() % 8);
      expect_as_host_says(packed, false, std::string(record) + " round " + std::to_string(round));
    }
  }
}

}  // namespace
}  // namespace gdelta::test
