// The CUDA backend and the device API report the faults of the table as the CPU does.
#ifdef GDELTA_HAS_CUDA
#include "codec/cuda/cuda_cases.h"
#include "codec/faults/fault_cases.h"
#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

using faults::FaultCase;

DecodeOptions decode_on_cuda() {
  DecodeOptions options;
  options.device = "cuda";
  return options;
}

std::string report_of(const Result<Bytes>& result) {
  return result ? "ok" : faults::report_of(result.error());
}

TEST(CudaHostileTable, StreamsAreReportedAsOnTheCpu) {
  GDELTA_NEEDS_GPU();
  for (const FaultCase& fault : faults::fault_cases()) {
    EXPECT_EQ(report_of(decompress(fault.stream, decode_on_cuda())), faults::expected_report(fault))
        << fault.name;
    EXPECT_EQ(report_of(read_stream(source_of(fault.stream), decode_on_cuda())),
              faults::expected_report(fault))
        << fault.name;
  }
}

TEST(CudaHostileTable, ChunksAreReportedAsOnTheCpu) {
  GDELTA_NEEDS_GPU();
  for (const FaultCase& fault : faults::fault_cases()) {
    if (!fault.at_fault || fault.at_fault->block.empty()) continue;
    const faults::ChunkAtFault& at = *fault.at_fault;
    if (at.decoded_bytes > kMaxChunkBytes) continue;  // no table says that
    // What lies in the stream before the chunk is not looked at.
    const DeviceOutcome outcome = decode_on_device(
        {{at.block, Bytes(at.decoded_bytes), at.opaque, at.lengths}}, at.layout, 0, 1, at.at);
    ASSERT_EQ(outcome.status.size(), 1u);
    const ChunkStatus& status = outcome.status[0];
    if (status.code == static_cast<int>(Errc::needs_host)) continue;  // a column of zstd
    const Errc expected = faults::head_goes_beyond(at.block) ? Errc::truncated : fault.code;
    EXPECT_EQ(errc_name(static_cast<Errc>(status.code)), std::string(errc_name(expected)))
        << fault.name;
    if (expected != Errc::ok) {
      EXPECT_EQ(status.byte, fault.byte) << fault.name;
    }
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
