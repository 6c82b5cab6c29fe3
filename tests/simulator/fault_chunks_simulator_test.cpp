// The heads of the chunks of the table of faults, parsed on a simulated device: it gives the verdict
// that stands in the table.
#include <gtest/gtest.h>

#include "codec/cuda/container/chunk_decode_cuda.h"
#include "codec/faults/fault_cases.h"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using faults::Bytes;
using faults::ChunkAtFault;
using faults::FaultCase;
using simulator::GuardedBytes;

template <class Entry>
void append(Bytes& table, const Entry& entry) {
  const auto* const from = reinterpret_cast<const std::byte*>(&entry);
  table.insert(table.end(), from, from + sizeof entry);
}

/// The table of a stream that holds one chunk, `at` bytes behind its beginning.
Bytes table_of(const ChunkAtFault& chunk) {
  const auto columns = static_cast<std::uint32_t>(chunk.layout.columns.size());
  Bytes table;
  append(table,
         ChunkTableHeader{.num_chunks = 1,
                          .num_columns = columns,
                          .record_bytes = static_cast<std::uint32_t>(chunk.layout.record_bytes()),
                          .opaque_slot = columns,
                          .reserved = 0});
  std::uint32_t offset = 0;
  for (std::uint32_t c = 0; c < columns; ++c) {
    const Column& column = chunk.layout.columns[c];
    append(table, TableColumn{.type = static_cast<std::uint8_t>(column.type),
                              .tuple = column.tuple,
                              .big_endian = static_cast<std::uint8_t>(column.big_endian),
                              .reserved = 0,
                              .offset = offset,
                              .slot = c,
                              .reserved2 = 0});
    offset += static_cast<std::uint32_t>(column.bytes());
  }
  append(table, TableChunk{.block_at = chunk.at,
                           .block_bytes = chunk.block.size(),
                           .decoded_at = 0,
                           .decoded_bytes = chunk.decoded_bytes,
                           .opaque = chunk.opaque ? 1u : 0u,
                           .lengths = static_cast<std::uint32_t>(chunk.lengths)});
  return table;
}

ChunkVerdict verdict_on(const ChunkAtFault& chunk) {
  Bytes stream(chunk.at);
  stream.insert(stream.end(), chunk.block.begin(), chunk.block.end());
  const Bytes table = table_of(chunk);
  const GuardedBytes guarded_stream(simulator::unsigned_bytes(stream), 0, true);
  const GuardedBytes guarded_table(simulator::unsigned_bytes(table), 0, true);
  const bool in_segments = chunk.lengths > 0;
  const auto slots =
      static_cast<std::uint32_t>(chunk.layout.columns.size()) + (in_segments ? 2 : 1);
  std::vector<ColumnTask> tasks(slots);
  std::vector<MapTask> map_tasks(slots);
  std::vector<DictionaryTask> dictionaries(slots);
  std::vector<LaneMaps> lane_maps(slots);
  std::vector<std::uint32_t> warp_pages(slots), map_pages(slots), block_pages(slots), parts(slots),
      segment_pages(slots);
  std::vector<std::uint64_t> warp_starts(slots + 1), map_starts(slots + 1), block_starts(slots + 1),
      part_starts(slots + 1), segment_starts(slots + 1);
  std::vector<unsigned long long> damaged(1), differs(1);
  std::vector<ChunkVerdict> verdicts(1);
  unsigned char* const out = reinterpret_cast<unsigned char*>(0x1000000);  // nobody writes there
  SegmentedChunk segmented{};
  const SegmentPlaces segments{.chunks = in_segments ? &segmented : nullptr,
                               .lengths = reinterpret_cast<std::uint32_t*>(out),
                               .starts = reinterpret_cast<std::uint32_t*>(out),
                               .room = chunk.lengths,
                               .residuals = out,
                               .residual_bytes = chunk.decoded_bytes,
                               .slot = slots - 1};
  const ParseArgs parse{
      .stream = guarded_stream.data(),
      .stream_bytes = stream.size(),
      .table = guarded_table.data(),
      .first_chunk = 0,
      .num_chunks = 1,
      .num_slots = slots,
      .out = out,
      .out_bytes = chunk.decoded_bytes,
      .tasks = tasks.data(),
      .map_tasks = map_tasks.data(),
      .dictionaries = dictionaries.data(),
      .table_values = nullptr,  // nobody writes there
      .table_room = cuda::table_room(chunk.decoded_bytes, 1, slots),
      .lane_maps = lane_maps.data(),
      .verdicts = verdicts.data(),
      .damaged_at = damaged.data(),
      .differs_at = differs.data(),
      .count = {.counts = {warp_pages.data(), map_pages.data(), block_pages.data(), parts.data(),
                           segment_pages.data()},
                .num_tasks = slots,
                .warp_starts = warp_starts.data(),
                .map_starts = map_starts.data(),
                .block_starts = block_starts.data(),
                .part_starts = part_starts.data(),
                .tickets = nullptr,
                .num_tickets = 0,
                .segment_starts = segment_starts.data()},
      .kinds = {},
      .verify = true,
      .stride_pages = 0,
      .segments = segments};
  EXPECT_EQ(launch_parse_chunks(parse, nullptr), cudaSuccess);
  return verdicts[0];
}

TEST(FaultChunksSimulator, HeadsAreJudgedAsTheTableSays) {
  std::size_t judged = 0;
  for (const FaultCase& fault : faults::fault_cases()) {
    if (!fault.at_fault || fault.has_index) continue;
    SCOPED_TRACE(fault.name);
    const ChunkVerdict verdict = verdict_on(*fault.at_fault);
    const auto code = static_cast<Errc>(verdict.code);
    if (code == Errc::needs_host) continue;  // the host parses the heads of zstd columns
    const bool seen = !fault.in_payload;
    const Errc expected = !seen                                             ? Errc::ok
                          : faults::head_goes_beyond(fault.at_fault->block) ? Errc::truncated
                                                                            : fault.code;
    EXPECT_STREQ(errc_name(code), errc_name(expected));
    EXPECT_EQ(verdict.byte, expected == Errc::ok ? 0 : fault.at_fault->at);
    ++judged;
  }
  EXPECT_GT(judged, 150u);
}

}  // namespace
}  // namespace gdelta::cuda
