// What enumerate, compact, distribute, split and split-and-segment are held to, on a GPU and on the
// simulated device.
#pragma once

#include <initializer_list>

#include "gdelta/primitives/compact.cuh"
#include "gdelta/primitives/distribute.cuh"
#include "gdelta/primitives/enumerate.cuh"
#include "gdelta/primitives/split.cuh"
#include "gdelta/primitives/split_and_segment.cuh"
#include "kernels/segments_cases.h"

namespace gdelta::segments_test {

struct Marked {
  std::vector<std::uint32_t> values;
  std::vector<bool> heads;
  std::vector<bool> marks;
};

/// Values that say where they were; one in `one_in` is marked, none if that is 0.
inline Marked marked_values(const std::vector<bool>& heads, unsigned one_in) {
  std::mt19937 random(one_in);
  Marked all{{}, heads, {}};
  for (std::size_t i = 0; i < heads.size(); ++i) {
    all.values.push_back(static_cast<std::uint32_t>(i * 2654435761u));
    all.marks.push_back(one_in != 0 && random() % one_in == 0);
  }
  return all;
}

inline std::vector<bool> flags_of(const std::vector<std::uint32_t>& words, std::size_t count) {
  std::vector<bool> flags;
  for (std::size_t i = 0; i < count; ++i) flags.push_back((words[i / 32] >> (i % 32) & 1) != 0);
  return flags;
}

/// Half-open ranges of places.
inline std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const std::vector<bool>& heads) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i == 0 || heads[i]) ranges.push_back({i, i});
    ranges.back().second = i + 1;
  }
  return ranges;
}

/// Where values of these kinds, marked or not, go: segment by segment, kind by kind.
struct Moved {
  std::vector<std::uint32_t> values;
  std::vector<bool> heads;  ///< the first of a kind in its segment
};
inline Moved moved_by_kind(const Marked& given, std::initializer_list<bool> kinds) {
  Moved moved;
  for (const auto& [begin, end] : ranges_of(given.heads)) {
    for (const bool kind : kinds) {
      bool first = true;
      for (std::size_t i = begin; i < end; ++i) {
        if (given.marks[i] != kind) continue;
        moved.values.push_back(given.values[i]);
        moved.heads.push_back(first);
        first = false;
      }
    }
  }
  return moved;
}

template <class Segments>
void expect_enumerate(const Marked& given, const Segments& segments, const std::string& what) {
  const std::size_t count = given.values.size();
  std::vector<std::uint64_t> expected;
  for (const auto& [begin, end] : ranges_of(given.heads)) {
    std::uint64_t before = 0;
    for (std::size_t i = begin; i < end; ++i) {
      expected.push_back(before);
      before += given.marks[i];
    }
  }
  const OnDevice<std::uint32_t> marks(bits_of(given.marks));
  const OnDevice<std::uint64_t> before(std::vector<std::uint64_t>(count, 99));
  const std::size_t bytes = enumerate_scratch_bytes<std::uint64_t>(count, segments);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(enumerate(count, Marks{marks.data()}, segments, before.data(), scratch.data(), bytes,
                      nullptr),
            cudaSuccess);
  EXPECT_EQ(difference(before.values(), expected), "") << "enumerate, " << what;
}

template <class Segments>
void expect_compact(const Marked& given, const Segments& segments, const std::string& what) {
  const std::size_t count = given.values.size();
  const Moved expected = moved_by_kind(given, {true});
  const OnDevice<std::uint32_t> in(given.values);
  const OnDevice<std::uint32_t> marks(bits_of(given.marks));
  const OnDevice<std::uint32_t> out(std::vector<std::uint32_t>(count, 7));
  const OnDevice<std::uint32_t> heads(std::vector<std::uint32_t>((count + 31) / 32, 7));
  const OnDevice<std::uint64_t> kept(std::vector<std::uint64_t>(1, 7));
  const std::size_t bytes = compact_scratch_bytes(count, segments);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(compact(count, in.data(), Marks{marks.data()}, segments, out.data(), heads.data(),
                    kept.data(), scratch.data(), bytes, nullptr),
            cudaSuccess);
  ASSERT_EQ(kept.values()[0], expected.values.size()) << what;
  auto result = out.values();
  result.resize(expected.values.size());
  EXPECT_EQ(difference(result, expected.values), "") << "compact, " << what;
  EXPECT_TRUE(flags_of(heads.values(), expected.values.size()) == expected.heads)
      << "compact, " << what;
}

