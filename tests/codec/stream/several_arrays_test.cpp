// Files of several arrays: each has a layout of its own, however the input comes, and all come back.
#include "codec/stream/stream_tools.h"
#include "formats/foreign_samples.h"
#include "held_memory.h"

namespace gdelta::test {
namespace {

using format::FileMaker;

FileMaker npy(std::string_view descr, std::string_view shape, const Bytes& data) {
  return with_data(format::npy_file(format::npy_literal(descr, shape), data.size()), data);
}

FileMaker triples(std::size_t count, unsigned seed = 1) {
  return npy("<i4", "(" + std::to_string(count) + ", 3)", walk_bytes(12 * count, seed));
}

FileMaker doubles(std::size_t count) {
  return npy("<f8", "(" + std::to_string(count) + ",)", random_bytes(8 * count));
}

FileMaker wav(std::size_t bytes, const FileMaker& after = {}) {
  FileMaker file = format::wav_file({}, bytes);
  file = with_data(file, walk_bytes(bytes, 3));
  return file.append(after);
}

const FileMaker kTail = FileMaker().text("LIST").u32(10).text("INFOrecord");

EncodeOptions quick(std::uint64_t chunk_bytes = 0) {
  EncodeOptions options = encode_on_cpu();
  options.level = 1;
  options.chunk_bytes = chunk_bytes;
  return options;
}

/// Layouts of chunks in order, "opaque" between them; each once while it holds.
std::vector<std::string> parts_of(const Bytes& stream) {
  const auto info = inspect(stream);
  EXPECT_TRUE(info);
  std::vector<std::string> parts;
  for (const ChunkInfo& chunk : info->chunks) {
    const std::string part = chunk.opaque ? "opaque" : to_string(info->layouts[chunk.layout]);
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

/// Compresses in every way there is; all must agree.
Bytes compress_checked(const Bytes& values, EncodeOptions options) {
  const auto whole = compress(values, options);
  EXPECT_TRUE(whole);
  EXPECT_LE(whole->size(), compress_bound(values.size(), options));
  EXPECT_EQ(decompress(*whole, decode_on_cpu()).value(), values);
  for (const int threads : {1, 3}) {
    options.threads = threads;
    for (const std::vector<std::size_t>& portions :
         {std::vector<std::size_t>{1, 3, 7, 1021, 65537}, std::vector<std::size_t>{1u << 30}})
      EXPECT_EQ(write_stream(values, options, portions).value(), *whole);
    EXPECT_EQ(write_file_stream(values, options).value(), *whole);
    EXPECT_EQ(write_file_stream(values, options, 0, false).value(), *whole);
  }
  return *whole;
}

using Parts = std::vector<std::string>;

TEST(SeveralArrays, OfAnyTypesBehindOneAnotherHaveALayoutEach) {
  FileMaker file;
  file.append(triples(9000)).append(wav(30000)).append(doubles(5000)).append(wav(20000, kTail));
  file.append(wav(10000)).append(triples(3000));
  const Parts parts = {"opaque", "i32x3", "opaque", "i16x2", "opaque", "f64",
                       "opaque", "i16x2", "opaque", "i16x2", "opaque", "i32x3"};
  for (const std::uint64_t chunk_bytes : {0, 1000, 4096, 70000})
    EXPECT_EQ(parts_of(compress_checked(file.bytes(), quick(chunk_bytes))), parts);
}

TEST(SeveralArrays, AreFoundInAPipeByteByByte) {
  FileMaker file;
  file.append(triples(3000)).fill(300).append(wav(9000, kTail)).append(doubles(700));
  EXPECT_EQ(write_stream(file.bytes(), quick(), {1}).value(),
            compress(file.bytes(), quick()).value());
}

TEST(SeveralArrays, ALayoutIsWrittenOnceWhileItHolds) {
  FileMaker file;
  for (unsigned i = 0; i < 5; ++i) file.append(triples(3000, i));
  const Bytes stream = compress_checked(file.bytes(), quick());
  EXPECT_EQ(inspect(stream).value().layouts.size(), 1u);
  EXPECT_EQ(parts_of(stream).size(), 10u);
}

TEST(SeveralArrays, MayBeFarApart) {
  for (const std::size_t between : {1u, 4095u, 131072u, 131073u, 500000u, 3000001u}) {
    SCOPED_TRACE(between);
    FileMaker file = triples(3000);
    file.append(random_bytes(between)).append(doubles(2000)).append(random_bytes(between, 2));
    const Parts parts = {"opaque", "i32x3", "opaque", "f64", "opaque"};
    const Bytes stream = compress_checked(file.bytes(), quick(1 << 20));
    EXPECT_EQ(parts_of(stream), parts);
    // What lies between is cut by chunks, not by looks.
    EXPECT_LE(inspect(stream).value().chunks.size(), 5u + 2 * (between >> 20));
  }
}

TEST(SeveralArrays, BehindMoreThanOneSampleAreFoundToo) {
  const FileMaker file = FileMaker(triples(500000)).append(doubles(100000)).append(triples(400000));
  EXPECT_EQ(parts_of(compress_checked(file.bytes(), quick())),
            (Parts{"opaque", "i32x3", "opaque", "f64", "opaque", "i32x3"}));
}

TEST(SeveralArrays, CutOffAnywhereComeBack) {
  FileMaker file;
  file.append(triples(500)).append(wav(5001, FileMaker().fill(1, 0))).append(kTail);
  file.append(zip_file("a.npy", doubles(600))).append(tar_file("b.npy", triples(400)));
  const Bytes& all = file.bytes();
  // Wherever a head or an array begins or ends, and elsewhere now and then.
  const auto arrays = find_arrays(all, quick());
  ASSERT_TRUE(arrays);
  ASSERT_EQ(arrays->size(), 4u);
  const auto is_at_an_edge = [&](std::uint64_t bytes) {
    constexpr std::uint64_t kHead = 180, kNear = 16;
    return std::any_of(arrays->begin(), arrays->end(), [&](const FoundArray& array) {
      return (bytes + kHead >= array.begin && bytes <= array.begin + kNear) ||
             (bytes + kNear >= array.begin + array.bytes &&
              bytes <= array.begin + array.bytes + kNear);
    });
  };
  for (std::size_t bytes = 0; bytes <= all.size(); ++bytes) {
    if (!is_at_an_edge(bytes) && bytes % 37 != 0) continue;
    const Bytes cut(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bytes));
    const Bytes stream = compress(cut, quick()).value();
    ASSERT_EQ(decompress(stream, decode_on_cpu()).value(), cut) << bytes;
    ASSERT_EQ(write_stream(cut, quick(), {all.size()}).value(), stream) << bytes;
  }
}

TEST(SeveralArrays, EmptyAndShortOnesAreOpaque) {
  FileMaker file = triples(0);
  file.append(triples(0)).append(doubles(3000)).append(triples(10)).append(doubles(0));
  file.append(wav(0)).append(triples(2000));
  EXPECT_EQ(parts_of(compress_checked(file.bytes(), quick())),
            (Parts{"opaque", "f64", "opaque", "i32x3"}));
  const FileMaker first = FileMaker(triples(1)).append(doubles(3000));
  EXPECT_EQ(parts_of(compress_checked(first.bytes(), quick())),
            (Parts{"opaque", "i32", "opaque", "f64"}));
}

TEST(SeveralArrays, InStoredArchivesHaveALayoutEach) {
  FileMaker zip, tar = tar_file("set/", FileMaker(), '5');
  for (const FileMaker& member : {triples(2000), doubles(1000), wav(8002, kTail), triples(5)}) {
    zip.append(zip_file("a.npy", member, {.long_sizes = true}));
    tar.append(tar_file("set/a.npy", member));
  }
  const Parts parts = {"opaque", "i32x3", "opaque", "f64", "opaque", "i16x2", "opaque"};
  zip.text("PK\1\2 and so on");
  EXPECT_EQ(parts_of(compress_checked(zip.bytes(), quick())), parts);
  EXPECT_EQ(parts_of(compress_checked(tar.fill(1024, 0).bytes(), quick())), parts);
}

TEST(SeveralArrays, CompressedMembersStayOpaque) {
  FileMaker zip = zip_file("a.npy", triples(2000));
  zip.append(zip_file("b.npy", FileMaker().append(random_bytes(9000)), {.method = 8}));
  EXPECT_EQ(parts_of(compress_checked(zip.bytes(), quick())), (Parts{"opaque", "i32x3", "opaque"}));
}

TEST(SeveralArrays, ASecondChunkOfSamplesIsCodedAsTheFirst) {
  FileMaker file = wav(9001, FileMaker().fill(1, 0));
  file.append(kTail).text("data").u32(8000).append(walk_bytes(8000));
  const Bytes stream = compress_checked(file.bytes(), quick());
  EXPECT_EQ(parts_of(stream), (Parts{"opaque", "i16x2", "opaque", "i16x2"}));
  EXPECT_EQ(inspect(stream).value().layouts.size(), 1u);
}

TEST(SeveralArrays, AFlushDecidesWithWhatIsThere) {
  FileMaker file;
  file.append(triples(1000)).fill(50).append(doubles(1000)).append(wav(9000));
  const Bytes& values = file.bytes();
  for (std::size_t at = 1; at < values.size(); at += 191) {
    Bytes stream;
    Writer writer(append_to(stream), quick());
    const auto all = std::span(values);
    ASSERT_TRUE(writer.write(all.first(at)));
    ASSERT_TRUE(writer.flush());
    EXPECT_EQ(salvage_stream(stream).values,
              Bytes(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at)));
    ASSERT_TRUE(writer.write(all.subspan(at)));
    ASSERT_TRUE(writer.finish());
    ASSERT_EQ(decompress(stream, decode_on_cpu()).value(), values) << at;
  }
}

TEST(SeveralArrays, ThatDecodeOnADeviceHaveOneLayout) {
  EncodeOptions options = quick();
  options.device_decodable = true;
  const FileMaker file = FileMaker(triples(2000)).append(doubles(1000)).append(wav(9000));
  EXPECT_EQ(parts_of(compress_checked(file.bytes(), options)),
            (Parts{"opaque", "i32x3", "opaque"}));
  const FileMaker tar = FileMaker(tar_file("a", triples(2000))).append(tar_file("b", doubles(900)));
  EXPECT_EQ(inspect(compress_checked(tar.bytes(), options)).value().layouts.size(), 1u);
  EXPECT_EQ(find_layout(tar.bytes(), options).value().origin, "found");
}

TEST(SeveralArrays, AreNotLookedForWhereALayoutIsGivenOrTheFirstIsBare) {
  const FileMaker both = FileMaker(triples(2000)).append(doubles(1000));
  EncodeOptions options = quick();
  options.layout = parse_record("i16").value();
  EXPECT_EQ(parts_of(compress_checked(both.bytes(), options)), (Parts{"i16"}));
  const Bytes bare = join({walk_bytes(40000), both.bytes()});
  EXPECT_EQ(inspect(compress_checked(bare, quick())).value().layouts.size(), 1u);
}

TEST(SeveralArrays, ColumnsByTheThousandGrowNoFurtherThanTheBound) {
  std::string fields = "{'descr': [('a', [";
  for (int i = 0; i < 64; ++i) fields += "('" + std::to_string(i) + "', '|u1'), ";
  fields += "], (64,))], 'fortran_order': False, 'shape': ";
  FileMaker file;
  for (int i = 0; i < 3; ++i) {
    const std::size_t records = i == 0 ? 1 : 129;
    const Bytes noise = random_bytes(4096 * records, static_cast<unsigned>(i));
    file.append(with_data(
        format::npy_file(fields + "(" + std::to_string(records) + ",)}", noise.size()), noise));
    file.append(npy("<f4", "(1100,)", random_bytes(4400)));
  }
  for (const std::uint64_t chunk_bytes : {0, 300000}) {
    const Bytes stream = compress_checked(file.bytes(), quick(chunk_bytes));
    EXPECT_EQ(parts_of(stream).size(), 12u);
  }
}

TEST(SeveralArrays, ByTheThousandAreHeldInLittleMemory) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Bytes one = FileMaker(triples(360)).append(doubles(530)).bytes();
  EncodeOptions options = quick();
  options.memory_limit = 24 << 20;
  std::uint64_t written = 0;
  const HeldMemory held;
  Writer writer(
      [&written](std::span<const std::byte> bytes) -> Result<void> {
        written += bytes.size();
        return {};
      },
      options);
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(writer.write(one));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(writer.num_arrays(), 8000u);
  EXPECT_LE(held.peak(), options.memory_limit + (16u << 20));
}

TEST(FindArrays, SaysWhatCompressDoes) {
  FileMaker file;
  file.append(triples(1000)).fill(50).append(triples(3)).append(doubles(1000)).append(wav(9002));
  const auto arrays = find_arrays(file.bytes(), quick());
  ASSERT_TRUE(arrays);
  ASSERT_EQ(arrays->size(), 3u);
  const std::uint64_t head = triples(0).size();
  EXPECT_EQ((*arrays)[0].begin, head);
  EXPECT_EQ((*arrays)[0].bytes, 12000u);
  EXPECT_EQ((*arrays)[1].begin, head + 12000 + 50 + head + 36 + head);
  EXPECT_EQ((*arrays)[2].bytes, 9000u);
  EXPECT_EQ(to_string((*arrays)[2].layout), "i16x2");
  const StreamInfo info = inspect(compress(file.bytes(), quick()).value()).value();
  std::size_t found = 0;
  for (const ChunkInfo& chunk : info.chunks) {
    if (chunk.opaque) continue;
    EXPECT_EQ(chunk.decoded_at, (*arrays)[found].begin);
    EXPECT_EQ(chunk.decoded_bytes, (*arrays)[found++].bytes);
  }
  EXPECT_EQ(find_arrays(walk_bytes(9001), encode_on_cpu("i32")).value().size(), 1u);
  EXPECT_TRUE(find_arrays({}, quick()).value().empty());
}

TEST(FindArrays, OriginsHaveSentences) {
  for (const char* origin : {"given", "found", "wav", "npy", "zip", "tar"})
    EXPECT_FALSE(origin_sentence(origin).empty()) << origin;
  EXPECT_EQ(origin_sentence("other"), "");
}

}  // namespace
}  // namespace gdelta::test
