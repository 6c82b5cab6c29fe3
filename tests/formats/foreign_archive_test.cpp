// Archives of arrays.
#include "foreign_samples.h"

namespace gdelta::format {
namespace {

const FileMaker kText = FileMaker().text("Read me first, all of you who come here.\n");
const FileMaker kLongText = FileMaker().fill(3001, 'r');  // an eighth of the numbers, and a byte

struct Answer {
  std::string name, layout;
  std::uint64_t head_bytes = 0, data_bytes = 0;
  bool operator==(const Answer&) const = default;
};

Answer ask(const FileMaker& file) {
  const auto found = recognise_checked(file.bytes());
  if (!found) return {};
  EXPECT_EQ(found->in_archive, found->name == "zip" || found->name == "tar");
  return {std::string(found->name), to_string(found->layout), found->head_bytes, found->data_bytes};
}

constexpr std::uint64_t kZipHead = 30 + 5;  // of a member with a name of five characters

TEST(ZipArchive, FirstMemberIsAnArrayWhereItIsStored) {
  const Answer expected{
      .name = "zip", .layout = "f32x3", .head_bytes = kZipHead + kNpyHead, .data_bytes = 24000};
  EXPECT_EQ(ask(zip_file("a.npy", kNpy)), expected);
  EXPECT_EQ(ask(zip_file("a.npy", kNpy, {.flags = 8})), expected);
  EXPECT_EQ(ask(zip_file("a.npy", kNpy, {.long_sizes = true})),
            (Answer{.name = "zip",
                    .layout = "f32x3",
                    .head_bytes = kZipHead + 20 + kNpyHead,
                    .data_bytes = 24000}));
  EXPECT_EQ(
      ask(zip_file("a.wav", kWav)),
      (Answer{.name = "zip", .layout = "i16x2", .head_bytes = kZipHead + 44, .data_bytes = 8000}));
}

TEST(ZipArchive, CompressedEncryptedOrOtherFirstMembersAreBare) {
  EXPECT_EQ(ask(zip_file("a.npy", kNpy, {.method = 8})), Answer());
  EXPECT_EQ(ask(zip_file("a.npy", kNpy, {.flags = 1})), Answer());
  EXPECT_EQ(ask(zip_file("a.txt", kLongText).append(zip_file("a.npy", kNpy))), Answer());
}

TEST(ZipArchive, AMemberEndsWhereItsHeaderSays) {
  // Samples without a length of their own.
  FileMaker endless;
  endless.text("RIFF").u32(0xffffffff).text("WAVE").append(fmt_chunk({}));
  endless.text("data").u32(0xffffffff).fill(4000);
  const FileMaker rest = FileMaker().fill(5000, 3);
  EXPECT_EQ(ask(FileMaker(zip_file("a.wav", endless)).append(rest)).data_bytes, 4000u);
  EXPECT_EQ(
      ask(FileMaker(zip_file("a.wav", endless, {.long_sizes = true})).append(rest)).data_bytes,
      4000u);
  EXPECT_EQ(ask(FileMaker(tar_file("a.wav", endless)).append(rest)).data_bytes, 4000u);
}

TEST(TarArchive, FirstFileIsAnArrayAndFoldersBeforeItDoNotCount) {
  EXPECT_EQ(
      ask(tar_file("a.npy", kNpy)),
      (Answer{
          .name = "tar", .layout = "f32x3", .head_bytes = 512 + kNpyHead, .data_bytes = 24000}));
  EXPECT_EQ(
      ask(tar_file("a.npy", kNpy, '\0')),
      (Answer{
          .name = "tar", .layout = "f32x3", .head_bytes = 512 + kNpyHead, .data_bytes = 24000}));
  EXPECT_EQ(
      ask(tar_file("a.npy", kNpy, '0', true)),
      (Answer{
          .name = "tar", .layout = "f32x3", .head_bytes = 512 + kNpyHead, .data_bytes = 24000}));
  FileMaker tar = tar_file("folder/", {}, '5');
  tar.append(tar_file("note", kText, 'x')).append(tar_file("folder/a.wav", kWav));
  EXPECT_EQ(ask(tar), (Answer{.name = "tar",
                              .layout = "i16x2",
                              .head_bytes = 512 + 512 + 512 + 512 + 44,
                              .data_bytes = 8000}));
}

TEST(TarArchive, FilesBeforeTheFirstArrayArePassedOverIfTheyAreSmallTogether) {
  // Heads count, and files end with blocks of 512 bytes.
  FileMaker tar = tar_file("README", kText);
  tar.append(tar_file("LICENSE", FileMaker().fill(1024, 'l')));
  const FileMaker two = tar;
  EXPECT_EQ(ask(tar.append(tar_file("a.npy", kNpy))), (Answer{.name = "tar",
                                                              .layout = "f32x3",
                                                              .head_bytes = 2560 + 512 + kNpyHead,
                                                              .data_bytes = 24000}));
  EXPECT_EQ(ask(FileMaker(two).append(tar_file("b", kText)).append(tar_file("a.npy", kNpy))),
            Answer());
  EXPECT_EQ(ask(two), Answer());
}

TEST(TarArchive, OtherFirstFilesAndBrokenHeadsAreBare) {
  EXPECT_EQ(ask(FileMaker(tar_file("README", kLongText)).append(tar_file("a.npy", kNpy))),
            Answer());
  Bytes tar = tar_file("a.npy", kNpy).bytes();
  tar[3] ^= std::byte{1};
  EXPECT_FALSE(recognise_checked(tar));
}

TEST(TarArchive, AnArrayWithItsMagicNumberInsideIsItself) {
  FileMaker data;
  data.fill(257 - kNpyHead % 257, 0).fill(24000 - data.size(), 1);
  Bytes npy = with_data(kNpy, data.bytes()).bytes();
  for (std::size_t i = 0; i < 5; ++i) npy[257 + i] = static_cast<std::byte>("ustar"[i]);
  EXPECT_EQ(recognise_checked(npy)->name, "npy");
}

TEST(ZipArchive, ArraysOfTextBeforeTheFirstOfNumbersArePassedOver) {
  const FileMaker names = npy_file(npy_literal("<U3", "(2,)"), 24);
  FileMaker zip = zip_file("names.npy", names, {.long_sizes = true});
  const std::size_t before = zip.size();
  zip.append(zip_file("a.npy", kNpy));
  EXPECT_EQ(ask(zip), (Answer{.name = "zip",
                              .layout = "f32x3",
                              .head_bytes = before + 35 + kNpyHead,
                              .data_bytes = 24000}));
  EXPECT_EQ(ask(zip_file("names.npy", names)), Answer());
  FileMaker text = zip_file("a.txt", kText);
  const std::size_t text_bytes = text.size();
  EXPECT_EQ(ask(text.append(zip_file("a.npy", kNpy))).head_bytes, text_bytes + kZipHead + kNpyHead);
}

TEST(ZipArchive, ThereIsAdviceOnCompressedArraysAlone) {
  const FileMaker deflated = zip_file("a.npy", kText, {.method = 8});
  EXPECT_NE(advice_on(deflated.bytes()).find("compressed=False"), std::string_view::npos);
  for (const FileMaker& file : {zip_file("a.npy", kNpy), zip_file("a.xml", kText, {.method = 8}),
                                kNpy, FileMaker(), FileMaker().text("PK\3\4")})
    EXPECT_EQ(advice_on(file.bytes()), "");
  for (std::size_t bytes = 0; bytes < 35; ++bytes)
    EXPECT_EQ(advice_on(std::span(deflated.bytes()).first(bytes)), "");
}

TEST(Archives, SurviveAnyDamage) {
  const FileMaker npy = npy_file(npy_literal("<f4", "(3,)"), 12);
  damage_everywhere(zip_file("a.npy", npy, {.long_sizes = true}).bytes());
  damage_everywhere(FileMaker(tar_file("a", {}, '5')).append(tar_file("b", npy)).bytes());
}

}  // namespace
}  // namespace gdelta::format
