// WAV heads of every kind, whole and damaged.
#include "foreign_samples.h"

namespace gdelta::format {
namespace {

TEST(WavHead, EverySampleKindBecomesItsType) {
  struct Case {
    std::uint64_t tag, bits, container;
    ValueType type;
  };
  const Case cases[] = {
      {1, 8, 1, ValueType::u8},   {1, 16, 2, ValueType::i16}, {1, 12, 2, ValueType::i16},
      {1, 24, 3, ValueType::i24}, {1, 20, 3, ValueType::i24}, {1, 24, 4, ValueType::i32},
      {1, 32, 4, ValueType::i32}, {1, 64, 8, ValueType::i64}, {3, 16, 2, ValueType::f16},
      {3, 32, 4, ValueType::f32}, {3, 64, 8, ValueType::f64}};
  for (const Case& c : cases)
    for (const std::uint64_t channels : {1, 2, 6, 64})
      for (const bool extensible : {false, true})
        for (const bool big_endian : {false, true}) {
          const WavFormat format{.tag = c.tag,
                                 .channels = channels,
                                 .bits = c.bits,
                                 .frame_bytes = channels * c.container,
                                 .extensible = extensible,
                                 .valid_bits = c.bits};
          const std::uint64_t data = 3 * channels * c.container;
          const auto found = recognise_checked(wav_file(format, data, {}, {}, big_endian).bytes());
          ASSERT_TRUE(found) << c.tag << ' ' << c.bits;
          EXPECT_EQ(found->name, "wav");
          EXPECT_EQ(found->head_bytes, extensible ? 68u : 44u);
          EXPECT_EQ(found->data_bytes, data);
          const Column column{c.type, static_cast<std::uint8_t>(channels),
                              big_endian && value_bytes(c.type) > 1};
          EXPECT_EQ(found->layout, Layout{{column}});
        }
}

TEST(WavHead, ValidBitsMayBeFewerThanTheContainerHolds) {
  const WavFormat format{
      .tag = 1, .channels = 2, .bits = 32, .frame_bytes = 8, .extensible = true, .valid_bits = 20};
  EXPECT_EQ(to_string(recognise_checked(wav_file(format, 16).bytes())->layout), "i32x2");
  const WavFormat wrong{
      .tag = 1, .channels = 2, .bits = 16, .frame_bytes = 4, .extensible = true, .valid_bits = 24};
  EXPECT_FALSE(recognise_checked(wav_file(wrong, 16).bytes()));
}

TEST(WavHead, AMissingFrameSizeIsDerivedFromTheBits) {
  const WavFormat format{.tag = 1, .channels = 2, .bits = 24, .frame_bytes = 0};
  EXPECT_EQ(to_string(recognise_checked(wav_file(format, 12).bytes())->layout), "i24x2");
}

TEST(WavHead, FormatsThatAreNoPlainSamplesAreBareFiles) {
  const WavFormat formats[] = {
      {.tag = 2, .channels = 2, .bits = 4, .frame_bytes = 1024},
      {.tag = 6, .channels = 1, .bits = 8, .frame_bytes = 1},
      {.tag = 0x55, .channels = 2, .bits = 0, .frame_bytes = 1},
      {.tag = 1, .channels = 0, .bits = 16, .frame_bytes = 2},
      {.tag = 1, .channels = 2, .bits = 16, .frame_bytes = 5},
      {.tag = 1, .channels = 2, .bits = 0, .frame_bytes = 4},
      {.tag = 1, .channels = 2, .bits = 33, .frame_bytes = 8},
      {.tag = 1, .channels = 2, .bits = 40, .frame_bytes = 10},
      {.tag = 3, .channels = 2, .bits = 24, .frame_bytes = 6},
      {.tag = 1, .channels = 2, .bits = 16, .frame_bytes = 2},
      {.tag = 2, .channels = 2, .bits = 16, .frame_bytes = 4, .extensible = true, .valid_bits = 16},
  };
  for (const WavFormat& format : formats)
    EXPECT_FALSE(recognise_checked(wav_file(format, 20).bytes()))
        << format.tag << ' ' << format.bits;
}

TEST(WavHead, ExtensibleFormatsOfForeignGuidsAreBareFiles) {
  const WavFormat format{
      .tag = 1, .channels = 2, .bits = 16, .frame_bytes = 4, .extensible = true, .valid_bits = 16};
  const Bytes known = wav_file(format, 16).bytes();
  constexpr std::size_t kGuidAt = 20 + 24;
  EXPECT_TRUE(recognise_checked(known));
  for (std::size_t i = 2; i < 16; ++i) {  // all but the tag
    Bytes foreign = known;
    foreign[kGuidAt + i] ^= std::byte{1};
    EXPECT_FALSE(recognise_checked(foreign)) << i;
  }
}

TEST(WavHead, MoreChannelsThanATupleHoldsAreSeveralColumns) {
  const auto layout = [](std::uint64_t channels) {
    const WavFormat format{.tag = 1, .channels = channels, .bits = 16, .frame_bytes = 2 * channels};
    const auto found = recognise_checked(wav_file(format, 6 * channels).bytes());
    EXPECT_EQ(found->data_bytes, 6 * channels);
    return to_string(found->layout);
  };
  EXPECT_EQ(layout(64), "i16x64");
  EXPECT_EQ(layout(65), "i16x64,i16");
  EXPECT_EQ(layout(130), "i16x64,i16x64,i16x2");
  EXPECT_EQ(
      recognise_checked(wav_file({1, 32767, 16, 65534}, 65534).bytes())->layout.record_bytes(),
      65534u);
  EXPECT_FALSE(recognise_checked(wav_file({1, 32769, 16, 0}, 70000).bytes()));
}

TEST(WavHead, OtherChunksBeforeAndAfterTheSamplesArePassed) {
  FileMaker before;
  before.text("JUNK").u32(28).fill(28, 0).text("fact").u32(4).u32(10).text("bext").u32(5).fill(6);
  FileMaker after;
  after.text("LIST").u32(4).text("INFO").text("id3 ").u32(3).fill(4);
  const FileMaker file = wav_file({}, 40, before, after);
  const auto found = recognise_checked(file.bytes());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->head_bytes, 44 + before.size());
  EXPECT_EQ(found->data_bytes, 40u);
}

TEST(WavHead, AMissingPadByteAfterAnOddChunkIsForgiven) {
  FileMaker before;
  before.text("bext").u32(5).fill(5);
  const auto found = recognise_checked(wav_file({}, 40, before).bytes());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->head_bytes, 44 + before.size());
}

