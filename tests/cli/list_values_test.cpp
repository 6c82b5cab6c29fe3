// The numbers that list prints, against the files and against the library.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command_runner.h"
#include "gdelta/stream.h"

namespace gdelta::cli_test {
namespace {

using Json = nlohmann::json;

class ListValues : public CommandTest {
 protected:
  ListValues() {
    make("sensor.gdz", sensor_bytes(20000), {"--type", "i16", "--tuple", "2", "--chunk", "16K"});
    make("record.gdz", sensor_bytes(3000), {"--record", "i16x2,u8x2"});
    make("noise.gdz", random_bytes(5000), {"--type", "u8"});
    make("empty.gdz", "", {});
    make("field.gdz", field(), {"-9", "--type", "f32"});
  }
  /// Rows of floats, each much like the one before: what strides are for.
  static std::string field() {
    std::string bytes;
    std::uint32_t random = 1;
    std::vector<float> row(97);
    for (float& value : row) value = static_cast<float>(next_random(random) >> 8) / 1e4f - 800;
    for (int i = 0; i < 200; ++i)
      for (float& value : row) {
        value += static_cast<float>(next_random(random) >> 28) / 64;
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    return bytes;
  }
  void make(const std::string& name, const std::string& bytes, Names options) {
    options.insert(options.begin(), {"compress", "-q"});
    write_file(name, run(options, bytes).out);
    decoded_[name] = bytes.size();
  }
  static std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
  }
  static std::string ratio_text(std::uint64_t decoded, std::uint64_t compressed) {
    std::array<char, 32> text;
    const double ratio = static_cast<double>(decoded) / static_cast<double>(compressed);
    return {text.data(),
            static_cast<std::size_t>(snprintf(text.data(), text.size(), "%.3f", ratio))};
  }
  StreamInfo inspected(const std::string& name) const {
    const std::string bytes = read_file(name);
    const ReadAt read_at = [&](std::uint64_t offset, std::span<std::byte> buffer) {
      const std::size_t count = std::min<std::size_t>(buffer.size(), bytes.size() - offset);
      std::memcpy(buffer.data(), bytes.data() + offset, count);
      return Result<std::size_t>(count);
    };
    return inspect(read_at, bytes.size(), {}).value();
  }
  std::map<std::string, std::uint64_t> decoded_;
};

TEST_F(ListValues, ALineHasTheSizesOfItsFileAndTheLastOneTheirSums) {
  Names arguments = {"list"};
  for (const auto& [name, bytes] : decoded_) arguments.push_back(name);
  const auto lines = lines_of(run(arguments).out);
  ASSERT_GE(lines.size(), decoded_.size() + 2);
  std::uint64_t decoded_sum = 0, compressed_sum = 0;
  std::size_t line = 1;
  for (const auto& [name, bytes] : decoded_) {
    const auto words = words_of(lines[line++]);
    const std::uint64_t compressed = read_file(name).size();
    ASSERT_GE(words.size(), 5u);
    EXPECT_EQ(words[0], std::to_string(bytes)) << name;
    EXPECT_EQ(words[1], std::to_string(compressed)) << name;
    EXPECT_EQ(words[2], ratio_text(bytes, compressed)) << name;
    EXPECT_EQ(words.back(), name);
    decoded_sum += bytes;
    compressed_sum += compressed;
  }
  const auto sums = words_of(lines[line]);
  ASSERT_EQ(sums.size(), 5u);
  EXPECT_EQ(sums[0], std::to_string(decoded_sum));
  EXPECT_EQ(sums[1], std::to_string(compressed_sum));
  EXPECT_EQ(sums[2], ratio_text(decoded_sum, compressed_sum));
  EXPECT_EQ(sums[3], std::to_string(decoded_.size()));
  EXPECT_EQ(sums[4], "files");
}

TEST_F(ListValues, JsonSaysWhatTheLibraryFound) {
  bool strides_seen = false, map_seen = false, opaque_seen = false;
  write_file("odd.gdz", run({"compress", "-q", "--type", "u16"}, "an odd number of bytes.").out);
  for (const std::string name :
       {"sensor.gdz", "record.gdz", "noise.gdz", "empty.gdz", "field.gdz", "odd.gdz"}) {
    const StreamInfo info = inspected(name);
    const Json file = Json::parse(run({"list", "--json", name}).out)["files"][0];
    EXPECT_EQ(file["streams"], info.streams);
    EXPECT_EQ(file["compressed_bytes"], read_file(name).size());
    EXPECT_EQ(file["decoded_bytes"], info.decoded_bytes);
    EXPECT_DOUBLE_EQ(file["ratio"].get<double>(), static_cast<double>(info.decoded_bytes) /
                                                      static_cast<double>(info.compressed_bytes));
    ASSERT_EQ(file["chunks"].size(), info.chunks.size()) << name;
    for (std::size_t i = 0; i < info.chunks.size(); ++i) {
      const ChunkInfo& chunk = info.chunks[i];
      const Json& json = file["chunks"][i];
      EXPECT_EQ(json["number"], chunk.number);
      EXPECT_EQ(json["byte"], chunk.byte);
      EXPECT_EQ(json["block_bytes"], chunk.block_bytes);
      EXPECT_EQ(json["records"], chunk.records);
      EXPECT_EQ(json["decoded_at"], chunk.decoded_at);
      EXPECT_EQ(json["decoded_bytes"], chunk.decoded_bytes);
      EXPECT_EQ(json["opaque"], chunk.opaque);
      opaque_seen = opaque_seen || chunk.opaque;
      EXPECT_EQ(json["layout"], chunk.opaque ? Json() : Json(chunk.layout));
      ASSERT_EQ(json["columns"].size(), chunk.columns.size());
      for (std::size_t c = 0; c < chunk.columns.size(); ++c) {
        const ColumnInfo& column = chunk.columns[c];
        EXPECT_EQ(json["columns"][c]["coder"], coder_name(column.coder));
        EXPECT_EQ(json["columns"][c]["map"], map_name(column.map));
        EXPECT_EQ(json["columns"][c].value("map_words", ""), column.map_words);
        EXPECT_EQ(json["columns"][c].value("lane_map", ""), column.lane_map_words);
        EXPECT_EQ(json["columns"][c].value("exceptions", std::uint64_t{0}), column.exceptions);
        EXPECT_EQ(json["columns"][c]["predictor"], predictor_name(column.predictor));
        EXPECT_EQ(json["columns"][c]["orders"], Json(column.orders));
        EXPECT_EQ(json["columns"][c]["compressed_bytes"], column.compressed_bytes);
        ASSERT_EQ(json["columns"][c]["strides"].size(), column.strides.size());
        for (std::size_t s = 0; s < column.strides.size(); ++s) {
          EXPECT_EQ(json["columns"][c]["strides"][s]["stride"], column.strides[s].first);
          EXPECT_EQ(json["columns"][c]["strides"][s]["order"], column.strides[s].second);
        }
        strides_seen = strides_seen || !column.strides.empty();
        map_seen = map_seen || column.map != ValueMap::none;
      }
    }
  }
  EXPECT_TRUE(strides_seen && map_seen && opaque_seen) << "the files show too little";
}

TEST_F(ListValues, TheTableOfChunksSaysTheSame) {
  for (const std::string name : {"sensor.gdz", "record.gdz", "field.gdz"}) {
    const StreamInfo info = inspected(name);
    const auto lines = lines_of(run({"list", "-v", name}).out);
    std::uint64_t framing = read_file(name).size();
    std::size_t line = 6;  // two of the summary, framing, note, none, titles
    for (const ChunkInfo& chunk : info.chunks) {
      ASSERT_LT(line, lines.size());
      const auto words = words_of(lines[line]);
      ASSERT_GE(words.size(), 6u) << lines[line];
      EXPECT_EQ(words[0], std::to_string(chunk.number));
      EXPECT_EQ(words[1], std::to_string(chunk.byte));
      EXPECT_EQ(words[2], std::to_string(chunk.records));
      EXPECT_EQ(words[3], std::to_string(chunk.decoded_bytes));
      EXPECT_EQ(words[4], std::to_string(chunk.block_bytes));
      // A chunk of several columns has a line for each, which does not repeat what is above.
      if (chunk.columns.size() > 1) {
        EXPECT_EQ(words[5], std::to_string(chunk.columns.size()));
        ++line;
      }
      for (const ColumnInfo& column : chunk.columns) {
        const auto own = words_of(lines[line++]);
        const std::size_t bits = chunk.columns.size() > 1 ? 1 : 5;
        if (bits == 1) {
          EXPECT_EQ(own[0], std::to_string(column.compressed_bytes));
        }
        ASSERT_GE(own.size(), bits + 3);
        EXPECT_EQ(own[bits + 2], coder_name(column.coder));
        framing -= column.compressed_bytes;
      }
    }
    const std::string said = std::to_string(info.chunks.size()) +
                             (info.chunks.size() == 1 ? " chunk" : " chunks") +
                             "; heads and indexes take " + std::to_string(framing) + " bytes, ";
    EXPECT_EQ(lines[2].rfind(said, 0), 0u) << lines[2];
  }
}

}  // namespace
}  // namespace gdelta::cli_test
