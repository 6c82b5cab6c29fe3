// A file that would have two contents if frames behind a stream were skipped: one that is read from the
// front, and one that an index at its end knows. Commands refuse it at the same place, but for a range that
// needs nothing of what the index says wrongly: what is not read is not compared (spec.md, section 3.3).
#include "command_runner.h"
#include "golden/plain_encoder.h"

namespace gdelta::cli_test {
namespace {

using format::BlockTag;
using format::IndexEntry;
using plain::Bytes;

Bytes opaque_chunk(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return plain::encode_chunk({bytes.begin(), bytes.end()}, byte_layout(), {plain::raw()}, true);
}

Bytes end_block(std::span<const IndexEntry> entries) {
  Bytes index, block;
  for (const IndexEntry& entry : entries) format::append_index_entry(index, entry);
  format::append_end_block(block, entries.size(), index);
  return block;
}

class TwoContents : public CommandTest {
 protected:
  TwoContents() {
    // The index takes what stands before the second chunk for a chunk as well.
    Bytes file(format::kStreamHeader.begin(), format::kStreamHeader.end());
    const std::size_t header = file.size();
    const auto append = [&](const Bytes& more) {
      file.insert(file.end(), more.begin(), more.end());
    };
    append(opaque_chunk("the first"));
    append(end_block({}));
    end_of_first_ = file.size();
    const Bytes second = opaque_chunk("the second");
    constexpr std::size_t kFrameHead = 8;
    const IndexEntry entries[] = {{.tag = BlockTag::opaque_chunk,
                                   .block_bytes = end_of_first_ + kFrameHead - header,
                                   .check = 0,
                                   .records = 9,
                                   .head = {}},
                                  format::chunk_entry(second)};
    const Bytes end = end_block(entries);
    format::append_le(file, 4, 0x184D2A50);
    format::append_le(file, 4, second.size() + end.size());
    append(second);
    append(end);
    write_file("two.gdz", {reinterpret_cast<const char*>(file.data()), file.size()});
  }

  void expect_refused(Names arguments) {
    std::string command;
    for (const std::string& argument : arguments) command += argument + " ";
    arguments.emplace_back("two.gdz");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 1) << command;
    EXPECT_NE(outcome.err.find("two.gdz: byte " + std::to_string(end_of_first_) + ": "),
              std::string::npos)
        << command << ": " << outcome.err;
    EXPECT_EQ(outcome.out.find("second"), std::string::npos) << command;
  }

  std::size_t end_of_first_ = 0;
};

TEST_F(TwoContents, AreRefusedByEveryCommandAtTheSameByte) {
  expect_refused({"decompress", "-c"});
  expect_refused({"decompress"});
  EXPECT_FALSE(exists("two"));
  expect_refused({"test"});
  expect_refused({"list"});
  expect_refused({"list", "-v"});
  expect_refused({"list", "--json"});
  expect_refused({"cat"});
  expect_refused({"cat", "--range", ":"});
  expect_refused({"cat", "--range", "0:1"});
  expect_refused({"cat", "--range", "8:10"});
}

}  // namespace
}  // namespace gdelta::cli_test
