// The CUDA backend: batches of chunks spread over GPUs, one host thread each; what GPUs do not do
// (zstd) on the CPU's threads meanwhile.
#include <algorithm>
#include <deque>
#include <thread>

#include "codec/backend/backend.h"
#include "codec/coders/workers.h"
#include "codec/cuda/column_kinds.h"
#include "codec/cuda/decode_pipeline.h"
#include "codec/cuda/device_plan_pipeline.h"
#include "codec/cuda/encode_pipeline.h"
#include "codec/cuda/start_or_run.h"
#include "codec/cuda/within_memory.h"
#include "codec/plan/planner.h"

namespace gdelta {
namespace {

using cuda::DecodePipeline;
using cuda::DevicePlanPipeline;
using cuda::EncodePipeline;

// A flight keeps a GPU busy for longer than its launches take, and four of them fit any GPU.
constexpr std::uint64_t kFlightBytes = 16ull << 20;
constexpr std::uint64_t kSmallestFlight = 4ull << 20;
constexpr std::uint64_t kBatchBytesPerDevice = 256ull << 20;
// Between batches a GPU waits.
constexpr std::uint64_t kMostDecodedBytesPerDevice = 4ull << 30;
// Four flights are there at once: decoded, compressed (at worst twice as long), and scratch.
constexpr std::uint64_t kFlightsOfMemory = 16;
// Where the device plans, a flight is the values, a stream of them, and what planning, mapping and ans leave from kernel to kernel.
constexpr std::uint64_t kPlanningFlightsOfMemory = 8;

std::uint64_t flight_bytes_of(std::uint64_t free_bytes) {
  return std::min(kFlightBytes, free_bytes / kFlightsOfMemory);
}

/// Chunks that go through the device together.
struct LayoutJobs {
  const Layout* layout = nullptr;
  ChunkKinds kinds = kNoChunkKinds;
  std::vector<DecodeJob*> jobs;
};

struct DecodePlan {
  std::vector<LayoutJobs> by_layout;
  std::vector<DecodeJob*> host;  // zstd
};

/// What the device has to be launched for; false if the chunk is for the CPU.
bool note_chunk(const DecodeJob& job, ChunkKinds& kinds) {
  const format::ParsedChunk& parsed = job.parsed;
  ChunkKinds needed = kinds;
  needed.opaque |= parsed.opaque();
  if (parsed.segments.lengths > 0) {
    needed.segments = true;
    if (!cuda::add_column(needed, parsed.lengths, format::kLengthColumn)) return false;
    const auto looks_up = [](const format::ColumnHead& head) { return head.table_entries > 0; };
    if (looks_up(parsed.lengths) || std::ranges::any_of(parsed.columns, looks_up)) return false;
  }
  for (std::size_t c = 0; c < parsed.columns.size(); ++c)
    if (!cuda::add_column(needed, parsed.columns[c], job.layout->columns[c])) return false;
  kinds = needed;
  return true;
}

DecodePlan plan_decode(std::span<DecodeJob> jobs) {
  DecodePlan plan;
  const auto jobs_of = [&](const Layout& layout) -> LayoutJobs& {
    for (LayoutJobs& of_layout : plan.by_layout) {
      if (*of_layout.layout == layout) return of_layout;
    }
    plan.by_layout.push_back({&layout, kNoChunkKinds, {}});
    return plan.by_layout.back();
  };
  std::vector<DecodeJob*> opaque;
  for (DecodeJob& job : jobs) {
    if (job.parsed.opaque()) {
      opaque.push_back(&job);
    } else {
      LayoutJobs& of_layout = jobs_of(*job.layout);
      (note_chunk(job, of_layout.kinds) ? of_layout.jobs : plan.host).push_back(&job);
    }
  }
  // Opaque chunks have a slot in every layout.
  for (DecodeJob* job : opaque) {
    LayoutJobs& of_layout =
        plan.by_layout.empty() ? jobs_of(byte_layout()) : plan.by_layout.front();
    (note_chunk(*job, of_layout.kinds) ? of_layout.jobs : plan.host).push_back(job);
  }
  return plan;
}

class CudaBackend final : public Backend {
 public:
  /// `free_bytes`: of memory on each device.
  CudaBackend(std::vector<int> devices, std::uint64_t free_bytes, int threads)
      : devices_(std::move(devices)), workers_(cpu_threads(threads)) {
    const std::uint64_t flight_bytes = flight_bytes_of(free_bytes);
    for (const int device : devices_) {
      decoders_.emplace_back(device, flight_bytes, workers_);
      encoders_.emplace_back(device, flight_bytes, workers_);
      planning_encoders_.emplace_back(device, flight_bytes, free_bytes / kPlanningFlightsOfMemory,
                                      workers_);
    }
  }

  std::string name() const override {
    std::string name = "cuda:";
    for (std::size_t i = 0; i < devices_.size(); ++i)
      name += (i == 0 ? "" : ",") + std::to_string(devices_[i]);
    return name;
  }

