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

TEST_F(ForeignFiles, ThatAreCompressedAlreadyComeWithAdvice) {
  format::FileMaker deflated;
  deflated.text(samples_);
  write_file("set.npz", text_of(format::zip_file("a.npy", deflated, {.method = 8})));
  const Outcome told = run({"compress", "set.npz"});
  EXPECT_EQ(told.exit_status, 0);
  EXPECT_NE(told.err.find("set.npz: its arrays are compressed already"), std::string::npos)
      << told.err;
  EXPECT_EQ(run({"compress", "-fq", "set.npz"}).err, "");
  EXPECT_EQ(run({"compress", "-f", "sound.wav"}).err.find("already"), std::string::npos);
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

TEST_F(ForeignFiles, ThatAreOneFileAreToldAndListedEach) {
  write_file("wide.npy", text_of(format::npy_file(format::npy_literal("<f8", "(1000,)"), 8000)));
  write_file("all", read_file("sound.wav") + read_file("wide.npy") + read_file("array.npy"));
  const Outcome done = run({"compress", "all"});
  EXPECT_NE(done.err.find("i16x2 (as its WAV header says) and 1 more array"), std::string::npos)
      << done.err;
  const auto expect_all = [&](const std::vector<std::string>& arguments,
                              std::initializer_list<const char*> words) {
    const std::string out = run(arguments).out;
    for (const char* word : words) EXPECT_NE(out.find(word), std::string::npos) << word << out;
  };
  expect_all({"list", "all.gdz"}, {"2 layouts"});
  expect_all({"list", "-v", "all.gdz"}, {"i16x2", "f64", "bytes"});
  expect_all({"list", "--json", "all.gdz"}, {"\"i16x2\",", "\"f64\"\n", "\"layout\": 1"});
  ASSERT_EQ(run({"compress", "-q", "-f", "--coder", "pack", "all"}).exit_status, 0);
  expect_all({"list", "--why", "all.gdz"}, {"i16x2", "f64", "bytes", "bits of each lane"});
  EXPECT_TRUE(run({"cat", "all.gdz"}).out == read_file("all"));
  write_file("all.json", run({"bench", "--json", "-1", "all"}).out);
  EXPECT_NE(read_file("all.json").find("\"wav\""), std::string::npos);
}

TEST_F(ForeignFiles, InAPipeAreCompressedAsInAFile) {
  write_file("all", read_file("sound.wav") + read_file("array.npy") + read_file("array.npy"));
  const std::string piped = run({"compress", "-qc", "-"}, read_file("all")).out;
  EXPECT_TRUE(piped == run({"compress", "-qc", "all"}).out);
}

}  // namespace
}  // namespace gdelta::cli_test
