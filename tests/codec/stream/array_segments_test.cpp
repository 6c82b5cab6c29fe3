// Arrays of a file that come in segments: as a writer is told, and as they are found.
#include "codec/stream/segment_cases.h"
#include "codec/stream/walk/byte_input.h"
#include "formats/foreign_samples.h"

namespace gdelta::test {
namespace {

using format::FileMaker;

Result<Bytes> write_segments(std::span<const std::byte> values, const EncodeOptions& options,
                             std::vector<ArraySegments> segments, std::size_t portion = 1u << 30) {
  Bytes stream;
  Writer writer(append_to(stream), options, std::move(segments));
  for (std::size_t at = 0; at < values.size(); at += portion)
    if (auto written = writer.write(values.subspan(at, std::min(portion, values.size() - at)));
        !written)
      return tl::unexpected(written.error());
  if (auto finished = writer.finish(); !finished) return tl::unexpected(finished.error());
  return stream;
}

FileMaker npy(std::string_view descr, std::uint64_t count, const Bytes& data) {
  const std::string shape = "(" + std::to_string(count) + ",)";
  return with_data(format::npy_file(format::npy_literal(descr, shape), data.size()), data);
}

Segmentation rows(std::uint64_t count = 4000) {
  Segmentation segments{"rows", {}};
  for (std::uint64_t k = 0; k < count; ++k) segments.lengths.push_back(k % 7 == 0 ? 5 : 16);
  return segments;
}

/// Runs of numbers that begin anywhere, one a row.
Bytes runs(const Segmentation& segments) {
  std::mt19937 random(7);
  Bytes values;
  for (const std::uint64_t length : segments.lengths) {
    std::uint32_t value = random() % 100000;
    for (std::uint64_t i = 0; i < length; ++i, ++value)
      for (int b = 0; b < 4; ++b) values.push_back(static_cast<std::byte>(value >> 8 * b));
  }
  return values;
}

Bytes as_integers(const std::vector<std::uint64_t>& values, std::size_t width,
                  bool big_endian = false) {
  Bytes bytes;
  for (const std::uint64_t value : values)
    for (std::size_t i = 0; i < width; ++i)
      bytes.push_back(static_cast<std::byte>(value >> 8 * (big_endian ? width - 1 - i : i)));
  return bytes;
}

/// Columns of entries, and where rows begin.
struct Matrix {
  Segmentation segments = rows();
  Bytes indices = runs(segments);

