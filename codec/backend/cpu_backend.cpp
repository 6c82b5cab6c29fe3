// The CPU backend: the chunks of a batch side by side, and the parts of each if threads are left.
#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_decode.h"
#include "codec/plan/planner.h"

namespace gdelta {
namespace {

// Of each thread: chunks that keep all of them busy to the end, and bytes that repay a call. One chunk of the highest level has
// 16 MiB; a machine of many cores can spare so much memory and no more.
constexpr std::uint64_t kChunksPerThread = 4;
constexpr std::uint64_t kLeastBytesPerThread = 2ull << 20, kMostBytesPerThread = 16ull << 20;
constexpr std::uint64_t kMostBatchBytes = 256ull << 20;

// Shorter chunks take moments.
constexpr std::uint64_t kLongToEncode = 32 << 10, kLongToDecode = 8 << 20;

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads) : workers_(cpu_threads(threads)) {}

  std::string name() const override { return "cpu"; }

  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                      ProgressMeter& progress) override {
    std::atomic<bool> out_of_memory = false;
    workers_.for_each(jobs.size(), [&](std::size_t i) {
      EncodeJob& job = jobs[i];
      if (progress.stopped() || out_of_memory) return;
      try {
        ChunkProgress done(progress, job.values.size());
        const double share_of_plan = planning_share(settings);
        Work* const told = job.values.size() >= kLongToEncode ? &done : nullptr;
        WorkPart of_plan(told, share_of_plan), of_block(told, 1 - share_of_plan);
        const ChunkPlan plan =
            plan_chunk(job.values, *job.layout, job.opaque, settings_of(job, settings), workers_,
                       job.segments, &of_plan);
        job.block = encode_chunk(job.values, *job.layout, job.opaque, plan, workers_, job.segments,
                                 &of_block);
        done.finish();
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
      }
    });
    if (out_of_memory) return fail(Errc::out_of_memory, "memory is too short to encode a chunk");
    if (progress.stopped()) return compression_cancelled();
    return {};
  }

  Result<void> decode(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress) override {
    workers_.for_each(jobs.size(),
                      [&](std::size_t i) { decode_on_cpu(jobs[i], verify, workers_, progress); });
    if (progress.stopped()) return decompression_cancelled();
    return {};
  }

  BatchSize batch_size() const override {
    const auto threads = static_cast<std::uint64_t>(workers_.threads());
    return {.most_bytes = std::min(kMostBytesPerThread * threads, kMostBatchBytes),
            .least_bytes = kLeastBytesPerThread * threads,
            .chunks = kChunksPerThread * threads};
  }

 private:
  Workers workers_;
};

}  // namespace

tl::unexpected<Error> compression_cancelled() {
  return fail(Errc::cancelled, "compression was cancelled");
}

tl::unexpected<Error> decompression_cancelled() {
  return fail(Errc::cancelled, "decompression was cancelled");
}

void decode_on_cpu(DecodeJob& job, bool verify, Workers& workers, ProgressMeter& progress) {
  if (progress.stopped()) return;
  const ChunkToDecode chunk{
      .parsed = job.parsed, .block = job.block, .byte = job.byte, .layout = *job.layout};
  ChunkProgress done(progress, job.out.size());
  try {
    job.error = decode_chunk(chunk, job.out, verify, job.alone ? Workers::alone() : workers,
                             &job.lengths, job.out.size() >= kLongToDecode ? &done : nullptr);
  } catch (const std::bad_alloc&) {
    job.error = Error{.code = Errc::out_of_memory,
                      .message = "memory is too short to decode a chunk",
                      .chunk = {},
                      .byte = job.byte};
  }
  if (job.error) {
    job.error->chunk = job.number;
    done.take_back();
  } else {
    done.finish();
  }
}

int cpu_threads(int threads) {
  // oneTBB would complain of more on stderr.
  const int most = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, most) : most;
}

std::unique_ptr<Backend> make_cpu_backend(int threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace gdelta
