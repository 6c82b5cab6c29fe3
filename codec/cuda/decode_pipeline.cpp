#include "codec/cuda/decode_pipeline.h"

#include <algorithm>
#include <cstring>

#include "codec/cuda/decode_launch.h"
#include "codec/cuda/host_copy.h"

namespace gdelta::cuda {
namespace {

constexpr std::uint64_t kTableAlign = 16;  // in device memory

// Values, and lengths of segments.
std::uint64_t job_bytes(const DecodeJob& job) {
  return job.out.size() + job.parsed.segments.lengths * format::tuple_bytes(format::kLengthColumn);
}

/// Copies of all outputs from where they lie behind `from`.
std::vector<HostCopy> outputs_of(std::span<DecodeJob* const> jobs, const unsigned char* from,
                                 std::span<const std::uint64_t> out_at) {
  std::vector<HostCopy> copies;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    copies.push_back({jobs[i]->out.data(), from + out_at[i], jobs[i]->out.size()});
  return copies;
}

}  // namespace

// One flight: blocks packed into pinned memory behind their table, copied in, decoded, copied out. Where all blocks,
// or all outputs, are the caller's pinned memory, they are copied from and to where they are.
Result<void> DecodePipeline::start(Flight& flight, const DeviceLayout& device_layout,
                                   std::span<DecodeJob* const> jobs, bool verify,
                                   const ChunkKinds& kinds) {
  std::vector<TableChunk> chunks;
  NeighbourPlaces blocks, outputs;
  std::uint64_t lengths = 0;
  flight.out_at.clear();
  flight.lengths_at.clear();
  for (const DecodeJob* job : jobs) {
    const format::SegmentsHead& segments = job->parsed.segments;
    flight.lengths_at.push_back(lengths_place(lengths, chunks.size()));
    flight.out_at.push_back(outputs.place(job->out));
    chunks.push_back({.block_at = blocks.place(job->block),
                      .block_bytes = job->block.size(),
                      .decoded_at = flight.out_at.back(),
                      .decoded_bytes = job->out.size(),
                      .opaque = job->parsed.opaque() ? 1u : 0u,
                      .lengths_at = lengths,
                      .lengths = static_cast<std::uint32_t>(segments.lengths),
                      .joins = segments.joins});
    lengths += segments.lengths;
  }
  const std::uint64_t out_bytes = outputs.bytes();
  const std::vector<std::byte> table = make_table_bytes(device_layout, chunks);
  const std::uint64_t table_at = (blocks.bytes() + kTableAlign - 1) / kTableAlign * kTableAlign;
  const std::uint64_t in_bytes = table_at + table.size();
  const std::uint64_t verdict_bytes = jobs.size() * sizeof(ChunkVerdict);
  const bool blocks_are_pinned = std::all_of(jobs.begin(), jobs.end(), [](const DecodeJob* job) {
    return is_pinned(job->block.data(), job->block.size());
  });
  flight.outputs_are_pinned = std::all_of(jobs.begin(), jobs.end(), [](const DecodeJob* job) {
    return is_pinned(job->out.data(), job->out.size());
  });
  DecodeCall call;
  call.num_chunks = static_cast<std::uint32_t>(jobs.size());
  call.decoded_bytes = out_bytes;
  call.lengths = lengths;
  call.kinds = kinds;
  const std::uint64_t lengths_bytes =
      device_layout.in_segments ? lengths_place(lengths, jobs.size()) * sizeof(std::uint32_t) : 0;
  if (auto opened = flight.stream.open(); !opened) return opened;
  for (auto reserved :
       {flight.blocks.reserve(blocks_are_pinned ? table.size() : in_bytes),
        flight.out.reserve(flight.outputs_are_pinned ? 0 : out_bytes),
        flight.verdicts.reserve(verdict_bytes), flight.device_blocks.reserve(in_bytes),
        flight.device_out.reserve(out_bytes), flight.device_verdicts.reserve(verdict_bytes),
        flight.scratch.reserve(decode_scratch_bytes(device_layout, call)),
        flight.lengths.reserve(lengths_bytes)}) {
    if (!reserved) return reserved;
  }
  const cudaStream_t stream = flight.stream.get();
  if (auto copied = copy_in(flight, jobs, chunks, table, table_at, blocks_are_pinned); !copied)
    return copied;
  call.stream = flight.device_blocks.data();
  call.stream_bytes = blocks.bytes();
  call.table = flight.device_blocks.data() + table_at;
  call.out = flight.device_out.data();
  call.out_bytes = out_bytes;
  call.verdicts = reinterpret_cast<ChunkVerdict*>(flight.device_verdicts.data());
  call.scratch = flight.scratch.data();
  call.verify = verify;
  GDELTA_CUDA_TRY(launch_decode(device_layout, call, stream));
  GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.verdicts.data(), flight.device_verdicts.data(),
                                  verdict_bytes, cudaMemcpyDeviceToHost, stream));
  if (!flight.outputs_are_pinned)
    GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.out.data(), flight.device_out.data(), out_bytes,
                                    cudaMemcpyDeviceToHost, stream));
  if (flight.outputs_are_pinned)
    GDELTA_CUDA_TRY(enqueue_copies(outputs_of(jobs, flight.device_out.data(), flight.out_at),
                                   cudaMemcpyDeviceToHost, stream));
  if (lengths > 0)
    GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.lengths.data(), decoded_lengths(device_layout, call),
                                    lengths_bytes, cudaMemcpyDeviceToHost, stream));
  return {};
}