TEST(WavHead, SamplesOfOddLengthLeaveTheRestOpaque) {
  FileMaker after;  // pad byte and a chunk
  after.fill(1, 0).text("LIST").u32(4).text("INFO");
  const auto found = recognise_checked(wav_file({}, 41, {}, after).bytes());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data_bytes, 40u);
}

Bytes with_number(FileMaker file, std::uint64_t at, std::uint64_t value, int count) {
  Bytes bytes = file.bytes();
  for (int i = 0; i < count; ++i)
    bytes[at + static_cast<std::uint64_t>(i)] = static_cast<std::byte>(value >> (8 * i));
  return bytes;
}

TEST(WavHead, AWrongDataSizeMeansUntilTheEnd) {
  const FileMaker file = wav_file({}, 40);
  for (const std::uint64_t stated : {0xffffffffull, 0x7fffffdaull, 41ull, 44ull}) {
    const Bytes bytes = with_number(file, 40, stated, 4);
    EXPECT_EQ(recognise_checked(bytes)->data_bytes, 40u) << stated;
  }
  // Recorders that die leave zeros in both sizes.
  Bytes died = with_number(file, 40, 0, 4);
  for (std::size_t i = 4; i < 8; ++i) died[i] = std::byte{0};
  EXPECT_EQ(recognise_checked(died)->data_bytes, 40u);
  EXPECT_EQ(recognise(died, std::nullopt)->data_bytes, kUntilTheEnd);
  // Or a size of when they last looked: what follows is no chunk.
  EXPECT_EQ(recognise_checked(with_number(file, 40, 8, 4))->data_bytes, 40u);
}

