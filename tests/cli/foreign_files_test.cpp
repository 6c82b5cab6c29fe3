// WAV and NPY files: they say themselves what they hold, and records are counted without their heads.
#include "command_runner.h"
#include "tests/formats/foreign_samples.h"

namespace gdelta::cli_test {
namespace {

std::string text_of(const format::FileMaker& file) {
  const auto& bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ForeignFiles : public CommandTest {
 protected:
  ForeignFiles() {
    const format::WavFormat stereo{.channels = 2, .bits = 16, .frame_bytes = 4};
    format::FileMaker tail;
    tail.text("LIST").u32(8).text("INFOmine");
    std::string wav = text_of(format::wav_file(stereo, samples_.size(), {}, tail));
    const std::size_t data_at = wav.size() - tail.size() - samples_.size();
    wav.replace(data_at, samples_.size(), samples_);
    write_file("sound.wav", wav);
    std::string npy =
        text_of(format::npy_file(format::npy_literal("<i2", "(1000, 2)"), samples_.size()));
    npy.replace(npy.size() - samples_.size(), samples_.size(), samples_);
    write_file("array.npy", npy);
  }
  const std::string samples_ = sensor_bytes(1000);
};

TEST_F(ForeignFiles, SayThemselvesWhatTheyHold) {
  const Outcome wav = run({"compress", "sound.wav"});
  EXPECT_NE(wav.err.find("i16x2"), std::string::npos) << wav.err;
  EXPECT_NE(wav.err.find("WAV"), std::string::npos) << wav.err;
  const Outcome npy = run({"compress", "array.npy"});
  EXPECT_NE(npy.err.find("i16"), std::string::npos) << npy.err;
  EXPECT_NE(npy.err.find("NPY"), std::string::npos) << npy.err;
}

TEST_F(ForeignFiles, TypesGivenStandAboveTheirOwn) {
  write_file("sound.gdz", run({"compress", "-qc", "--type", "u8", "sound.wav"}).out);
  const std::string json = run({"list", "--json", "sound.gdz"}).out;
  EXPECT_NE(json.find("\"u8\""), std::string::npos) << json;
  EXPECT_EQ(json.find("i16"), std::string::npos) << json;
}

TEST_F(ForeignFiles, ComeBackWholeAndTheirRecordsWithoutHeadAndTail) {
  for (const std::string name : {"sound.wav", "array.npy"}) {
    ASSERT_EQ(run({"compress", "-q", name}).exit_status, 0);
    EXPECT_TRUE(run({"cat", name + ".gdz"}).out == read_file(name)) << name;
    const auto records = [&](const std::string& range) {
      return run({"cat", "--unit", "records", "--range", range, name + ".gdz"});
    };
    EXPECT_TRUE(records(":").out == samples_) << name;
    EXPECT_TRUE(records("0:1").out == samples_.substr(0, 4)) << name;
    EXPECT_TRUE(records("999:").out == samples_.substr(3996)) << name;
    EXPECT_EQ(records("0:1001").exit_status, 1) << name;
  }
}

}  // namespace
}  // namespace gdelta::cli_test
