// Golden files of every format version are decoded by the library and by the plain decoder, and what
// the library writes is decoded by the plain decoder too.
#include <filesystem>
#include <fstream>

#include "codec/plain_decoder.h"
#include "codec/stream/stream_tools.h"
#include "golden/golden_cases.h"
#include "places.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldenFolder = fs::path(kSourceDir) / "tests" / "golden";
constexpr std::size_t kMostGoldenBytes = 4096;

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kGoldenFolder))
    if (entry.path().extension() == ".gdz") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Bytes expected_values(fs::path file) { return read_file(file.replace_extension(".values")); }

class PlainDecoder : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(plain_decoder()))
      GTEST_SKIP() << "this build has no samples, so there is no " << plain_decoder();
  }
};

TEST(Golden, ThereIsAFileForEveryCaseAndNoneIsLarge) {
  EXPECT_GE(golden_files().size(), plain::golden_cases().size());
  for (const fs::path& file : golden_files()) {
    const std::uintmax_t bytes = fs::file_size(file),
                         values = fs::file_size(fs::path(file).replace_extension(".values"));
    if (bytes < kMostGoldenBytes) continue;
    // A coder may make few values longer, but not twice as long.
    EXPECT_LT(values, kMostGoldenBytes) << file;
    EXPECT_LT(bytes, 2 * values) << file;
  }
}

TEST(Golden, TheLibraryDecodesEveryFile) {
  for (const fs::path& file : golden_files()) {
    SCOPED_TRACE(file.filename());
    const Bytes stream = read_file(file);
    const Bytes values = expected_values(file);
    const auto whole = decompress(stream, decode_on_cpu());
    ASSERT_TRUE(whole) << whole.error().to_string();
    EXPECT_EQ(*whole, values);
    EXPECT_EQ(read_stream(source_of(stream, {7})).value(), values);
    const auto info = inspect(stream);
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_EQ(info->decoded_bytes, values.size());
    const std::uint64_t third = values.size() / 3;
    EXPECT_EQ(decompress_range(stream, third, 2 * third, decode_on_cpu()).value(),
              Bytes(values.begin() + static_cast<std::ptrdiff_t>(third),
                    values.begin() + static_cast<std::ptrdiff_t>(2 * third)));
  }
}

/// The bytes of the worked stream, from the left column of the specification's section 9.
Bytes stream_of_the_specification() {
  std::ifstream spec(fs::path(kSourceDir) / "formats" / "gdelta" / "spec.md");
  Bytes stream;
  bool in_section = false;
  for (std::string line; std::getline(spec, line);) {
    if (line.starts_with("## ")) in_section = line.starts_with("## 9.");
    if (!in_section || !line.starts_with("    ")) continue;
    for (std::size_t at = 4; at + 1 < line.size() && line[at] != ' '; at += 3) {
      const std::string digits = line.substr(at, 2);
      stream.push_back(static_cast<std::byte>(digits == ".." ? 0 : std::stoi(digits, nullptr, 16)));
    }
  }
  return stream;
}

TEST(Golden, TheWorkedStreamOfTheSpecificationIsTheGoldenFile) {
  const fs::path file = kGoldenFolder / "format0" / "worked_example.gdz";
  EXPECT_EQ(stream_of_the_specification(), read_file(file));
}

TEST_F(PlainDecoder, DecodesEveryGoldenFile) {
  const std::vector<fs::path> files = golden_files();
  std::vector<Bytes> streams;
  for (const fs::path& file : files) streams.push_back(read_file(file));
  const std::vector<PlainAnswer> answers = decode_plainly(streams);
  for (std::size_t i = 0; i < files.size(); ++i)
    EXPECT_EQ(answers[i].values.value_or(Bytes()), expected_values(files[i]))
        << files[i].filename() << ": " << answers[i].complaint;
}

TEST_F(PlainDecoder, DecodesWhatTheLibraryWrites) {
  std::vector<std::string> names;
  std::vector<Bytes> values, streams;
  for (const char* record :
       {"i8", "u8x3", "i16x2", "u16:be", "i24x5", "u24:be", "i32x3", "u32", "i64x2", "u64:bex4",
        "f16", "bf16x2", "f32x6", "f64", "f32x3,u16:be,u8x5,i24"})
    for (const int level : {1, 5, 9})
      for (const Coder coder : plain_coders()) {
        EncodeOptions options = encode_on_cpu(record);
        options.level = level;
        options.coder = coder;
        options.chunk_bytes = 20000;
        names.push_back(std::string(record) + " level " + std::to_string(level) + ' ' +
                        std::string(coder_name(coder)));
        values.push_back(walk_bytes(30000 + names.size()));
        streams.push_back(compress(values.back(), options).value());
      }
  const std::vector<PlainAnswer> answers = decode_plainly(streams);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(answers[i].values.value_or(Bytes()), values[i])
        << names[i] << ": " << answers[i].complaint;
}

TEST_F(PlainDecoder, RefusesWhatIsDamagedAndSaysSo) {
  Bytes stream = compress(walk_bytes(3000), encode_on_cpu("i32")).value();
  stream[stream.size() / 2] ^= std::byte{4};
  const PlainAnswer answer = decode_plainly({&stream, 1}).front();
  EXPECT_FALSE(answer.values);
  EXPECT_TRUE(answer.complaint.starts_with("corrupt: ")) << answer.complaint;
}

}  // namespace
}  // namespace gdelta::test
