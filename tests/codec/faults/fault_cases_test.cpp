// Every reader of the library finds the one fault of every stream of the table, and reports it alike.
#include "codec/faults/fault_cases.h"

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

using faults::FaultCase;

const std::vector<FaultCase>& cases() {
  static const std::vector<FaultCase> all = faults::fault_cases();
  return all;
}

template <class Value>
std::string report_of(const Result<Value>& result) {
  return result ? "ok" : faults::report_of(result.error());
}

/// Runs a reader over all cases. Those that decode nothing do not see some of them.
template <class Read>
void expect_reports(Read read, bool decodes = true) {
  for (const FaultCase& fault : cases()) {
    const bool unseen = !decodes && (fault.in_payload || fault.unknown_model);
    EXPECT_EQ(report_of(read(fault)), unseen ? "ok" : faults::expected_report(fault)) << fault.name;
  }
}

TEST(FaultCases, AreReportedByDecompress) {
  expect_reports([](const FaultCase& fault) { return decompress(fault.stream, decode_on_cpu()); });
}

TEST(FaultCases, AreReportedByAReader) {
  expect_reports([](const FaultCase& fault) { return read_stream(source_of(fault.stream, {61})); });
}

TEST(FaultCases, AreReportedByInspectAsFarAsDecodingDoesNotMatter) {
  expect_reports([](const FaultCase& fault) { return inspect(fault.stream); },
                 /*decodes=*/false);
}

TEST(FaultCases, AreReportedByARangeOverEverything) {
  expect_reports([](const FaultCase& fault) {
    return decompress_range(fault.stream, 0, fault.decoded_bytes, decode_on_cpu());
  });
}

TEST(FaultCases, HaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (const FaultCase& fault : cases()) names.push_back(fault.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace gdelta::test