template <class Segments>
void expect_distribute(const Marked& given, const Segments& segments, const std::string& what) {
  const std::size_t count = given.values.size();
  for (const bool from_tail : {false, true}) {
    std::vector<std::uint32_t> expected;
    for (const auto& [begin, end] : ranges_of(given.heads))
      expected.insert(expected.end(), end - begin, given.values[from_tail ? end - 1 : begin]);
    const SegmentedScan scan{.count = count, .backward = from_tail};
    const OnDevice<std::uint32_t> in(given.values);
    const OnDevice<std::uint32_t> out(std::vector<std::uint32_t>(count, 7));
    const std::size_t bytes = distribute_scratch_bytes<std::uint32_t>(scan, segments);
    const OnDevice<unsigned char> scratch(rubbish(bytes));
    ASSERT_EQ(distribute(scan, in.data(), out.data(), segments, scratch.data(), bytes, nullptr),
              cudaSuccess);
    EXPECT_EQ(difference(out.values(), expected), "") << "distribute, " << what;
  }
}

inline void expect_split(const Marked& given, const std::string& what) {
  const std::size_t count = given.values.size();
  const Moved expected = moved_by_kind(given, {false, true});
  const auto unmarked =
      static_cast<unsigned long long>(std::count(given.marks.begin(), given.marks.end(), false));
  const OnDevice<std::uint32_t> in(given.values);
  const OnDevice<std::uint32_t> marks(bits_of(given.marks));
  const OnDevice<std::uint32_t> out(std::vector<std::uint32_t>(count, 7));
  const OnDevice<unsigned long long> number(std::vector<unsigned long long>(1, 7));
  const std::size_t bytes = split_scratch_bytes(count);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(split(count, in.data(), Marks{marks.data()}, out.data(), number.data(), scratch.data(),
                  bytes, nullptr),
            cudaSuccess);
  EXPECT_EQ(number.values()[0], unmarked) << what;
  EXPECT_EQ(difference(out.values(), expected.values), "") << "split, " << what;
}

template <class Segments>
void expect_split_and_segment(const Marked& given, const Segments& segments,
                              const std::string& what) {
  const std::size_t count = given.values.size();
  const Moved expected = moved_by_kind(given, {false, true});
  const OnDevice<std::uint32_t> in(given.values);
  const OnDevice<std::uint32_t> marks(bits_of(given.marks));
  const OnDevice<std::uint32_t> out(std::vector<std::uint32_t>(count, 7));
  const OnDevice<std::uint32_t> heads(std::vector<std::uint32_t>((count + 31) / 32, 7));
  const std::size_t bytes = split_and_segment_scratch_bytes(count, segments);
  const OnDevice<unsigned char> scratch(rubbish(bytes));
  ASSERT_EQ(split_and_segment(count, in.data(), Marks{marks.data()}, segments, out.data(),
                              heads.data(), scratch.data(), bytes, nullptr),
            cudaSuccess);
  EXPECT_EQ(difference(out.values(), expected.values), "") << "split and segment, " << what;
  EXPECT_TRUE(flags_of(heads.values(), count) == expected.heads) << "split and segment, " << what;
}

inline void expect_all_primitives(std::uint64_t rows) {
  for (const auto& [name, lengths] : segmentations(rows, {8, 1024}, 3)) {
    const std::vector<bool> heads = heads_of(lengths);
    const OnDevice<std::uint32_t> bits(bits_of(heads));
    const OnDevice<std::uint32_t> offsets(offsets_of<std::uint32_t>(lengths));
    const HeadFlags by_flags{bits.data()};
    const SegmentOffsets<std::uint32_t> by_offsets{offsets.data(), lengths.size()};
    for (const unsigned one_in : {0u, 1u, 3u}) {
      const Marked given = marked_values(heads, one_in);
      const std::string what = name + ", one marked in " + std::to_string(one_in);
      expect_enumerate(given, by_flags, what);
      expect_compact(given, by_offsets, what);
      expect_split_and_segment(given, by_flags, what);
      if (one_in == 1) expect_distribute(given, by_offsets, what);
    }
  }
  const std::vector<bool> one_segment(rows, false);
  for (const unsigned one_in : {0u, 1u, 3u, 40u}) {
    const Marked given = marked_values(one_segment, one_in);
    const std::string what = "whole array, one marked in " + std::to_string(one_in);
    expect_enumerate(given, WholeArray{}, what);
    if (rows > 0) expect_compact(given, WholeArray{}, what);
    expect_split(given, what);
    expect_split_and_segment(given, WholeArray{}, what);
  }
}

}  // namespace gdelta::segments_test