TEST(WavHead, AFileOfNoSamplesIsBelieved) {
  FileMaker after;
  after.text("LIST").u32(4).text("INFO");
  EXPECT_EQ(recognise_checked(wav_file({}, 0, {}, after).bytes())->data_bytes, 0u);
  EXPECT_EQ(recognise_checked(wav_file({}, 0).bytes())->data_bytes, 0u);
}

TEST(WavHead, ADataSizeOfZeroBeforeSamplesMeansUntilTheEnd) {
  for (const int sample : {0x00, 0xaa, 0x41}) {  // the last one reads as a chunk, but for its size
    FileMaker samples;
    samples.fill(40, sample);
    const FileMaker file = wav_file({}, 0, {}, samples);  // so the RIFF size is right
    EXPECT_EQ(recognise_checked(file.bytes())->data_bytes, 40u) << sample;
  }
  FileMaker torn;
  torn.fill(7, 'A');
  EXPECT_EQ(recognise_checked(wav_file({}, 0, {}, torn).bytes())->data_bytes, 4u);
}

TEST(WavHead, AFileBeyond4GiBIsReadToTheEnd) {
  const Bytes head = with_number(wav_file({}, 4000), 40, 100, 4);  // the size wrapped
  const std::uint64_t total = 44 + (std::uint64_t{1} << 32) + 102;
  const auto found = recognise(std::span(head).first(44), total);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data_bytes, total - 44 - 2);
}

FileMaker rf64_file(std::uint64_t riff_size, std::uint64_t data_size, std::uint64_t table_entries,
                    std::uint64_t data_bytes, std::string_view magic = "RF64") {
  FileMaker file;
  file.text(magic).u32(0xffffffff).text("WAVE");
  file.text("ds64").u32(28 + 12 * table_entries).u64(riff_size).u64(data_size).u64(data_size / 4);
  file.u32(table_entries);
  for (std::uint64_t i = 0; i < table_entries; ++i) file.text("JUNK").u64(6);
  file.append(fmt_chunk({}));
  if (table_entries > 0) file.text("JUNK").u32(0xffffffff).fill(6);
  return file.text("data").u32(0xffffffff).fill(data_bytes);
}

TEST(WavHead, Rf64TakesItsSizesFromDs64) {
  for (const std::string_view magic : {"RF64", "BW64"}) {
    FileMaker file = rf64_file(1000, 40, 0, 40, magic);
    const std::uint64_t head = file.size() - 40;
    file.text("LIST").u32(4).text("INFO");
    const auto found = recognise_checked(file.bytes());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->head_bytes, head);
    EXPECT_EQ(found->data_bytes, 40u);
  }
  const FileMaker with_table = rf64_file(1000, 40, 2, 40);
  EXPECT_EQ(recognise_checked(with_table.bytes())->data_bytes, 40u);

  const FileMaker large = rf64_file(0, std::uint64_t{1} << 40, 0, 0);
  EXPECT_EQ(recognise(large.bytes(), std::nullopt)->data_bytes, std::uint64_t{1} << 40);
  EXPECT_EQ(recognise(large.bytes(), large.size() + 10)->data_bytes, 8u);
  // A table that claims more entries than its chunk holds.
  Bytes table = with_table.bytes();
  for (std::size_t i = 44; i < 48; ++i) table[i] = std::byte{0xff};
  EXPECT_TRUE(recognise_checked(table));
  for (const std::uint64_t size : {~0ull, ~0ull - 1, ~0ull - 70, 0ull}) {
    const FileMaker extreme = rf64_file(~0ull, size, 0, 12);
    EXPECT_EQ(recognise_checked(extreme.bytes())->data_bytes, 12u) << size;
  }
}

