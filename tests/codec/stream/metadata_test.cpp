// What a stream says about itself: metadata, and the note beside a layout.
#include "codec/stream/stream_tools.h"
#include "formats/foreign_samples.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/metadata_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta::test {
namespace {

using Entries = std::vector<MetadataEntry>;

Bytes values_of(std::size_t bytes) {
  Bytes values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i / 7 % 251);
  return values;
}

EncodeOptions saying(const Entries& entries, std::uint64_t chunk_bytes = 0) {
  EncodeOptions options = encode_on_cpu("i16x2");
  options.level = 3;
  options.metadata = entries;
  options.chunk_bytes = chunk_bytes;
  return options;
}

/// The reads that finding the metadata took.
struct Counted {
  Entries entries;
  std::uint64_t bytes = 0;
};

Counted read_counted(const Bytes& stream) {
  Counted counted;
  const ReadAt read_at = [&](std::uint64_t at, std::span<std::byte> to) -> Result<std::size_t> {
    if (at >= stream.size()) return std::size_t{0};
    const std::size_t count = std::min(to.size(), stream.size() - static_cast<std::size_t>(at));
    std::memcpy(to.data(), stream.data() + at, count);
    counted.bytes += count;
    return count;
  };
  counted.entries = read_metadata(read_at, stream.size()).value();
  return counted;
}

const Entries kEntries = {{"unit", "mV"},
                          {"place",
                           "D\xc3\xa4"
                           "chle"},
                          {"empty", ""}};

TEST(Metadata, ComesBackWhateverTheStreamHolds) {
  for (const std::size_t bytes : {0, 1, 4000, 40000}) {
    const Bytes values = values_of(bytes);
    const EncodeOptions options = saying(kEntries, 4096);
    const Bytes stream = compress(values, options).value();
    EXPECT_LE(stream.size(), compress_bound(bytes, options));
    EXPECT_EQ(read_metadata(stream).value(), kEntries) << bytes;
    EXPECT_EQ(inspect(stream).value().metadata, kEntries) << bytes;
    EXPECT_EQ(decompress(stream, decode_on_cpu()).value(), values);
    EXPECT_EQ(write_stream(values, options, {1, 1000, 7}).value(), stream) << bytes;
    EXPECT_EQ(read_metadata(compress(values, saying({}, 4096)).value()).value(), Entries());
  }
}

TEST(Metadata, IsFoundFromTheIndexAlone) {
  std::mt19937 random(9);
  Bytes values(1 << 20);
  for (std::byte& value : values) value = static_cast<std::byte>(random());
  const Bytes stream = compress(values, saying(kEntries, 1 << 16)).value();
  const Counted counted = read_counted(stream);
  EXPECT_EQ(counted.entries, kEntries);
  EXPECT_LT(counted.bytes, 4096u);
}

TEST(Metadata, OfSeveralStreamsTheLastValueOfAKeyCounts) {
  const Bytes values = values_of(9000);
  for (const std::uint64_t chunk_bytes : {0, 2048}) {  // without an index, and with one
    Bytes file = compress(values, saying({{"a", "1"}, {"b", "2"}}, chunk_bytes)).value();
    const Bytes second = compress(values, saying({{"c", "3"}, {"a", "4"}}, 2048)).value();
    file.insert(file.end(), second.begin(), second.end());
    EXPECT_EQ(read_metadata(file).value(), (Entries{{"a", "4"}, {"b", "2"}, {"c", "3"}}));
  }
}

/// A stream of a metadata block with this head alone, and an index of it.
Bytes stream_of_metadata(const Bytes& head) {
  Bytes stream(format::kStreamHeader.begin(), format::kStreamHeader.end());
  const std::size_t before = stream.size();
  const std::uint32_t check = format::append_block(stream, format::BlockTag::metadata, head, 0);
  Bytes index;
  format::append_index_entry(index, {.tag = format::BlockTag::metadata,
                                     .block_bytes = stream.size() - before,
                                     .check = check,
                                     .records = 0,
                                     .head = head});
  format::append_end_block(stream, 1, index);
  return stream;
}

Bytes stream_without_chunks(const Entries& entries) {
  Bytes head;
  format::append_metadata_head(head, entries);
  return stream_of_metadata(head);
}

