// Every command that reads finds the one fault of every stream of the table, says where it is, and
// leaves nothing behind.
#include <map>
#include <sstream>

#include "cli/command_runner.h"
#include "codec/faults/fault_cases.h"

namespace gdelta::cli_test {
namespace {

using faults::FaultCase;

class FaultCommands : public CommandTest {
 protected:
  FaultCommands() {
    for (const FaultCase& fault : cases_) {
      names_.push_back("f" + std::to_string(names_.size()) + ".gdz");
      write_file(names_.back(), std::string(reinterpret_cast<const char*>(fault.stream.data()),
                                            fault.stream.size()));
    }
  }

  /// "chunk 1, byte 48", or nothing if all is well.
  static std::string expected_place(const FaultCase& fault, bool decodes = true) {
    if (fault.code == Errc::ok || (!decodes && (fault.in_payload || fault.unknown_model)))
      return {};
    return (fault.chunk ? "chunk " + std::to_string(*fault.chunk) + ", " : std::string()) +
           "byte " + std::to_string(fault.byte);
  }

  /// What is said of each file: the place of the error, without its sentence.
  static std::map<std::string, std::string> places_in(const std::string& err) {
    std::map<std::string, std::string> places;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);) {
      const std::string gdelta = "gdelta: ";
      const std::size_t file_end = line.find(": ", gdelta.size());
      const std::size_t place_end = line.find(": ", file_end + 2);
      if (!line.starts_with(gdelta) || place_end == std::string::npos) {
        places["(other)"] += line;
        continue;
      }
      places[line.substr(gdelta.size(), file_end - gdelta.size())] +=
          line.substr(file_end + 2, place_end - file_end - 2);
    }
    return places;
  }

  /// One call over all files.
  void expect_places(std::vector<std::string> arguments, bool decodes = true) {
    arguments.insert(arguments.end(), names_.begin(), names_.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 1);
    auto places = places_in(outcome.err);
    for (std::size_t i = 0; i < cases_.size(); ++i)
      EXPECT_EQ(places[names_[i]], expected_place(cases_[i], decodes)) << cases_[i].name;
    EXPECT_EQ(places["(other)"], "");
  }

  const std::vector<FaultCase> cases_ = faults::fault_cases();
  std::vector<std::string> names_;
};

TEST_F(FaultCommands, TestReportsEveryFault) { expect_places({"test"}); }

TEST_F(FaultCommands, ListReportsWhatCanBeSeenWithoutDecoding) {
  expect_places({"list"}, /*decodes=*/false);
}

TEST_F(FaultCommands, DecompressReportsEveryFaultAndLeavesNoOutput) {
  expect_places({"decompress", "--keep"});
  std::size_t good = 0;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const bool is_good = cases_[i].code == Errc::ok;
    good += is_good;
    EXPECT_EQ(exists("f" + std::to_string(i)), is_good) << cases_[i].name;
  }
  EXPECT_EQ(names().size(), names_.size() + good);  // no temporary files
}

// It takes one file, so one fault in seven is enough; the library's ranges see them all.
TEST_F(FaultCommands, CatReportsFaults) {
  constexpr std::size_t kSideBySide = 4;
  std::vector<std::size_t> concerned;
  for (std::size_t i = 0; i < cases_.size(); i += 7) concerned.push_back(i);
  for (std::size_t first = 0; first < concerned.size(); first += kSideBySide) {
    const std::size_t last = std::min(concerned.size(), first + kSideBySide);
    std::vector<Running> started;
    for (std::size_t k = first; k < last; ++k)
      started.push_back(
          start({"cat", "--range", "0:" + std::to_string(cases_[concerned[k]].decoded_bytes),
                 names_[concerned[k]]}));
    for (std::size_t k = first; k < last; ++k) {
      const std::size_t i = concerned[k];
      const Outcome outcome = started[k - first].finish();
      EXPECT_EQ(places_in(outcome.err)[names_[i]], expected_place(cases_[i])) << cases_[i].name;
      EXPECT_EQ(outcome.exit_status, cases_[i].code == Errc::ok ? 0 : 1) << cases_[i].name;
    }
  }
}

}  // namespace
}  // namespace gdelta::cli_test
