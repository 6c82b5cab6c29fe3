#include "gdelta/segment_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "segment_cases.h"

namespace gdelta::test {
namespace {

constexpr const char* kRecords[] = {"u32",   "i8x3",   "u8",       "i16x2",    "u16:be",
                                    "i24x2", "u24:be", "i32",      "i64:bex2", "u64",
                                    "f16",   "bf16x3", "f32:bex3", "f64",      "u32x17"};

Bytes compressed(const Segmentation& segments, const Bytes& values, const EncodeOptions& options) {
  auto stream = compress_segments(segments.offsets(), values, options);
  EXPECT_TRUE(stream.has_value()) << segments.name << ": " << stream.error().to_string();
  return stream ? *stream : Bytes();
}

void expect_same(const Result<SegmentedValues>& got, const std::vector<std::uint64_t>& offsets,
                 std::span<const std::byte> values, const std::string& what) {
  ASSERT_TRUE(got.has_value()) << what << ": " << got.error().to_string();
  EXPECT_EQ(got->offsets, offsets) << what;
  EXPECT_TRUE(std::equal(got->values.begin(), got->values.end(), values.begin(), values.end()))
      << what;
}

TEST(SegmentStream, EverySegmentationComesBackAtEveryOrder) {
  for (const Segmentation& segments : segmentations())
    for (const char* record : {"u32", "i16x3"})
      for (int order = 0; order <= kMaxOrder; ++order) {
        EncodeOptions options = encode_on_cpu(record);
        options.order = order;
        options.chunk_bytes = 4096;
        const Bytes values = rising_values(segments, *options.layout);
        expect_same(decompress_segments(compressed(segments, values, options), decode_on_cpu()),
                    segments.offsets(), values,
                    segments.name + " " + record + " " + std::to_string(order));
      }
}

TEST(SegmentStream, EveryTypeComesBackFromEveryCoder) {
  Segmentation segments{"a long one among short ones", std::vector<std::uint64_t>(250, 2)};
  segments.lengths[100] = 2500;
  for (const char* record : kRecords)
    for (const int level : {1, 3, 5, 9}) {
      EncodeOptions options = encode_on_cpu(record);
      options.level = level;
      options.chunk_bytes = 5000;
      const Bytes values = rising_values(segments, *options.layout);
      expect_same(decompress_segments(compressed(segments, values, options), decode_on_cpu()),
                  segments.offsets(), values, std::string(record) + " " + std::to_string(level));
    }
  for (const Coder coder : asked_coders()) {
    EncodeOptions options = encode_on_cpu("i32x2");
    options.coder = coder;
    const Bytes values = rising_values(segments, *options.layout);
    expect_same(decompress_segments(compressed(segments, values, options), decode_on_cpu()),
                segments.offsets(), values, std::string(coder_name(coder)));
  }
}

TEST(SegmentStream, RecordsOfSeveralColumnsAndValuesOfNoPatternComeBack) {
  for (const Segmentation& segments : segmentations()) {
    EncodeOptions options = encode_on_cpu("i32x3,u16,u8x2,f64");
    options.chunk_bytes = 5000;
    const Bytes values = random_bytes(segments.records() * options.layout->record_bytes());
    expect_same(decompress_segments(compressed(segments, values, options), decode_on_cpu()),
                segments.offsets(), values, segments.name);
  }
}

// How the lengths of segments are stored.
ColumnInfo stored_lengths(std::vector<std::uint64_t> lengths, const char* record, int level) {
  const Segmentation segments{"", std::move(lengths)};
  EncodeOptions options = encode_on_cpu(record);
  options.level = level;
  options.device_decodable = true;
  const Bytes values = rising_values(segments, *options.layout);
  const Bytes stream = compressed(segments, values, options);
  expect_same(decompress_segments(stream, decode_on_cpu()), segments.offsets(), values, record);
  return inspect(stream)->chunks.at(0).lengths.at(0);
}

// Where ans saves much of the chunk it takes them at any level.
TEST(SegmentStream, LengthsArePackedWherePagesOfAnsSaveLittle) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> even, skewed;
  for (int k = 0; k < 3000; ++k) {
    even.push_back(random() % 64 + 1);
    skewed.push_back(random() % 8 == 0 ? random() % 4 : 1);
  }
  EXPECT_EQ(stored_lengths(even, "i32", 5).coder, Coder::pack);
  EXPECT_EQ(stored_lengths(skewed, "u8", 5).coder, Coder::ans);
  EXPECT_EQ(stored_lengths(skewed, "u8", 9).coder, Coder::ans);
}

// A device decodes a chunk's lengths before its values, and a page from one end to the other.
TEST(SegmentStream, FewLengthsHaveShortPages) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> lengths;
  for (int k = 0; k < 3000; ++k) lengths.push_back(random() % 64 + 1);
  EXPECT_EQ(stored_lengths(lengths, "u8", 1).page_groups, 8u);
  for (int k = 0; k < 17000; ++k) lengths.push_back(random() % 4 + 1);
  EXPECT_EQ(stored_lengths(lengths, "u8", 1).page_groups, 32u);
}