TEST(WavHead, ADs64TooShortForTheSizesIsNotBelieved) {
  for (const std::uint64_t bytes : {8, 16, 23}) {
    FileMaker file;
    file.text("RF64").u32(0xffffffff).text("WAVE").text("ds64").u32(bytes);
    file.u64(1000).fill(bytes - 8, 0);
    if (bytes % 2 != 0) file.fill(1, 0);
    file.append(fmt_chunk({})).text("data").u32(0xffffffff).fill(40);
    EXPECT_EQ(recognise_checked(file.bytes())->data_bytes, 40u) << bytes;
    // What a longer one would have for a size lies in the chunks behind it.
    EXPECT_EQ(recognise(file.bytes(), std::nullopt)->data_bytes, kUntilTheEnd) << bytes;
  }
}

TEST(WavHead, Rf64WithoutDs64IsReadToTheEnd) {
  FileMaker file;
  file.text("RF64")
      .u32(0xffffffff)
      .text("WAVE")
      .append(fmt_chunk({}))
      .text("data")
      .u32(0xffffffff)
      .fill(10);
  EXPECT_EQ(recognise_checked(file.bytes())->data_bytes, 8u);
}

TEST(WavHead, ChunksInTheWrongOrderOrTwiceAreNoWav) {
  FileMaker early;
  early.text("RIFF").u32(100).text("WAVE").text("data").u32(4).fill(4).append(fmt_chunk({}));
  EXPECT_FALSE(recognise_checked(early.bytes()));
  EXPECT_FALSE(recognise_checked(wav_file({}, 8, fmt_chunk({})).bytes()));
  FileMaker short_fmt;
  short_fmt.text("RIFF")
      .u32(100)
      .text("WAVE")
      .text("fmt ")
      .u32(14)
      .fill(14)
      .text("data")
      .u32(4)
      .fill(4);
  EXPECT_FALSE(recognise_checked(short_fmt.bytes()));
  FileMaker avi;
  avi.text("RIFF").u32(100).text("AVI ").append(fmt_chunk({})).text("data").u32(4).fill(4);
  EXPECT_FALSE(recognise_checked(avi.bytes()));
}

TEST(WavHead, AHeadBeyondThePrefixIsABareFile) {
  FileMaker before;
  before.text("JUNK").u32(kMostPrefixBytes).fill(kMostPrefixBytes);
  EXPECT_FALSE(recognise_checked(wav_file({}, 40, before).bytes()));
}

TEST(WavHead, ExtremeNumbersInAnyFieldAreSurvived) {
  const FileMaker file = wav_file({1, 2, 16, 4, true, 16}, 40);
  for (std::uint64_t at = 0; at + 8 <= 76; ++at)
    for (const std::uint64_t value : {0ull, ~0ull, 0x7fffffffull, 0x80000000ull, 0xfffffffeull})
      for (const int count : {1, 2, 4, 8}) recognise_checked(with_number(file, at, value, count));
}

TEST(WavHead, EveryTruncationAndBitFlipIsSurvived) {
  FileMaker before, after;
  before.text("bext").u32(5).fill(6).text("fact").u32(4).u32(10);
  after.text("LIST").u32(4).text("INFO");
  damage_everywhere(wav_file({}, 40, before, after).bytes());
  damage_everywhere(wav_file({1, 3, 24, 9, true, 24}, 27, before, after).bytes());
  damage_everywhere(wav_file({3, 2, 32, 8}, 32, {}, {}, true).bytes());
  damage_everywhere(rf64_file(1000, 40, 2, 50).bytes());
}

}  // namespace
}  // namespace gdelta::format
