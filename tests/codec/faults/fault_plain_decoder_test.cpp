// The plain decoder, written from the specification alone, reports the faults of the table as the
// specification says: so the library and the specification agree.
#include <gtest/gtest.h>

#include "codec/faults/fault_cases.h"
#include "codec/plain_decoder.h"

namespace gdelta::test {
namespace {

/// "corrupt: chunk 1, byte 48: " and then a reason.
std::string expected_complaint(const faults::FaultCase& fault) {
  if (fault.code == Errc::ok) return {};
  return std::string(errc_name(fault.code)) + ": " +
         (fault.chunk ? "chunk " + std::to_string(*fault.chunk) + ", " : "") + "byte " +
         std::to_string(fault.byte) + ": ";
}

TEST(FaultCases, AreReportedByThePlainDecoder) {
  if (!std::filesystem::exists(plain_decoder()))
    GTEST_SKIP() << "this build has no samples, so there is no " << plain_decoder();
  std::vector<faults::FaultCase> cases;
  std::vector<Bytes> streams;
  for (faults::FaultCase& fault : faults::fault_cases()) {
    // It reads from the front, so an index that is right makes no difference.
    if (!cases.empty() && fault.name == cases.back().name + ", with index") continue;
    streams.push_back(fault.stream);
    cases.push_back(std::move(fault));
  }
  EXPECT_GT(cases.size(), 500u);
  const std::vector<PlainAnswer> answers = decode_plainly(streams);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string expected = expected_complaint(cases[i]);
    const std::string& complaint = answers[i].complaint;
    EXPECT_EQ(complaint.substr(0, expected.empty() ? std::string::npos : expected.size()), expected)
        << cases[i].name << ": " << complaint;
  }
}

}  // namespace
}  // namespace gdelta::test
