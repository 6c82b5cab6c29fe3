#include "codec/cuda/decode_pipeline.h"

#include <new>

#include "codec/cuda/host_copy.h"

namespace gdelta::cuda {
namespace {

constexpr std::uint64_t kAlign = 16;  // of blocks and contents in device memory

std::uint64_t align_up(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

// One piece: blocks packed into pinned memory behind their table, copied in, decoded, copied out.
Result<void> DecodePipeline::start(Slot& slot, const DecodeShape& shape,
                                   std::span<DecodeJob* const> jobs, bool verify,
                                   const ChunkKinds& kinds) {
  std::vector<TableChunk> chunks;
  std::uint64_t stream_bytes = 0, out_bytes = 0;
  slot.jobs.assign(jobs.begin(), jobs.end());
  slot.out_at.clear();
  for (const DecodeJob* job : jobs) {
    chunks.push_back({stream_bytes, job->block.size(), out_bytes, job->out.size(),
                      job->parsed.opaque() ? 1u : 0u});
    slot.out_at.push_back(out_bytes);
    stream_bytes += align_up(job->block.size());
    out_bytes += align_up(job->out.size());
  }
  const std::vector<std::byte> table = make_table_bytes(shape, chunks);
  const std::uint64_t table_at = stream_bytes, in_bytes = stream_bytes + table.size();
  const std::uint64_t verdict_bytes = jobs.size() * sizeof(ChunkVerdict);
  if (auto opened = slot.stream.open(); !opened) return opened;
  for (auto reserved :
       {slot.blocks.reserve(in_bytes), slot.out.reserve(out_bytes),
        slot.verdicts.reserve(verdict_bytes), slot.device_blocks.reserve(in_bytes),
        slot.device_out.reserve(out_bytes), slot.device_verdicts.reserve(verdict_bytes),
        slot.scratch.reserve(decode_scratch_bytes(shape, jobs.size()))}) {
    if (!reserved) return reserved;
  }
  std::vector<HostCopy> copies;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    copies.push_back(
        {slot.blocks.data() + chunks[i].block_at, jobs[i]->block.data(), jobs[i]->block.size()});
  copies.push_back({slot.blocks.data() + table_at, table.data(), table.size()});
  run_host_copies(*arena_, copies);

  const cudaStream_t stream = slot.stream.get();
  GDELTA_CUDA_TRY(cudaMemcpyAsync(slot.device_blocks.data(), slot.blocks.data(), in_bytes,
                                  cudaMemcpyHostToDevice, stream));
  DecodeCall call;
  call.stream = slot.device_blocks.data();
  call.stream_bytes = stream_bytes;
  call.table = slot.device_blocks.data() + table_at;
  call.num_chunks = static_cast<std::uint32_t>(jobs.size());
  call.decoded_bytes = out_bytes;
  call.out = slot.device_out.data();
  call.out_bytes = out_bytes;
  call.verdicts = reinterpret_cast<ChunkVerdict*>(slot.device_verdicts.data());
  call.scratch = slot.scratch.data();
  call.verify = verify;
  call.kinds = kinds;
  GDELTA_CUDA_TRY(launch_decode(shape, call, stream));
  GDELTA_CUDA_TRY(cudaMemcpyAsync(slot.verdicts.data(), slot.device_verdicts.data(), verdict_bytes,
                                  cudaMemcpyDeviceToHost, stream));
  GDELTA_CUDA_TRY(cudaMemcpyAsync(slot.out.data(), slot.device_out.data(), out_bytes,
                                  cudaMemcpyDeviceToHost, stream));
  return {};
}

Result<void> DecodePipeline::finish(Slot& slot, std::vector<DecodeJob*>& refused,
                                    ProgressMeter& progress) {
  if (slot.jobs.empty()) return {};
  GDELTA_CUDA_TRY(cudaStreamSynchronize(slot.stream.get()));
  const auto* verdicts = reinterpret_cast<const ChunkVerdict*>(slot.verdicts.data());
  std::vector<HostCopy> copies;
  std::vector<std::uint64_t> done;  // bytes of each
  for (std::size_t i = 0; i < slot.jobs.size(); ++i) {
    DecodeJob& job = *slot.jobs[i];
    if (verdicts[i].code == static_cast<int>(Errc::ok)) {
      copies.push_back({job.out.data(), slot.out.data() + slot.out_at[i], job.out.size()});
      done.push_back(job.out.size());
    } else {
      refused.push_back(&job);
    }
  }
  slot.jobs.clear();
  run_host_copies(*arena_, copies);
  for (const std::uint64_t bytes : done) progress.add(bytes);
  if (progress.stopped()) return decompression_cancelled();
  return {};
}

void DecodePipeline::drain() {
  for (Slot& slot : slots_) {
    // The error that led here is the one to report.
    if (slot.stream.get() != nullptr) static_cast<void>(cudaStreamSynchronize(slot.stream.get()));
    slot.jobs.clear();
  }
}

Result<void> DecodePipeline::run_pieces(std::span<DecodeJob* const> jobs, const DecodeShape& shape,
                                        bool verify, const ChunkKinds& kinds,
                                        std::vector<DecodeJob*>& refused, ProgressMeter& progress) {
  std::size_t first = 0;
  for (int turn = 0; first < jobs.size(); turn = (turn + 1) % kSlots) {
    std::size_t end = first;
    std::uint64_t bytes = 0;
    do {
      bytes += jobs[end]->out.size();
      ++end;
    } while (end < jobs.size() && bytes + jobs[end]->out.size() <= piece_bytes_);
    if (auto done = finish(slots_[turn], refused, progress); !done) return done;
    if (auto begun = start(slots_[turn], shape, jobs.subspan(first, end - first), verify, kinds);
        !begun)
      return begun;
    first = end;
  }
  for (Slot& slot : slots_) {
    if (auto done = finish(slot, refused, progress); !done) return done;
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
    done = run_pieces(jobs, make_decode_shape(layout), verify, kinds, refused, progress);
  } catch (const std::bad_alloc&) {
    done = fail(Errc::out_of_memory, "memory is too short to decode a batch of chunks");
  }
  if (!done) drain();
  return done;
}

}  // namespace gdelta::cuda
