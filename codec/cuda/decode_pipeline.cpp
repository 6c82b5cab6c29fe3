#include "codec/cuda/decode_pipeline.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "codec/cuda/host_copy.h"

namespace gdelta::cuda {
namespace {

constexpr std::uint64_t kAlign = 16;  // of blocks and contents in device memory

// Values, and lengths of segments.
std::uint64_t job_bytes(const DecodeJob& job) {
  return job.out.size() + job.parsed.segments.lengths * format::tuple_bytes(format::kLengthColumn);
}

std::uint64_t align_up(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

// One flight: blocks packed into pinned memory behind their table, copied in, decoded, copied out. Where all blocks,
// or all outputs, are the caller's pinned memory, they are copied from and to where they are.
Result<void> DecodePipeline::start(Flight& flight, const DeviceLayout& device_layout,
                                   std::span<DecodeJob* const> jobs, bool verify,
                                   const ChunkKinds& kinds) {
  std::vector<TableChunk> chunks;
  std::uint64_t stream_bytes = 0, out_bytes = 0, lengths = 0;
  flight.jobs.assign(jobs.begin(), jobs.end());
  flight.out_at.clear();
  flight.lengths_at.clear();
  for (const DecodeJob* job : jobs) {
    const format::SegmentsHead& segments = job->parsed.segments;
    flight.lengths_at.push_back(lengths_place(lengths, chunks.size()));
    chunks.push_back({.block_at = stream_bytes,
                      .block_bytes = job->block.size(),
                      .decoded_at = out_bytes,
                      .decoded_bytes = job->out.size(),
                      .opaque = job->parsed.opaque() ? 1u : 0u,
                      .lengths_at = lengths,
                      .lengths = static_cast<std::uint32_t>(segments.lengths),
                      .joins = segments.joins});
    flight.out_at.push_back(out_bytes);
    stream_bytes += align_up(job->block.size());
    out_bytes += align_up(job->out.size());
    lengths += segments.lengths;
  }
  const std::vector<std::byte> table = make_table_bytes(device_layout, chunks);
  const std::uint64_t table_at = stream_bytes, in_bytes = stream_bytes + table.size();
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
  call.stream_bytes = stream_bytes;
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
  for (std::size_t i = 0; flight.outputs_are_pinned && i < jobs.size(); ++i)
    GDELTA_CUDA_TRY(cudaMemcpyAsync(jobs[i]->out.data(),
                                    flight.device_out.data() + flight.out_at[i],
                                    jobs[i]->out.size(), cudaMemcpyDeviceToHost, stream));
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
  const auto copy = [&](std::uint64_t at, const void* from, std::uint64_t bytes) {
    return cudaMemcpyAsync(flight.device_blocks.data() + at, from, bytes, cudaMemcpyHostToDevice,
                           stream);
  };
  if (blocks_are_pinned) {
    for (std::size_t i = 0; i < jobs.size(); ++i)
      GDELTA_CUDA_TRY(copy(chunks[i].block_at, jobs[i]->block.data(), jobs[i]->block.size()));
    std::memcpy(flight.blocks.data(), table.data(), table.size());
    GDELTA_CUDA_TRY(copy(table_at, flight.blocks.data(), table.size()));
    return {};
  }
  std::vector<HostCopy> copies;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    copies.push_back(
        {flight.blocks.data() + chunks[i].block_at, jobs[i]->block.data(), jobs[i]->block.size()});
  copies.push_back({flight.blocks.data() + table_at, table.data(), table.size()});
  run_host_copies(*arena_, copies);
  GDELTA_CUDA_TRY(copy(0, flight.blocks.data(), table_at + table.size()));
  return {};
}

Result<void> DecodePipeline::finish(Flight& flight, std::vector<DecodeJob*>& refused,
                                    ProgressMeter& progress) {
  if (flight.jobs.empty()) return {};
  GDELTA_CUDA_TRY(cudaStreamSynchronize(flight.stream.get()));
  const auto* verdicts = reinterpret_cast<const ChunkVerdict*>(flight.verdicts.data());
  std::vector<HostCopy> copies;
  std::vector<std::uint64_t> done;  // bytes of each
  for (std::size_t i = 0; i < flight.jobs.size(); ++i) {
    DecodeJob& job = *flight.jobs[i];
    if (verdicts[i].code == static_cast<int>(Errc::ok)) {
      if (!flight.outputs_are_pinned)
        copies.push_back({job.out.data(), flight.out.data() + flight.out_at[i], job.out.size()});
      const auto* lengths =
          reinterpret_cast<const std::uint32_t*>(flight.lengths.data()) + flight.lengths_at[i];
      job.lengths.assign(lengths, lengths + job.parsed.segments.lengths);
      done.push_back(job.out.size());
    } else {
      refused.push_back(&job);
    }
  }
  flight.jobs.clear();
  run_host_copies(*arena_, copies);
  for (const std::uint64_t bytes : done) progress.add(bytes);
  if (progress.stopped()) return decompression_cancelled();
  return {};
}

void DecodePipeline::drain() {
  for (Flight& flight : flights_) {
    // The error that led here is the one to report.
    if (flight.stream.get() != nullptr)
      static_cast<void>(cudaStreamSynchronize(flight.stream.get()));
    flight.jobs.clear();
  }
}

Result<void> DecodePipeline::run_flights(std::span<DecodeJob* const> jobs,
                                         const DeviceLayout& device_layout, bool verify,
                                         const ChunkKinds& kinds, std::vector<DecodeJob*>& refused,
                                         ProgressMeter& progress) {
  std::size_t first = 0;
  for (int turn = 0; first < jobs.size(); turn = (turn + 1) % kFlights) {
    std::size_t end = first;
    std::uint64_t bytes = 0;
    do {
      bytes += job_bytes(*jobs[end]);
      ++end;
    } while (end < jobs.size() && bytes + job_bytes(*jobs[end]) <= flight_bytes_);
    if (auto done = finish(flights_[turn], refused, progress); !done) return done;
    if (auto begun =
            start(flights_[turn], device_layout, jobs.subspan(first, end - first), verify, kinds);
        !begun)
      return begun;
    first = end;
  }
  for (Flight& flight : flights_) {
    if (auto done = finish(flight, refused, progress); !done) return done;
  }
  return {};
}

Result<void> DecodePipeline::run(std::span<DecodeJob* const> jobs, const Layout& layout,
                                 bool verify, const ChunkKinds& kinds,
                                 std::vector<DecodeJob*>& refused, ProgressMeter& progress) {
  if (jobs.empty()) return {};
  GDELTA_CUDA_TRY(cudaSetDevice(device_));
  Result<void> done;
  try {
    done = run_flights(jobs, make_device_layout(layout, kinds.segments), verify, kinds, refused,
                       progress);
  } catch (const std::bad_alloc&) {
    done = fail(Errc::out_of_memory, "memory is too short to decode a batch of chunks");
  }
  if (!done) drain();
  return done;
}

}  // namespace gdelta::cuda
