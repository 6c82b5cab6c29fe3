// The command writes, byte for byte, what the library's one call writes.
#include <cstring>

#include "command_runner.h"
#include "gdelta/codec.h"

namespace gdelta::cli_test {
namespace {

class CommandBytes : public CommandTest {
 protected:
  void expect_like_library(const std::string& bytes, int level = 5) {
    write_file("input", bytes);
    EncodeOptions options;
    options.level = level;
    const std::span<const char> values(bytes);
    const auto expected = compress(std::as_bytes(values), options);
    ASSERT_TRUE(expected);
    const Outcome outcome = run({"compress", "-qc", "-" + std::to_string(level), "input"});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    ASSERT_EQ(outcome.out.size(), expected->size());
    EXPECT_EQ(std::memcmp(outcome.out.data(), expected->data(), expected->size()), 0);
  }
  static std::string number(std::uint32_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
  }
  /// 16-bit stereo whose data chunk says `stated`; `rest` follows its head. The file's own size is
  /// that of the RIFF chunk.
  static std::string wav(std::uint32_t stated, const std::string& rest) {
    const std::string format = std::string("\x01\0\x02\0", 4) + number(44100) + number(176400) +
                               std::string("\x04\0\x10\0", 4);
    const std::string body = "WAVEfmt " + number(16) + format + "data" + number(stated) + rest;
    return "RIFF" + number(static_cast<std::uint32_t>(body.size())) + body;
  }
};

TEST_F(CommandBytes, OfBareFilesAtEveryLevel) {
  for (int level = 1; level <= 9; ++level) expect_like_library(sensor_bytes(5000) + "odd", level);
  expect_like_library("");
  expect_like_library("x");
}

TEST_F(CommandBytes, OfWavFilesWhoseSizesAreRightOrWrong) {
  const std::string samples = sensor_bytes(3000);
  const auto size = static_cast<std::uint32_t>(samples.size());
  for (const std::uint32_t stated : {size, size - 4, size + 4000, 0u, 0xffffffffu})
    expect_like_library(wav(stated, samples));
  expect_like_library(wav(size, samples + "LIST" + number(4) + "tail"));
}

TEST_F(CommandBytes, OfALongFileDependOnItsLength) {
  // Longer than what is looked at before the first chunk. A data chunk of no bytes in a file of just
  // the size that it states holds no samples; were the length not known, they would go to the end.
  const std::string rest = sensor_bytes(5 << 18);
  ASSERT_GT(rest.size(), std::size_t{4} << 20);
  expect_like_library(wav(0, "LIST" + number(static_cast<std::uint32_t>(rest.size())) + rest), 1);
}

}  // namespace
}  // namespace gdelta::cli_test