// Residuals of ans are joined in a pass of its own, which takes longer the more heads there are: 2 % of segments of four are not
// worth it, 8 % of segments of two are.
TEST(SegmentStream, PredictionInsideSegmentsHasToSaveEnoughBehindAns) {
  EncodeOptions options = encode_on_cpu("i32");
  options.device_decodable = true;
  for (const auto& [level, lengths, predictor] :
       {std::tuple{5, std::vector<std::uint64_t>(4000, 5), Predictor::deltas},
        std::tuple{5, std::vector<std::uint64_t>(5000, 4), Predictor::deltas},
        std::tuple{5, std::vector<std::uint64_t>(10000, 2), Predictor::segments},
        std::tuple{7, std::vector<std::uint64_t>(5000, 4), Predictor::segments}}) {
    options.level = level;
    const Segmentation segments{"", lengths};
    const Bytes stream = compressed(segments, rising_values(segments, *options.layout), options);
    const auto info = inspect(stream);
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->chunks[0].columns[0].coder, Coder::ans);
    EXPECT_EQ(info->chunks[0].columns[0].predictor, predictor) << lengths.size();
  }
}

// At levels 1 and 2 it has to save more than elsewhere, for it takes longer: 5 % of segments of 32 are not enough there. At level 1
// it has to save the more the shorter segments are: a fifth of segments of five is not enough, a third of even steps of 16 is.
TEST(SegmentStream, PredictionInsideSegmentsHasToSaveMoreAtTheFastestLevels) {
  std::mt19937 random(3);
  Segmentation uneven{"", {}};
  for (int k = 0; k < 2000; ++k) uneven.lengths.push_back(random() % 64 + 1);
  const Segmentation of_five{"", std::vector<std::uint64_t>(4000, 5)};
  const Segmentation of_sixteen{"", std::vector<std::uint64_t>(1500, 16)};
  std::vector<std::uint32_t> even_steps;
  for (std::uint32_t k = 0; k < 1500 * 16; ++k)
    even_steps.push_back(k % 16 == 0 ? static_cast<std::uint32_t>(random() % 100000)
                                     : even_steps.back() + 3);
  const auto step_bytes = std::as_bytes(std::span(even_steps));
  const Bytes steps(step_bytes.begin(), step_bytes.end());
  // Nothing saves all that they have.
  const Segmentation of_one{"", std::vector<std::uint64_t>(9000, 1)};
  EncodeOptions options = encode_on_cpu("i32");
  options.coder = Coder::pack;
  const auto predictor_in = [&](const Segmentation& segments, const Bytes& values, int level) {
    options.level = level;
    const Bytes stream = compressed(segments, values, options);
    return inspect(stream)->chunks.at(0).columns.at(0).predictor;
  };
  const auto predictor_of = [&](const Segmentation& segments, int level) {
    return predictor_in(segments, rising_values(segments, *options.layout), level);
  };
  for (const int level : {1, 2}) EXPECT_EQ(predictor_of(uneven, level), Predictor::deltas);
  EXPECT_EQ(predictor_of(uneven, 3), Predictor::segments);
  EXPECT_EQ(predictor_of(of_five, 1), Predictor::deltas);
  for (const int level : {2, 3}) EXPECT_EQ(predictor_of(of_five, level), Predictor::segments);
  EXPECT_EQ(predictor_in(of_sixteen, steps, 1), Predictor::segments);
  EXPECT_NE(predictor_of(of_one, 1), Predictor::segments);
}