TEST(Metadata, IsInspectedInOneWalkWithTheChunks) {
  const Bytes values = values_of(9000);
  for (const std::uint64_t chunk_bytes : {0, 2048}) {  // without an index, and with one
    const Bytes file =
        join({stream_without_chunks({{"a", "1"}, {"b", "2"}}), stream_without_chunks({{"d", "5"}}),
              compress(values, saying({{"c", "3"}, {"a", "4"}}, chunk_bytes)).value()});
    for (const bool models : {false, true}) {
      const auto info = inspect(file, {.models = models});
      ASSERT_TRUE(info) << info.error().message;
      EXPECT_EQ(info->metadata, (Entries{{"a", "4"}, {"b", "2"}, {"d", "5"}, {"c", "3"}}));
      EXPECT_EQ(info->streams, 3u);
    }
  }
}

// What stands in the index is what stands in the block, so the error is the one of the block.
TEST(Metadata, ThatIsMalformedIsTheErrorThatDecompressingGives) {
  Bytes file = compress(values_of(9000), saying({}, 2048)).value();
  const std::uint64_t block_at = file.size() + format::kStreamHeaderBytes;
  // Of two entries one is missing.
  const Bytes bad = stream_of_metadata({std::byte{2}, std::byte{1}, std::byte{'k'}, std::byte{0}});
  file.insert(file.end(), bad.begin(), bad.end());
  for (const bool models : {false, true}) {
    const auto info = inspect(file, {.models = models});
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().code, Errc::corrupt);
    EXPECT_EQ(info.error().byte, block_at);
  }
  EXPECT_EQ(decompress(file, decode_on_cpu()).error().byte, block_at);
  EXPECT_EQ(decompress_range(file, 0, 10, decode_on_cpu()).value().size(), 10u);
}

TEST(Metadata, IsHeldWithinTheMemoryLimit) {
  const Entries many(500, {"key", std::string(100, 'v')});
  for (const std::uint64_t chunk_bytes : {0, 2048}) {
    const Bytes stream = compress(values_of(9000), saying(many, chunk_bytes)).value();
    const auto refused = read_metadata(stream, {.memory_limit = 50000});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::memory_limit);
    for (const bool models : {false, true}) {
      const auto info = inspect(stream, {.models = models, .memory_limit = 50000});
      ASSERT_FALSE(info);
      EXPECT_EQ(info.error().code, Errc::memory_limit);
    }
    EXPECT_EQ(read_metadata(stream, {.memory_limit = 200000}).value().size(), 1u);
  }
}

TEST(Metadata, ThatCannotBeWrittenIsRefused) {
  for (const MetadataEntry& entry : {MetadataEntry{"", "x"},
                                     {std::string(256, 'k'), "x"},
                                     {"k", "\xff"},
                                     {"\xc0\x80", "x"},
                                     {"k", std::string(1 << 16, 'v')}}) {
    const auto refused = compress(values_of(100), saying({entry}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  }
}

TEST(Metadata, TellsTheSampleRateOfAWavFile) {
  const Bytes samples = values_of(20000);
  const Bytes file = with_data(format::wav_file({}, samples.size()), samples).bytes();
  EncodeOptions options = encode_on_cpu();
  const std::string rate = "44100";
  EXPECT_EQ(read_metadata(compress(file, options).value()).value(),
            (Entries{{"sample_rate", rate}}));
  options.metadata = {{"unit", "Pa"}};
  EXPECT_EQ(read_metadata(compress(file, options).value()).value(),
            (Entries{{"sample_rate", rate}, {"unit", "Pa"}}));
  options.metadata = {{"sample_rate", "1"}};
  EXPECT_EQ(read_metadata(compress(file, options).value()).value(), options.metadata);
}

TEST(LayoutNote, TellsTheLevelAndHowTheLayoutWasKnown) {
  const auto note_of = [](const Bytes& values, const EncodeOptions& options) {
    return inspect(compress(values, options).value()).value().chunks.back().note;
  };
  Bytes walk(40000);
  std::mt19937 random(4);
  for (std::size_t i = 0, value = 0; i + 1 < walk.size(); i += 2) {
    value += random() % 32;
    walk[i] = static_cast<std::byte>(value);
    walk[i + 1] = static_cast<std::byte>(value >> 8);
  }
  EncodeOptions options = saying({});
  EXPECT_EQ(note_of(walk, options), (LayoutNote{3, LayoutOrigin::given}));
  options.layout.reset();
  options.level = 7;
  EXPECT_EQ(note_of(walk, options), (LayoutNote{7, LayoutOrigin::found}));
  const Bytes file = with_data(format::wav_file({}, walk.size()), walk).bytes();
  EXPECT_EQ(note_of(file, options), (LayoutNote{7, LayoutOrigin::file_format}));
}

}  // namespace
}  // namespace gdelta::test
