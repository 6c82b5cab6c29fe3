// Damaged pages on a simulated device, against the decoder of the host.
#include <functional>
#include <set>

#include "codec/coders/pack_section.h"
#include "codec/faults/group_fields.h"
#include "kernels/bitpack/group_layout.h"
#include "simulator/page_launch.h"

namespace gdelta::test {
namespace {

/// What the host's decoder makes of a page without value map: lanes, a page apart; false if it
/// refuses the page.
bool decode_on_host(const PackedColumn& column, std::size_t page,
                    std::vector<std::uint64_t>& words) {
  const std::uint64_t begin = column.page_begin(page), end = column.page_ends[page];
  const PageBytes bytes{column.section.data() + begin, end - begin, column.section.size() - begin};
  const std::uint64_t tuples = column.page_tuples(page),
                      apart = format::part_tuples(column.model.section, column.records);
  words.assign(apart * column.column.tuple, 0);
  if (value_bytes(column.column.type) == 8)
    return decode_page(bytes, column.column, column.model.front, tuples, words.data(), apart);
  std::vector<std::uint32_t> narrow(words.size());
  const bool whole =
      decode_page(bytes, column.column, column.model.front, tuples, narrow.data(), apart);
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
      const std::uint64_t apart = format::part_tuples(column.model.section, column.records);
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
                        format::page_state_bytes(column.model.front, column.column) + byte];
}

constexpr std::uint64_t kFewBlocks = 2;

/// Both kernels find the damage that is expected, and touch nothing that is not theirs.
void expect_of_kernels(const PackedCase& packed, const Expected& expected,
                       const std::string& what) {
  PageLaunch launch(packed, 0);
  EXPECT_TRUE(launch.leaves(expected, kFewBlocks)) << what;
  EXPECT_TRUE(launch.leaves(expected, kFewBlocks, true)) << what << " by block";
}

/// They find what the host finds: damage, or perhaps none.
void expect_as_host_says(const PackedCase& packed, bool damaged, const std::string& what) {
  const Expected expected = expect_as_host(packed);
  if (damaged) {
    EXPECT_TRUE(std::any_of(expected.damaged.begin(), expected.damaged.end(), [](auto at) {
      return at != kWhole;
    })) << what;
  }
  expect_of_kernels(packed, expected, what);
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

constexpr const char* kDamagedRecords[] = {"u8",  "u16x2", "i24x4", "i32",   "i32x3",
                                           "i64", "i64x4", "u8x5",  "i32x6", "i64x9"};

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
                                  format::page_state_bytes(column.model.front, column.column) +
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

// ---- Groups that break a rule

using faults::GroupFields;
using Random = std::mt19937_64;

constexpr int kGroups = 5;  // of a lane in a page

/// Pages of one column, filled at random by what the format allows.
class RandomPages {
 public:
  /// The last group of a lane has `last_residuals`, others 128. Each has an exception at the last one,
  /// and no more than so many.
  RandomPages(const char* record, int last_residuals, int exceptions, Random& random)
      : column_(parse_record(record).value().columns[0]), last_residuals_(last_residuals) {
    for (const int groups : {kGroups, kGroups, 3}) {
      std::vector<GroupFields>& page = pages_.emplace_back();
      for (int lane = 0; lane < column_.tuple; ++lane)
        for (int group = 0; group < groups; ++group)
          page.push_back(random_group(residuals(pages_.size() - 1, group), exceptions, random));
    }
  }

  int bits() const { return value_bits(column_.type); }
  int tuple() const { return column_.tuple; }
  int groups(std::size_t page) const { return static_cast<int>(pages_[page].size()) / tuple(); }
  int residuals(std::size_t page, int group) const {
    return page == 2 && group == 2 ? last_residuals_ : kGroupValues;
  }
  GroupFields& group(std::size_t page, int lane, int group) {
    return pages_[page][static_cast<unsigned>(lane * groups(page) + group)];
  }

  PackedCase packed() const {
    PackedColumn column;
    column.column = column_;
    column.model.section.coder = Coder::pack;
    column.model.section.part_groups = kGroups;
    std::fill_n(column.model.front.orders, tuple(), std::uint8_t{1});
    column.records = static_cast<unsigned>((2 * kGroups + 2) * kGroupValues + last_residuals_);
    column.record_bytes = column.tuple_bytes();
    const std::vector<std::byte> states(column.tuple_bytes(), std::byte{0x41});
    for (const std::vector<GroupFields>& groups : pages_) {
      for (const std::byte byte : faults::page_of_groups(states, groups))
        column.section.push_back(std::to_integer<unsigned char>(byte));
      column.page_ends.push_back(static_cast<std::uint32_t>(column.section.size()));
    }
    return {{column}, {PageBuffer(column.records * column.record_bytes)}};
  }

 private:
  GroupFields random_group(int residuals, int exceptions, Random& random) const {
    const auto below = [&](int limit) {
      return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    GroupFields group;
    group.width = below(bits());
    const int high_bits = bits() - group.width;
    group.high_bytes = high_bytes_of(high_bits);
    for (int i = 0; i < residuals; ++i)
      group.slots.emplace_back(i, random() & low_bits(group.width));
    std::set<int> positions{residuals - 1};
    for (int i = 1; i < exceptions; ++i) positions.insert(below(residuals));
    for (const int position : positions)
      group.exceptions.emplace_back(
          position, 1 + (below(4) == 0 ? low_bits(high_bits) - 1 : random() % low_bits(high_bits)));
    return group;
  }

  Column column_;
  int last_residuals_;
  std::vector<std::vector<GroupFields>> pages_;
};

constexpr const char* kRuledRecords[] = {"u8",    "u8x2",  "u16x3", "i24x4", "i32",
                                         "i32x3", "i64x2", "i64x3", "u8x5",  "i64x9"};
constexpr int kLastResiduals[] = {1, 40, 127, 128};

TEST(PagesDamageSimulator, GroupsThatBreakNoRuleDecodeAsOnTheHost) {
  Random random(3);
  for (const char* record : kRuledRecords) {
    for (const int last : kLastResiduals) {
      for (const int exceptions : {1, 40, 126}) {
        const PackedCase packed = RandomPages(record, last, exceptions, random).packed();
        const Expected expected = expect_as_host(packed);
        EXPECT_EQ(expected.damaged[0], kWhole) << record;
        expect_of_kernels(packed, expected, record);
      }
    }
  }
}

/// Makes one thing wrong in a group with so many residuals; false if there is no such thing.
using Plant = std::function<bool(GroupFields&, int residuals, int bits, Random&)>;

/// Groups in many places get the fault, one at a time; their page is refused.
void expect_refused(const char* what, const Plant& plant) {
  Random random(11);
  std::size_t planted = 0;
  for (const char* record : kRuledRecords) {
    for (const int last : kLastResiduals) {
      RandomPages pages(record, last, last % 2 == 0 ? 60 : 3, random);
      for (const std::size_t page : {2u, 2u, static_cast<unsigned>(random() % 2)}) {
        const int lane = static_cast<int>(random() % static_cast<unsigned>(pages.tuple()));
        const int group = random() % 4 < 3 ? pages.groups(page) - 1 : 0;
        GroupFields& faulty = pages.group(page, lane, group);
        const GroupFields kept = faulty;
        if (!plant(faulty, pages.residuals(page, group), pages.bits(), random)) continue;
        const PackedCase packed = pages.packed();
        const Expected expected = expect_as_host(packed);
        const std::string where = std::string(what) + " in " + record + " page " +
                                  std::to_string(page) + " lane " + std::to_string(lane) +
                                  " group " + std::to_string(group);
        EXPECT_EQ(expected.damaged[0], section_at(0) + packed.columns[0].page_begin(page)) << where;
        expect_of_kernels(packed, expected, where);
        faulty = kept;
        ++planted;
      }
    }
  }
  EXPECT_GT(planted, 20u) << what;
}

/// An exception of the group, but the first ones.
faults::AtPosition& exception_behind(GroupFields& group, std::size_t first, Random& random) {
  return group.exceptions[first + random() % (group.exceptions.size() - first)];
}

TEST(PagesDamageSimulator, PositionsThatDoNotRiseAreReported) {
  expect_refused("a position twice", [](GroupFields& group, int, int, Random& random) {
    if (group.exceptions.size() < 2) return false;
    auto& exception = exception_behind(group, 1, random);
    exception.first = (&exception - 1)->first;
    return true;
  });
  expect_refused("positions exchanged", [](GroupFields& group, int, int, Random& random) {
    if (group.exceptions.size() < 2) return false;
    auto& exception = exception_behind(group, 1, random);
    std::swap(exception.first, (&exception - 1)->first);
    return true;
  });
}

TEST(PagesDamageSimulator, PositionsWithoutATupleAreReported) {
  expect_refused("a position behind the last residual",
                 [](GroupFields& group, int residuals, int, Random& random) {
                   group.exceptions.back().first =
                       residuals + (random() % 2 == 0 ? 0 : static_cast<int>(random() % 100));
                   return true;
                 });
}

TEST(PagesDamageSimulator, HighsThatAreNoneAreReported) {
  expect_refused("a high of 0", [](GroupFields& group, int, int, Random& random) {
    exception_behind(group, 0, random).second = 0;
    return true;
  });
}

TEST(PagesDamageSimulator, HighsBeyondTheTypeAreReported) {
  expect_refused("a high too long", [](GroupFields& group, int, int bits, Random& random) {
    const int spare = 8 * group.high_bytes - (bits - group.width);
    if (spare <= 0) return false;
    const int bit = bits - group.width + static_cast<int>(random() % static_cast<unsigned>(spare));
    exception_behind(group, 0, random).second |= 1ull << bit;
    return true;
  });
  expect_refused("an exception above the full width",
                 [](GroupFields& group, int, int bits, Random&) {
                   group.width = bits;
                   return true;
                 });
}

TEST(PagesDamageSimulator, PaddingThatIsNotZeroIsReported) {
  expect_refused("padding", [](GroupFields& group, int residuals, int, Random& random) {
    if (residuals == kGroupValues || group.width == 0) return false;
    const int free = kGroupValues - residuals;
    const int position =
        residuals +
        (random() % 2 == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(free)));
    group.slots.emplace_back(position, 1ull << random() % static_cast<unsigned>(group.width));
    return true;
  });
}

}  // namespace
}  // namespace gdelta::test
