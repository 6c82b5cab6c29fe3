// The plain decoder, written from the specification alone, reports the faults of the table as the
// specification says: so the library and the specification agree.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "codec/faults/fault_cases.h"
#include "codec/stream/stream_tools.h"
#include "places.h"

namespace gdelta::test {
namespace {

namespace fs = std::filesystem;

/// What it prints behind the file's name; nothing if it decodes the file.
std::string complaint_of_plain_decoder(const fs::path& decoder, const fs::path& file) {
  std::string words[] = {decoder.string(), file.string(), "/dev/null"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int ends[2];
  if (pipe(ends) != 0) return "there is no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const bool runs =
      posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  if (!runs || waitpid(child, &status, 0) != child) return "cannot be run";
  if (text.empty() && status != 0) return "ended with status " + std::to_string(status);
  const std::string before = "plain_decoder: " + file.string() + ": ";
  return text.starts_with(before) ? text.substr(before.size()) : text;
}

/// "corrupt: chunk 1, byte 48: " and then a reason.
std::string expected_complaint(const faults::FaultCase& fault) {
  if (fault.code == Errc::ok) return {};
  return std::string(errc_name(fault.code)) + ": " +
         (fault.chunk ? "chunk " + std::to_string(*fault.chunk) + ", " : "") + "byte " +
         std::to_string(fault.byte) + ": ";
}

TEST(FaultCases, AreReportedByThePlainDecoder) {
  const fs::path decoder = fs::path(kBinaryDir) / "samples" / "plain_decoder";
  if (!fs::exists(decoder)) GTEST_SKIP() << "this build has no samples, so there is no " << decoder;
  const fs::path file =
      fs::temp_directory_path() / ("gdelta_fault_" + std::to_string(getpid()) + ".gdz");
  std::string before;
  for (const faults::FaultCase& fault : faults::fault_cases()) {
    // It reads from the front, so an index that is right makes no difference.
    const bool seen = fault.name == before + ", with index";
    before = fault.name;
    if (seen) continue;
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(fault.stream.data()),
               static_cast<std::streamsize>(fault.stream.size()));
    const std::string complaint = complaint_of_plain_decoder(decoder, file);
    const std::string expected = expected_complaint(fault);
    EXPECT_EQ(complaint.substr(0, expected.empty() ? std::string::npos : expected.size()), expected)
        << fault.name << ": " << complaint;
  }
  fs::remove(file);
}

}  // namespace
}  // namespace gdelta::test
