// Real WAV, NPY and LAS files, from the folder that GDELTA_TEST_DATA names.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "foreign_samples.h"

namespace gdelta::format {
namespace {

struct Expected {
  const char* file;
  const char* name;
  const char* layout;
  const char* bare;  // the same numbers without head, if they are there
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.file; }

class ForeignRecordings : public testing::TestWithParam<Expected> {};

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(first, first + text.size());
}

TEST_P(ForeignRecordings, AreTakenApart) {
  const char* folder = std::getenv("GDELTA_TEST_DATA");
  if (!folder) GTEST_SKIP() << "GDELTA_TEST_DATA names no folder of recordings";
  const auto path = std::filesystem::path(folder) / GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Bytes file = read_file(path);
  const auto found = recognise_checked(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, GetParam().name);
  EXPECT_EQ(to_string(found->layout), GetParam().layout);
  EXPECT_GE(found->head_bytes + found->data_bytes + 8, file.size());
  if (GetParam().bare) {
    const Bytes bare = read_file(std::filesystem::path(folder) / GetParam().bare);
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(found->head_bytes);
    EXPECT_EQ(bare, Bytes(begin, begin + static_cast<std::ptrdiff_t>(found->data_bytes)));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ForeignRecordings,
                         testing::Values(Expected{.file = "originals/audio_speech.wav",
                                                  .name = "wav",
                                                  .layout = "i16",
                                                  .bare = "audio_speech.i16x1.bin"},
                                         Expected{.file = "originals/audio_stereo24.wav",
                                                  .name = "wav",
                                                  .layout = "i24x2",
                                                  .bare = nullptr},
                                         Expected{.file = "originals/grid_eraint_z.npy",
                                                  .name = "npy",
                                                  .layout = "i16",
                                                  .bare = nullptr},
                                         Expected{.file = "originals/points_autzen.las",
                                                  .name = "las",
                                                  .layout = "i32x3,u16,u8,u8,i8,u8,u16,f64,u16x3",
                                                  .bare = nullptr}),
                         [](const auto& test) {
                           return std::filesystem::path(test.param.file).stem().string();
                         });

}  // namespace
}  // namespace gdelta::format
