// Arrays whose heads say how long their rows and planes are: these are tried as strides, each array's for itself.
#include <functional>

#include "codec/chunk/near_lanes.h"
#include "codec/stream/stream_tools.h"
#include "formats/foreign_samples.h"

namespace gdelta::test {
namespace {

using format::FileMaker;
using Strides = std::vector<std::uint64_t>;

constexpr std::size_t kColumns = 50, kRows = 30, kPlanes = 20;

/// i32 of a shape, from the slowest dimension on. `value`: of a place in that order, all of them within 2^20.
FileMaker array_of(const std::vector<std::size_t>& shape,
                   const std::function<std::uint64_t(std::size_t)>& value) {
  std::string text = "(";
  std::size_t count = 1;
  for (const std::size_t dimension : shape) {
    text += std::to_string(dimension) + ", ";
    count *= dimension;
  }
  FileMaker values;
  for (std::size_t i = 0; i < count; ++i) values.u32(value(i));
  const Bytes data = values.bytes();
  return with_data(format::npy_file(format::npy_literal("<i4", text + ")"), data.size()), data);
}

/// Values that repeat after so many, but for a little.
std::function<std::uint64_t(std::size_t)> repeating(std::size_t after) {
  return [after, random = std::mt19937_64(5), seen = Strides()](std::size_t i) mutable {
    if (i < after) seen.push_back(random() % (1 << 20));
    return seen[i % after] + random() % 8;
  };
}

FileMaker like_rows() { return array_of({kPlanes, kRows, kColumns}, repeating(kColumns)); }
FileMaker like_planes() {
  return array_of({kPlanes, kRows, kColumns}, repeating(kColumns * kRows));
}

EncodeOptions options_at(int level) {
  EncodeOptions options = encode_on_cpu();
  options.level = level;
  return options;
}

/// The strides of chunks of numbers, 0 for those that have none.
Strides strides_of(const Bytes& stream) {
  const auto info = inspect(stream);
  EXPECT_TRUE(info);
  Strides strides;
  for (const ChunkInfo& chunk : info->chunks) {
    if (chunk.opaque) continue;
    const auto& of_column = chunk.columns.at(0).strides;
    strides.push_back(of_column.empty() ? 0 : of_column.at(0).first);
  }
  return strides;
}

/// Of a file, which comes back, and is the same stream however it is written.
Strides strides_taken(const Bytes& file, const EncodeOptions& options) {
  const Bytes stream = compress(file, options).value();
  EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), file);
  EXPECT_EQ(write_stream(file, options, {1, 77, 4099}).value(), stream);
  return strides_of(stream);
}

TEST(ArrayRows, AreStridesOfLevelsThatLookForNone) {
  for (const int level : {1, 2}) {
    EXPECT_EQ(strides_taken(like_rows().bytes(), options_at(level)), Strides{kColumns}) << level;
    EXPECT_EQ(strides_taken(like_planes().bytes(), options_at(level)), Strides{kColumns * kRows})
        << level;
  }
}

TEST(ArrayRows, AreLeftWhereTheySaveNothing) {
  const FileMaker noise =
      array_of({kPlanes, kRows, kColumns}, repeating(kColumns * kRows * kPlanes));
  EXPECT_EQ(strides_taken(noise.bytes(), options_at(1)), Strides{0});
  // What repeats is no row.
  const FileMaker other = array_of({kPlanes, kRows, kColumns}, repeating(kColumns - 1));
  EXPECT_EQ(strides_taken(other.bytes(), options_at(1)), Strides{0});
  const FileMaker flat = array_of({kPlanes * kRows * kColumns}, repeating(kColumns));
  EXPECT_EQ(strides_taken(flat.bytes(), options_at(1)), Strides{0});
}

TEST(ArrayRows, TooLongForAChunkAreLeft) {
  const Bytes file = like_planes().bytes();
  EncodeOptions options = options_at(1);
  static_assert(46 * 128 < 4 * kColumns * kRows && 47 * 128 >= 4 * kColumns * kRows);
  options.chunk_bytes = 4 * 47 * 128;
  EXPECT_EQ(strides_taken(file, options).at(1), kColumns * kRows);
  options.chunk_bytes = 4 * 46 * 128;
  EXPECT_EQ(strides_taken(file, options).at(1), 0u);
}

TEST(ArrayRows, WhatIsAskedForComesFirst) {
  EncodeOptions options = options_at(1);
  options.stride = 2 * kColumns;
  EXPECT_EQ(strides_taken(like_rows().bytes(), options), Strides{2 * kColumns});
  // One that is to be found is known here.
  options.stride = kFindStride;
  EXPECT_EQ(strides_taken(like_rows().bytes(), options), Strides{kColumns});
}

/// Lanes less others, of which those that are left would have a stride, but the whole is not worth coding.
TEST(ArrayRows, AreNotLookedForWhereMapsAreNotWorthIt) {
  const Bytes values = near_lanes([](int lane) { return lane >= 2; });
  const FileMaker file =
      with_data(format::npy_file(format::npy_literal("|u1", "(4, 32, 4)"), values.size()), values);
  const auto info = inspect(compress(file.bytes(), options_at(1)).value());
  const ChunkInfo& chunk = info->chunks.at(1);
  EXPECT_EQ(to_string(info->layouts.at(chunk.layout)), "u8x4");
  EXPECT_EQ(chunk.columns.at(0).coder, Coder::raw);
}

/// Rows that are longer than what the level looks for.
TEST(ArrayRows, AreCandidatesOfLevelsThatLookForStrides) {
  constexpr std::size_t kLong = 5000;
  const auto long_rows = [](std::vector<std::size_t> shape) {
    return array_of(shape, repeating(kLong)).bytes();
  };
  for (const int level : {3, 5}) {
    EncodeOptions options = options_at(level);
    options.coder = Coder::pack;
    EXPECT_EQ(strides_taken(long_rows({40, kLong}), options), Strides{kLong}) << level;
    EXPECT_EQ(strides_taken(long_rows({40 * kLong}), options), Strides{0}) << level;
    EXPECT_EQ(strides_taken(long_rows({8, 5, kLong}), options), Strides{kLong}) << level;
    EXPECT_EQ(strides_taken(long_rows({40, 50, kLong / 50}), options), Strides{kLong}) << level;
  }
}

TEST(ArrayRows, EachArrayHasItsOwn) {
  const FileMaker flat = array_of({9000}, repeating(9000));
  FileMaker zip = zip_file("a.npy", like_rows());
  zip.append(zip_file("b.npy", flat)).append(zip_file("c.npy", like_planes()));
  zip.append(zip_file("d.npy", array_of({kRows * kPlanes, 70}, repeating(70))));
  EXPECT_EQ(strides_taken(zip.bytes(), options_at(1)),
            (Strides{kColumns, 0, kColumns * kRows, 70}));
}

}  // namespace
}  // namespace gdelta::test