  FileMaker indices_file() const { return npy("<i4", segments.records(), indices); }
  FileMaker offsets_file(std::string_view descr = "<i4", std::size_t width = 4) const {
    const auto offsets = segments.offsets();
    return npy(descr, offsets.size(), as_integers(offsets, width, descr[0] == '>'));
  }
};

std::vector<ArraySegments> found_in(const Bytes& file, const EncodeOptions& options) {
  const auto found = find_segments(read_from(file), file.size(), options);
  EXPECT_TRUE(found.has_value()) << found.error().to_string();
  return found.value_or(std::vector<ArraySegments>{});
}

TEST(ArraySegments, OfABareInputAreTheStreamOfCompressSegments) {
  for (const Segmentation& segments : segmentations())
    for (const char* record : {"u32", "i16x3"})
      for (const std::uint64_t chunk_bytes : {1, 100, 3000, 0}) {
        EncodeOptions options = encode_on_cpu(record);
        options.chunk_bytes = chunk_bytes;
        options.level = 1;  // a chunk a record is many chunks
        const Bytes values = rising_values(segments, *options.layout);
        const Bytes whole = compress_segments(segments.offsets(), values, options).value();
        for (const std::size_t portion : {7u, 1u << 30}) {
          options.threads = portion == 7 ? 2 : 1;
          const auto stream = write_segments(values, options, {{0, segments.offsets()}}, portion);
          ASSERT_TRUE(stream.has_value()) << segments.name << stream.error().to_string();
          EXPECT_EQ(*stream, whole) << segments.name << ' ' << record << ' ' << chunk_bytes;
        }
      }
}

TEST(ArraySegments, BehindAHeadComeBackWithTheWholeFile) {
  for (const Segmentation& segments : segmentations()) {
    const Bytes values = rising_values(segments, parse_record("i32").value());
    const Bytes file = npy("<i4", segments.records(), values).append(FileMaker().fill(9)).bytes();
    EncodeOptions options = encode_on_cpu();
    options.chunk_bytes = 3000;
    const std::uint64_t begin = file.size() - 9 - values.size();
    const auto stream = write_segments(file, options, {{begin, segments.offsets()}}, 1000);
    ASSERT_TRUE(stream.has_value()) << segments.name << ": " << stream.error().to_string();
    const auto back = decompress_segments(*stream, decode_on_cpu());
    ASSERT_TRUE(back.has_value()) << segments.name << ": " << back.error().to_string();
    EXPECT_EQ(back->values, file);
    EXPECT_EQ(back->offsets, segments.offsets());
    EXPECT_EQ(decompress(*stream, decode_on_cpu()).value(), file);
    if (segments.lengths.size() < 2) continue;
    const auto last = decompress_segment_range(*stream, segments.lengths.size() - 2,
                                               segments.lengths.size(), decode_on_cpu());
    EXPECT_EQ(last.value().values.size(),
              4 * (segments.offsets().back() - segments.offsets().end()[-3]));
  }
}

TEST(ArraySegments, AreFoundInFilesThatHoldTheirOffsetsToo) {
  const Matrix matrix;
  const Bytes data = random_bytes(8 * matrix.segments.records());
  const FileMaker values = npy("<f8", matrix.segments.records(), data);
  const FileMaker indices = matrix.indices_file(), offsets = matrix.offsets_file();
  FileMaker before, behind, zip, tar;
  before.append(offsets).append(indices);
  behind.append(values).append(indices).append(offsets);
  zip.append(zip_file("indices.npy", indices)).append(zip_file("indptr.npy", offsets));
  zip.append(zip_file("format.npy", npy("|S3", 1, Bytes(3)))).append(zip_file("data.npy", values));
  tar.append(tar_file("a.npy", offsets)).append(tar_file("b.npy", values));
  tar.append(tar_file("c.npy", indices)).fill(1024, 0);
  for (const FileMaker* maker : {&before, &behind, &zip, &tar}) {
    const Bytes& file = maker->bytes();
    for (const int level : {1, 5}) {
      EncodeOptions options = encode_on_cpu();
      options.level = level;
      options.chunk_bytes = 40000;
      const auto found = found_in(file, options);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].offsets, matrix.segments.offsets());
      const auto at = static_cast<std::ptrdiff_t>(found[0].begin);
      EXPECT_TRUE(std::equal(matrix.indices.begin(), matrix.indices.end(), file.begin() + at));
      const Bytes stream = write_segments(file, options, found).value();
      EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), file);
      EXPECT_LT(stream.size(), compress(file, options).value().size());
      const auto row = decompress_segment_range(stream, 100, 101, decode_on_cpu());
      ASSERT_TRUE(row.has_value()) << row.error().to_string();
      const auto begin =
          matrix.indices.begin() + static_cast<std::ptrdiff_t>(4 * matrix.segments.offsets()[100]);
      EXPECT_TRUE(std::equal(row->values.begin(), row->values.end(), begin));
      EXPECT_EQ(row->values.size(), 4 * matrix.segments.lengths[100]);
    }
  }
}

TEST(ArraySegments, AreFoundByOffsetsOfEveryTypeThatMayBeOne) {
  const Matrix matrix;
  for (const auto& [descr, width, found] : {std::tuple{"<i4", 4, true},
                                            {"<u4", 4, true},
                                            {">i4", 4, true},
                                            {"<i8", 8, true},
                                            {">u8", 8, true},
                                            {"<f8", 8, false},
                                            {"<u2", 2, false}}) {
    FileMaker file = matrix.indices_file();
    file.append(matrix.offsets_file(descr, static_cast<std::size_t>(width)));
    EXPECT_EQ(found_in(file.bytes(), encode_on_cpu()).size(), found ? 1u : 0u) << descr;
  }
}

TEST(ArraySegments, AreNotFoundByWhatIsNoOffsetsOfThem) {
  const Matrix matrix;
  const auto found_with = [&](const std::vector<std::uint64_t>& offsets) {
    FileMaker file = matrix.indices_file();
    file.append(npy("<i4", offsets.size(), as_integers(offsets, 4)));
    return found_in(file.bytes(), encode_on_cpu()).size();
  };
  const auto offsets = matrix.segments.offsets();
  EXPECT_EQ(found_with(offsets), 1u);
  for (const auto& [at, value] : {std::pair<std::size_t, std::uint64_t>{0, 1},
                                  {offsets.size() - 1, offsets.back() - 1},
                                  {offsets.size() - 1, offsets.back() + 1},
                                  {900, offsets[899] - 1},
                                  {900, 0xffffffff},
                                  {900, offsets.back() + 1}}) {
    auto wrong = offsets;
    wrong[at] = value;
    EXPECT_EQ(found_with(wrong), 0u) << at << ' ' << value;
  }
}

TEST(ArraySegments, AreNotFoundWhereTheyGainNothing) {
  const Segmentation segments = rows();
  const Matrix noise{.segments = segments, .indices = random_bytes(4 * segments.records())};
  const FileMaker file = noise.indices_file().append(noise.offsets_file());
  EXPECT_TRUE(found_in(file.bytes(), encode_on_cpu()).empty());
}

