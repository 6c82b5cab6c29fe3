// What follows an array: the next one.
#include "foreign_samples.h"

namespace gdelta::format {
namespace {

FileMaker junk(std::uint64_t bytes) { return FileMaker().fill(bytes, 'R'); }

TEST(NextArray, IsFoundWhereverItBeginsAndWhatIsBeforeItIsItsHead) {
  for (const std::uint64_t before : {0, 1, 7, 512, 70000, 131071}) {
    const auto found = recognise_next_checked(junk(before).append(kNpy).append(kWav).bytes());
    ASSERT_TRUE(found) << before;
    EXPECT_EQ(found->head_bytes, before + kNpyHead);
    EXPECT_EQ(found->data_bytes, 24000u);
    EXPECT_EQ(to_string(found->layout), "f32x3");
    EXPECT_EQ(found->name, "npy");
  }
}

TEST(NextArray, IsLookedForInOneStepOfALongRest) {
  const auto ask = [](std::uint64_t before) {
    return recognise_next(nullptr, junk(before).append(kNpy).fill(kNextPrefixBytes).bytes(),
                          std::nullopt);
  };
  EXPECT_TRUE(ask(kNextStepBytes - 1));
  EXPECT_FALSE(ask(kNextStepBytes));
}

TEST(NextArray, MembersOfArchivesAreKnownByTheirHeads) {
  const auto zip = recognise_next_checked(junk(9).append(zip_file("a.npy", kNpy)).bytes());
  ASSERT_TRUE(zip);
  EXPECT_EQ(zip->name, "zip");
  EXPECT_EQ(zip->head_bytes, 9 + 35 + kNpyHead);
  const auto tar = recognise_next_checked(junk(9).append(tar_file("a.wav", kWav)).bytes());
  ASSERT_TRUE(tar);
  EXPECT_EQ(tar->name, "tar");
  EXPECT_EQ(tar->head_bytes, 9u + 512 + 44);
  EXPECT_EQ(tar->data_bytes, 8000u);
}

TEST(NextArray, OneTooShortForALayoutOfItsOwnIsPassedOver) {
  FileMaker file;
  for (int i = 0; i < 100; ++i)
    file.append(npy_file(npy_literal("<f4", "(10,)"), 40)).append(wav_file({}, 0));
  EXPECT_FALSE(recognise_next_checked(file.bytes()));
  const std::uint64_t before = file.size();
  const auto found = recognise_next_checked(file.append(kNpy).bytes());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->head_bytes, before + kNpyHead);
  // Each column takes room for its model.
  std::string fields = "{'descr': [";
  for (int i = 0; i < 100; ++i) fields += "('" + std::to_string(i) + "', '|u1'), ";
  fields += "], 'fortran_order': False, 'shape': ";
  EXPECT_FALSE(recognise_next_checked(npy_file(fields + "(100,)}", 10000).bytes()));
  EXPECT_TRUE(recognise_next_checked(npy_file(fields + "(200,)}", 20000).bytes()));
}

TEST(NextArray, MagicNumbersByTheThousandAreNotAllParsed) {
  FileMaker file;
  while (file.size() < 100000) file.text("RIFF____WAVE");
  EXPECT_FALSE(recognise_next_checked(file.append(kNpy).bytes()));
}

// ---- a second chunk of samples

Recognised samples_of(const FileMaker& wav) {
  auto found = recognise(wav.bytes(), wav.size());
  EXPECT_TRUE(found);
  return *found;
}

FileMaker chunk(std::string_view id, std::uint64_t bytes, bool big_endian = false) {
  return FileMaker(big_endian).text(id).u32(bytes).fill(bytes);
}

TEST(NextSamples, FollowOtherChunksInTheSameFormat) {
  for (const bool big_endian : {false, true}) {
    const Recognised before = samples_of(wav_file({}, 8000, {}, {}, big_endian));
    FileMaker rest = chunk("LIST", 10, big_endian);
    rest.append(chunk("data", 6000, big_endian));
    const auto found = recognise_next_checked(rest.bytes(), &before);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "wav");
    EXPECT_EQ(found->head_bytes, 18u + 8);
    EXPECT_EQ(found->data_bytes, 6000u);
    EXPECT_EQ(to_string(found->layout), big_endian ? "i16:bex2" : "i16x2");
  }
}

TEST(NextSamples, FollowInAnotherFormatWhereThereIsOne) {
  const Recognised before = samples_of(kWav);
  FileMaker rest = fmt_chunk({.channels = 1, .bits = 24, .frame_bytes = 3});
  const auto found = recognise_next_checked(rest.append(chunk("data", 6000)).bytes(), &before);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(found->layout), "i24");
}

TEST(NextSamples, FollowATornRecordAndItsPadding) {
  const Recognised before = samples_of(wav_file({}, 8001, {}, FileMaker().fill(1)));
  EXPECT_EQ(before.torn_bytes, 1u);
  for (const std::uint64_t padding : {0, 1}) {
    const FileMaker rest = FileMaker().fill(1 + padding).append(chunk("data", 6000));
    const auto found = recognise_next_checked(rest.bytes(), &before);
    ASSERT_TRUE(found) << padding;
    EXPECT_EQ(found->head_bytes, 1 + padding + 8);
  }
}

TEST(NextSamples, AreNoneWithoutAFileOfSamplesBefore) {
  const FileMaker rest = chunk("data", 6000);
  const Recognised array = samples_of(kNpy);
  EXPECT_FALSE(recognise_next_checked(rest.bytes(), &array));
  EXPECT_FALSE(recognise_next_checked(rest.bytes()));
  const Recognised before = samples_of(kWav);
  EXPECT_FALSE(recognise_next_checked(junk(3).append(rest).bytes(), &before));
  // Longer than what is left of the file.
  EXPECT_FALSE(recognise_next(&before, rest.bytes(), rest.size() - 1));
}

TEST(NextSamples, OfAnotherFileAreKnownByItsOwnHead) {
  const Recognised before = samples_of(kWav);
  const FileMaker wide = wav_file({.channels = 1, .bits = 32, .frame_bytes = 4}, 6000);
  const auto found = recognise_next_checked(chunk("LIST", 10).append(wide).bytes(), &before);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(found->layout), "i32");
  EXPECT_EQ(found->head_bytes, 18u + 44);
}

TEST(NextSamples, SurviveAnyDamage) {
  const Recognised before = samples_of(kWav);
  Bytes rest = chunk("LIST", 3).fill(1).append(fmt_chunk({})).append(chunk("data", 4)).bytes();
  for (std::size_t bit = 0; bit < 8 * rest.size(); ++bit) {
    rest[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    recognise_next_checked(rest, &before);
    rest[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  for (; !rest.empty(); rest.pop_back()) recognise_next_checked(rest, &before);
}

// ---- the end of samples

TEST(SamplesBeforeAnotherFile, EndWhereTheirSizeSays) {
  for (const FileMaker& next : {kNpy, kWav, zip_file("a", kNpy), tar_file("a", kNpy)}) {
    const FileMaker both = FileMaker(kWav).append(next);
    EXPECT_EQ(recognise_checked(both.bytes())->data_bytes, 8000u);
  }
}

}  // namespace
}  // namespace gdelta::format