Result<void> DecodePipeline::copy_in(Flight& flight, std::span<DecodeJob* const> jobs,
                                     std::span<const TableChunk> chunks,
                                     std::span<const std::byte> table, std::uint64_t table_at,
                                     bool blocks_are_pinned) {
  const cudaStream_t stream = flight.stream.get();
  unsigned char* const device = flight.device_blocks.data();
  unsigned char* const host = flight.blocks.data();
  std::vector<HostCopy> copies;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    copies.push_back({(blocks_are_pinned ? device : host) + chunks[i].block_at,
                      jobs[i]->block.data(), jobs[i]->block.size()});
  if (blocks_are_pinned) {
    std::memcpy(host, table.data(), table.size());
    copies.push_back({device + table_at, host, table.size()});
    GDELTA_CUDA_TRY(enqueue_copies(copies, cudaMemcpyHostToDevice, stream));
    return {};
  }
  copies.push_back({host + table_at, table.data(), table.size()});
  run_host_copies(*workers_, copies);
  GDELTA_CUDA_TRY(
      cudaMemcpyAsync(device, host, table_at + table.size(), cudaMemcpyHostToDevice, stream));
  return {};
}

// Outputs that are right go where the caller wants them.
void DecodePipeline::finish(Flight& flight, std::span<DecodeJob* const> jobs,
                            ProgressMeter& progress) {
  const auto* verdicts = reinterpret_cast<const ChunkVerdict*>(flight.verdicts.data());
  const std::vector<HostCopy> outputs = outputs_of(jobs, flight.out.data(), flight.out_at);
  std::vector<HostCopy> copies;
  std::vector<std::uint64_t> done;  // bytes of each
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    DecodeJob& job = *jobs[i];
    if (verdicts[i].code == static_cast<int>(Errc::ok)) {
      if (!flight.outputs_are_pinned) copies.push_back(outputs[i]);
      const auto* lengths =
          reinterpret_cast<const std::uint32_t*>(flight.lengths.data()) + flight.lengths_at[i];
      job.lengths.assign(lengths, lengths + job.parsed.segments.lengths);
      done.push_back(job.out.size());
    } else {
      flight.refused.push_back(&job);
    }
  }
  run_host_copies(*workers_, copies, stream_copy);
  for (const std::uint64_t bytes : done) progress.add(bytes);
}

Result<void> DecodePipeline::run(std::span<DecodeJob* const> jobs, const Layout& layout,
                                 bool verify, const ChunkKinds& kinds,
                                 std::vector<DecodeJob*>& refused, ProgressMeter& progress) {
  const DeviceLayout device_layout = make_device_layout(layout, kinds.segments);
  const auto stretches =
      cut_into_flights(jobs, flight_bytes_, [](const DecodeJob* job) { return job_bytes(*job); });
  for (Flight& flight : flights_) flight.refused.clear();
  Result<void> done = run_flights<Flight, DecodeJob* const>(
      device_, flights_, stretches,
      [&](Flight& flight, std::span<DecodeJob* const> mine) -> Result<void> {
        if (auto begun = start(flight, device_layout, mine, verify, kinds); !begun) return begun;
        GDELTA_CUDA_TRY(cudaStreamSynchronize(flight.stream.get()));
        finish(flight, mine, progress);
        if (progress.stopped()) return decompression_cancelled();
        return {};
      });
  for (const Flight& flight : flights_)
    refused.insert(refused.end(), flight.refused.begin(), flight.refused.end());
  return done;
}

}  // namespace gdelta::cuda