TEST(ArraySegments, AreNotLookedForInBareFilesNorWhereALayoutIsGiven) {
  const Matrix matrix;
  const Bytes file = matrix.indices_file().append(matrix.offsets_file()).bytes();
  EXPECT_TRUE(found_in(file, encode_on_cpu("i32")).empty());
  EXPECT_TRUE(found_in(join({Bytes(5), file}), encode_on_cpu()).empty());
  EXPECT_TRUE(found_in({}, encode_on_cpu()).empty());
}

TEST(ArraySegments, ThatTakeMoreThanAQuarterOfTheMemoryLimitArePassedOver) {
  const Matrix matrix;
  const Bytes file = matrix.indices_file().append(matrix.offsets_file()).bytes();
  EncodeOptions options = encode_on_cpu();
  const std::uint64_t offsets = 8 * matrix.segments.offsets().size();
  options.memory_limit = 100 << 20;
  EXPECT_EQ(found_in(file, options).size(), 1u);
  options.memory_limit = 4 * offsets - 1;
  EXPECT_TRUE(found_in(file, options).empty());
}

TEST(ArraySegments, AreNotFoundWhereAWriterHasNoMemoryForThem) {
  const Matrix matrix;
  const Bytes file = matrix.indices_file().append(matrix.offsets_file()).bytes();
  EncodeOptions options = encode_on_cpu();
  std::size_t plain = 0, segmented = 0;
  for (std::uint64_t mib = 1; mib < 400; mib += mib / 8 + 1) {
    options.memory_limit = mib << 20;
    if (!write_segments(file, options, {})) continue;
    ++plain;
    const auto found = found_in(file, options);
    segmented += found.size();
    EXPECT_TRUE(write_segments(file, options, found)) << mib;
  }
  EXPECT_GT(segmented, 0u);
  EXPECT_GT(plain, segmented);
}

TEST(ArraySegments, OfDamagedFilesAreFoundOrNotAndTheFileComesBack) {
  const Segmentation segments = rows(1100);
  const Matrix matrix{.segments = segments, .indices = runs(segments)};
  FileMaker maker = zip_file("indices.npy", matrix.indices_file());
  const Bytes whole = maker.append(zip_file("indptr.npy", matrix.offsets_file())).bytes();
  EncodeOptions options = encode_on_cpu();
  options.level = 1;
  const auto expect_back = [&](const Bytes& file, std::size_t where) {
    const auto stream = write_segments(file, options, found_in(file, options));
    ASSERT_TRUE(stream.has_value()) << where << ": " << stream.error().to_string();
    EXPECT_EQ(decompress(*stream, decode_on_cpu()).value(), file) << where;
  };
  const std::size_t second = whole.size() - matrix.offsets_file().size() - 60;
  for (std::size_t at = 0; at < whole.size(); at += at % second < 300 ? 3 : 997) {
    Bytes damaged = whole;
    damaged[at] ^= static_cast<std::byte>(1 << at % 8);
    expect_back(damaged, at);
    expect_back(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)), at);
  }
}

TEST(ArraySegments, ThatDoNotFitTheInputAreRefused) {
  const Bytes values(400);
  const EncodeOptions options = encode_on_cpu("u32");
  const auto refused = [&](std::vector<ArraySegments> segments) {
    const auto stream = write_segments(values, options, std::move(segments));
    return stream ? std::string() : stream.error().to_string();
  };
  EXPECT_EQ(refused({{0, {0, 40, 100}}}), "");
  for (const std::vector<std::uint64_t>& offsets :
       std::vector<std::vector<std::uint64_t>>{{}, {1, 100}, {0, 50, 40, 100}})
    EXPECT_NE(refused({{0, offsets}}).find("offset"), std::string::npos);
  EXPECT_NE(refused({{0, {0, 101}}}).find("beyond the 100 records"), std::string::npos);
  EXPECT_NE(refused({{4, {0, 99}}}).find("at byte 4, where none begins"), std::string::npos);
  EXPECT_NE(refused({{400, {0}}}).find("at byte 400, where none begins"), std::string::npos);
  EXPECT_NE(refused({{0, {0, 100}}, {0, {0, 100}}}).find("in the order"), std::string::npos);
}

TEST(ArraySegments, OfAnInputOfUnknownLengthAreRefusedIfItEndsBefore) {
  const std::uint64_t records = 1500000;
  EncodeOptions options = encode_on_cpu("u32");
  options.level = 1;
  const auto stream = write_segments(Bytes(4 * records), options, {{0, {0, records + 1}}});
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().to_string().find("pauses inside"), std::string::npos);
  EXPECT_TRUE(write_segments(Bytes(4 * records), options, {{0, {0, records}}}));
}

TEST(ArraySegments, AFlushIsRefusedInsideOfThem) {
  Bytes stream;
  Writer writer(append_to(stream), encode_on_cpu("u32"), {{0, {0, 5, 10}}});
  ASSERT_TRUE(writer.write(Bytes(8)));
  const auto flushed = writer.flush();
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace gdelta::test
