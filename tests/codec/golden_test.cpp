// Golden files of every format version are decoded by the library and by the plain decoder, and what
// the library writes is decoded by the plain decoder too.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "codec/stream/stream_tools.h"
#include "golden/golden_cases.h"
#include "places.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldenFolder = fs::path(kSourceDir) / "tests" / "golden";
const fs::path kPlainDecoder = fs::path(kBinaryDir) / "samples" / "plain_decoder";
constexpr std::size_t kMostGoldenBytes = 4096;

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.begin());
  return bytes;
}

void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kGoldenFolder))
    if (entry.path().extension() == ".gdz") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Bytes expected_values(fs::path file) { return read_file(file.replace_extension(".values")); }

/// What the plain decoder makes of a file; nothing if it fails, and why is in `stderr`.
std::optional<Bytes> decode_plainly(const fs::path& file, const fs::path& folder) {
  const fs::path out = folder / "values";
  const std::string command = "'" + kPlainDecoder.string() + "' '" + file.string() + "' '" +
                              out.string() + "' 2>'" + (folder / "stderr").string() + "'";
  if (std::system(command.c_str()) != 0) return std::nullopt;
  return read_file(out);
}

class PlainDecoder : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kPlainDecoder))
      GTEST_SKIP() << "this build has no samples, so there is no " << kPlainDecoder;
    folder_ = fs::temp_directory_path() / ("gdelta_plain_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  fs::path folder_;
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
  for (const fs::path& file : golden_files()) {
    SCOPED_TRACE(file.filename());
    EXPECT_EQ(decode_plainly(file, folder_).value_or(Bytes()), expected_values(file));
  }
}

TEST_F(PlainDecoder, DecodesWhatTheLibraryWrites) {
  int number = 0;
  for (const char* record :
       {"i8", "u8x3", "i16x2", "u16:be", "i24x5", "u24:be", "i32x3", "u32", "i64x2", "u64:bex4",
        "f16", "bf16x2", "f32x6", "f64", "f32x3,u16:be,u8x5,i24"})
    for (const int level : {1, 5, 9})
      for (const Coder coder : plain_coders()) {
        EncodeOptions options = encode_on_cpu(record);
        options.level = level;
        options.coder = coder;
        options.chunk_bytes = 20000;
        const Bytes values = walk_bytes(30000 + static_cast<std::size_t>(++number));
        const fs::path file = folder_ / "stream.gdz";
        write_file(file, compress(values, options).value());
        EXPECT_EQ(decode_plainly(file, folder_).value_or(Bytes()), values)
            << record << " level " << level << ' ' << coder_name(coder);
      }
}

TEST_F(PlainDecoder, RefusesWhatIsDamagedAndSaysSo) {
  const fs::path file = folder_ / "stream.gdz";
  Bytes stream = compress(walk_bytes(3000), encode_on_cpu("i32")).value();
  stream[stream.size() / 2] ^= std::byte{4};
  write_file(file, stream);
  EXPECT_FALSE(decode_plainly(file, folder_));
  EXPECT_GT(fs::file_size(folder_ / "stderr"), 0u);
}

}  // namespace
}  // namespace gdelta::test