TEST(SegmentStream, DecimalsKeepTheirMapInsideSegments) {
  Segmentation segments{"tracks", std::vector<std::uint64_t>(60, 100)};
  std::vector<double> track;
  for (int k = 0; k < 60; ++k)
    for (int i = 0; i < 100; ++i) track.push_back((k * 7919 % 100000 + i * 3) / 100.0);
  track[77] = -0.0;
  Bytes values(track.size() * sizeof track[0]);
  std::memcpy(values.data(), track.data(), values.size());
  const Bytes stream = compressed(segments, values, encode_on_cpu("f64"));
  EXPECT_LT(stream.size(), values.size() / 8);
  const auto info = inspect(stream);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->chunks[0].columns[0].predictor, Predictor::segments);
  EXPECT_EQ(info->chunks[0].columns[0].map, ValueMap::decimal);
  expect_same(decompress_segments(stream, decode_on_cpu()), segments.offsets(), values, "tracks");
}

TEST(SegmentStream, StreamsForDevicesLookNothingUp) {
  const Segmentation segments{"rows", std::vector<std::uint64_t>(2000, 5)};
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> few(60), drawn(10000);
  for (std::uint64_t& value : few) value = random();
  for (std::uint64_t& value : drawn) value = few[random() % few.size()];
  Bytes values(drawn.size() * sizeof drawn[0]);
  std::memcpy(values.data(), drawn.data(), values.size());
  // Those of low levels are.
  for (const auto& [level, device_decodable] :
       {std::pair{5, false}, std::pair{5, true}, std::pair{1, false}, std::pair{2, false}}) {
    EncodeOptions options = encode_on_cpu("u64");
    options.level = level;
    options.coder = Coder::ans;
    options.device_decodable = device_decodable;
    const Bytes stream = compressed(segments, values, options);
    const auto info = inspect(stream);
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->chunks[0].columns[0].dictionaries, level > 2 && !device_decodable) << level;
    expect_same(decompress_segments(stream, decode_on_cpu()), segments.offsets(), values, "rows");
  }
}

TEST(SegmentStream, TheStreamIsTheSameHoweverWritesAreSliced) {
  for (const Segmentation& segments : segmentations()) {
    EncodeOptions options = encode_on_cpu("u32x2");
    options.chunk_bytes = 3000;
    const Bytes values = rising_values(segments, *options.layout);
    const Bytes whole = compressed(segments, values, options);
    for (const std::size_t slice : {8, 24, 8000}) {
      Bytes stream;
      options.threads = slice == 24 ? 2 : 1;
      SegmentWriter writer(append_to(stream), options);
      std::size_t at = 0;
      for (const std::uint64_t length : segments.lengths) {
        const std::size_t end = at + 8 * length;
        for (; at < end; at = std::min(end, at + slice))
          ASSERT_TRUE(writer.write(std::span(values).subspan(at, std::min(slice, end - at))));
        ASSERT_TRUE(writer.end_segment());
      }
      ASSERT_TRUE(writer.finish());
      EXPECT_EQ(writer.segments(), segments.lengths.size());
      EXPECT_EQ(stream, whole) << segments.name << " " << slice;
    }
  }
}

TEST(SegmentStream, WholeSegmentsBehindAnOpenOneGoOnWithIt) {
  const Bytes values = random_bytes(6);
  Bytes stream;
  SegmentWriter writer(append_to(stream), encode_on_cpu("u8"));
  ASSERT_TRUE(writer.write(std::span(values).first(2)));
  const std::vector<std::uint64_t> lengths = {3, 1};
  ASSERT_TRUE(writer.write_segments(lengths, std::span(values).subspan(2)));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(writer.segments(), 2u);
  EXPECT_EQ(writer.bytes_in(), 6u);
  expect_same(decompress_segments(stream, decode_on_cpu()), {0, 5, 6}, values, "open");
}