  BatchSize batch_size() const override {
    const std::uint64_t bytes = kBatchBytesPerDevice * devices_.size();
    return {.most_bytes = bytes,
            .least_bytes = bytes,
            .most_decoded_bytes = kMostDecodedBytesPerDevice * devices_.size()};
  }

  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                      ProgressMeter& progress) override {
    return cuda::within_memory([&] { return encode_jobs(jobs, settings, progress); });
  }

  Result<void> decode(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress) override {
    return cuda::within_memory([&] { return decode_jobs(jobs, verify, progress); });
  }

 private:
  Result<void> encode_on(std::size_t d, std::span<EncodeJob> jobs, const EncodeSettings& settings,
                         ProgressMeter& progress) {
    const auto plan = [&](const EncodeJob& job, Work* work) {
      return plan_chunk(job.values, *job.layout, job.opaque, settings_of(job, settings), workers_,
                        job.segments, work);
    };
    for (const auto& [stretch, by_device] : planning_encoders_[d].cut(jobs, settings)) {
      Result<void> done = by_device ? planning_encoders_[d].run(stretch, settings, progress)
                                    : encoders_[d].run(stretch, plan, progress);
      if (!done) return done;
    }
    return {};
  }

  Result<void> encode_jobs(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                           ProgressMeter& progress) {
    const std::size_t num_devices = devices_.size();
    std::vector<Result<void>> results(num_devices);
    std::vector<std::jthread> threads;
    for (std::size_t d = 0; d < num_devices; ++d) {
      const std::size_t begin = jobs.size() * d / num_devices;
      const std::size_t end = jobs.size() * (d + 1) / num_devices;
      cuda::start_or_run(threads, [&, d, mine = jobs.subspan(begin, end - begin)] {
        results[d] = cuda::within_memory([&] { return encode_on(d, mine, settings, progress); });
      });
    }
    threads.clear();  // when all are done
    for (const Result<void>& result : results) {
      if (!result) return result;
    }
    return {};
  }

  Result<void> decode_jobs(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress) {
    const DecodePlan plan = plan_decode(jobs);
    const std::size_t num_devices = devices_.size();
    std::vector<Result<void>> results(num_devices);
    std::vector<std::vector<DecodeJob*>> refused(num_devices);
    const auto run_device = [&](std::size_t d) {
      for (const LayoutJobs& of_layout : plan.by_layout) {
        // Neighbours stay together: a device takes one stretch of the batch.
        const std::size_t begin = of_layout.jobs.size() * d / num_devices;
        const std::size_t end = of_layout.jobs.size() * (d + 1) / num_devices;
        const std::span<DecodeJob* const> mine(of_layout.jobs.data() + begin, end - begin);
        results[d] = cuda::within_memory([&] {
          return decoders_[d].run(mine, *of_layout.layout, verify, of_layout.kinds, refused[d],
                                  progress);
        });
        if (!results[d]) return;
      }
    };
    std::vector<std::jthread> threads;
    for (std::size_t d = 0; d < num_devices; ++d)
      cuda::start_or_run(threads, [&, d] { run_device(d); });
    workers_.for_each(plan.host.size(), [&](std::size_t i) {
      decode_on_cpu(*plan.host[i], verify, workers_, progress);
    });
    threads.clear();  // when all are done
    for (const Result<void>& result : results) {
      if (!result) return result;
    }
    // A chunk that the device refuses is decoded again by the CPU, which finds the words for what
    // is wrong with it, or shows that the device was.
    for (const auto& jobs_of_device : refused) {
      for (DecodeJob* job : jobs_of_device) decode_on_cpu(*job, verify, workers_, progress);
    }
    if (progress.stopped()) return decompression_cancelled();
    return {};
  }

  std::vector<int> devices_;
  Workers workers_;
  std::vector<DecodePipeline> decoders_;
  std::deque<EncodePipeline> encoders_;  // which cannot be moved
  std::deque<DevicePlanPipeline> planning_encoders_;
};

}  // namespace

std::vector<DeviceInfo> list_cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<DeviceInfo> devices;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    devices.push_back({"cuda:" + std::to_string(device), properties.name,
                       static_cast<std::uint64_t>(properties.totalGlobalMem)});
  }
  return devices;
}

Result<std::unique_ptr<Backend>> make_cuda_backend(const std::vector<int>& devices, int threads) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
    return fail(Errc::unsupported_backend, "this machine has no CUDA device that can be used");
  std::uint64_t least_free = ~std::uint64_t{0};
  for (const int device : devices) {
    if (device < 0 || device >= count)
      return fail(Errc::unsupported_backend,
                  "this machine has no CUDA device number " + std::to_string(device));
    std::size_t free_bytes = 0, all_bytes = 0;
    if (cudaSetDevice(device) != cudaSuccess ||
        cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess)
      return fail(Errc::unsupported_backend,
                  "the CUDA device number " + std::to_string(device) + " cannot be opened");
    least_free = std::min<std::uint64_t>(least_free, free_bytes);
  }
  if (flight_bytes_of(least_free) < kSmallestFlight)
    return fail(Errc::unsupported_backend, "the CUDA device has too little free memory");
  return std::make_unique<CudaBackend>(devices, least_free, threads);
}

}  // namespace gdelta