TEST(SegmentStream, ASegmentAtACutGoesOnOnlyIfValuesFollow) {
  EncodeOptions options = encode_on_cpu("u8");
  options.chunk_bytes = 100;
  for (const auto& [lengths, goes_on] : {std::pair{std::vector<std::uint64_t>{100, 50}, false},
                                         {{101, 49}, true},
                                         {{60, 90}, true}}) {
    const Segmentation segments{"", lengths};
    const auto info = inspect(compressed(segments, random_bytes(150), options));
    ASSERT_TRUE(info.has_value());
    ASSERT_EQ(info->chunks.size(), 2u);
    EXPECT_EQ(info->chunks[0].goes_on, goes_on);
    EXPECT_EQ(info->chunks[1].continues, goes_on);
    EXPECT_FALSE(info->chunks[1].goes_on);
  }
}

TEST(SegmentStream, AFinishedWriterEndsTheSegmentThatIsOpen) {
  Bytes stream;
  SegmentWriter writer(append_to(stream), encode_on_cpu("u16"));
  ASSERT_TRUE(writer.write(Bytes(6)));
  ASSERT_TRUE(writer.finish());
  EXPECT_FALSE(writer.end_segment());
  expect_same(decompress_segments(stream, decode_on_cpu()), {0, 3}, Bytes(6), "open");
}

TEST(SegmentStream, ManyEmptySegmentsTakeFewBytes) {
  const Segmentation segments{"", std::vector<std::uint64_t>(3000000, 0)};
  const Bytes stream = compressed(segments, {}, encode_on_cpu("u32"));
  EXPECT_LT(stream.size(), 1000u);
  expect_same(decompress_segments(stream, decode_on_cpu()), segments.offsets(), {}, "empty");
}

TEST(SegmentStream, WhoIsNotInterestedInSegmentsGetsTheValues) {
  for (const Segmentation& segments : segmentations()) {
    EncodeOptions options = encode_on_cpu("i24x2");
    options.chunk_bytes = 2000;
    const Bytes values = rising_values(segments, *options.layout);
    const Bytes stream = compressed(segments, values, options);
    EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values) << segments.name;
    EXPECT_EQ(read_stream(source_of(stream, {7, 100}), decode_on_cpu(2)).value(), values);
    const std::uint64_t half = values.size() / 2;
    EXPECT_EQ(decompress_range(stream, half / 2, half, decode_on_cpu()).value(),
              Bytes(values.begin() + static_cast<std::ptrdiff_t>(half / 2),
                    values.begin() + static_cast<std::ptrdiff_t>(half)));
  }
}

TEST(SegmentStream, ConcatenatedStreamsGoOnCounting) {
  const std::vector<Segmentation> all = segmentations();
  Bytes streams, values;
  Segmentation together{"all", {}};
  for (const Segmentation& segments : all) {
    const EncodeOptions options = encode_on_cpu("u16");
    const Bytes own = rising_values(segments, *options.layout);
    streams = join({streams, compressed(segments, own, options)});
    values = join({values, own});
    together.lengths.insert(together.lengths.end(), segments.lengths.begin(),
                            segments.lengths.end());
  }
  expect_same(decompress_segments(streams, decode_on_cpu()), together.offsets(), values, "all");
}

// ---- Ranges

TEST(SegmentRange, AnyRangeOfSegmentsComesBack) {
  for (const Segmentation& segments : segmentations()) {
    EncodeOptions options = encode_on_cpu("u32");
    options.chunk_bytes = 1500;
    const Bytes values = rising_values(segments, *options.layout);
    const Bytes stream = compressed(segments, values, options);
    const std::vector<std::uint64_t> offsets = segments.offsets();
    const std::uint64_t count = segments.lengths.size();
    std::mt19937 random(3);
    for (int turn = 0; turn < 40; ++turn) {
      const std::uint64_t begin = turn < 8 ? turn * count / 7 : random() % (count + 1);
      const std::uint64_t end =
          turn % 2 == 0 ? std::min(begin + 1, count) : begin + random() % (count - begin + 1);
      std::vector<std::uint64_t> expected;
      for (std::uint64_t k = begin; k <= end; ++k) expected.push_back(offsets[k] - offsets[begin]);
      const auto all = std::span(values);
      expect_same(decompress_segment_range(stream, begin, end, decode_on_cpu()), expected,
                  all.subspan(4 * offsets[begin], 4 * (offsets[end] - offsets[begin])),
                  segments.name + " " + std::to_string(begin) + ":" + std::to_string(end));
    }
    EXPECT_EQ(decompress_segment_range(stream, 0, count + 1, decode_on_cpu()).error().code,
              Errc::invalid_argument);
  }
}

TEST(SegmentRange, OneSegmentReadsFewBytesOfALongStream) {
  const Segmentation segments{"", std::vector<std::uint64_t>(40000, 10)};
  EncodeOptions options = encode_on_cpu("u32");
  options.chunk_bytes = 16384;
  const Bytes values = random_bytes(4 * segments.records());
  const Bytes stream = compressed(segments, values, options);
  std::uint64_t read = 0;
  const ReadAt counted = [&](std::uint64_t at, std::span<std::byte> buffer) -> Result<std::size_t> {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), stream.size() - at);
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), count, buffer.begin());
    read += count;
    return count;
  };
  auto reader = RangeReader::open(counted, stream.size(), decode_on_cpu());
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->totals().segments, 40000u);
  Bytes one;
  ASSERT_TRUE(reader->read_segments(12345, 12346, append_to(one), [](auto ends) -> Result<void> {
    EXPECT_EQ(std::vector(ends.begin(), ends.end()), std::vector<std::uint64_t>{10});
    return {};
  }));
  EXPECT_EQ(one, Bytes(values.begin() + 4 * 123450, values.begin() + 4 * 123460));
  EXPECT_LT(read, stream.size() / 20);
}

// ---- What a caller gets wrong

TEST(SegmentStream, WrongOffsetsAreNamed) {
  const EncodeOptions options = encode_on_cpu("u32");
  const Bytes values(40);
  const auto error_of = [&](std::vector<std::uint64_t> offsets) {
    const auto stream = compress_segments(offsets, values, options);
    EXPECT_FALSE(stream.has_value());
    EXPECT_EQ(stream.error().code, Errc::invalid_argument);
    return stream.error().message;
  };
  EXPECT_NE(error_of({}).find("begin at 0"), std::string::npos);
  EXPECT_NE(error_of({1, 10}).find("begin at 0"), std::string::npos);
  EXPECT_NE(error_of({0, 5, 4, 10}).find("offset 2 is 4"), std::string::npos);
  EXPECT_NE(error_of({0, 5, 11}).find("offset 2 is 11"), std::string::npos);
  EXPECT_NE(error_of({0, ~std::uint64_t{0}, 10}).find("offset 1"), std::string::npos);
  EXPECT_NE(error_of({0, 5, 9}).find("the last offset is 9"), std::string::npos);
  EXPECT_EQ(compress_segments(std::vector<std::uint64_t>{0, 10}, values, {}).error().code,
            Errc::invalid_argument);
  EXPECT_EQ(compress_segments(std::vector<std::uint64_t>{0, 9}, Bytes(39), options).error().code,
            Errc::invalid_argument);
}

TEST(SegmentStream, AStreamWithoutSegmentsGivesNone) {
  const Bytes stream = compress(walk_bytes(4000), encode_on_cpu("i32")).value();
  EXPECT_EQ(decompress_segments(stream, decode_on_cpu()).error().code, Errc::invalid_argument);
  EXPECT_EQ(decompress_segment_range(stream, 0, 1, decode_on_cpu()).error().code,
            Errc::invalid_argument);
}

}  // namespace
}  // namespace gdelta::test
