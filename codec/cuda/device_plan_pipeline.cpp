#include "codec/cuda/device_plan_pipeline.h"

#include <algorithm>
#include <cstring>

#include "codec/chunk/chunk_sizes.h"
#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/host_copy.h"
#include "codec/plan/levels.h"
#include "codec/plan/stride_search.h"

namespace gdelta::cuda {
namespace {

// Fewer bytes are not worth flights of their own between others.
constexpr std::uint64_t kWorthACall = 1ull << 20;
constexpr std::uint64_t kTableAt = 16;  // behind the stream's size

bool are_plain_records(const EncodeJob& job) {
  return !job.opaque && job.segments.empty() && !job.values.empty();
}

std::uint64_t bytes_of(std::span<const EncodeJob> jobs) {
  std::uint64_t bytes = 0;
  for (const EncodeJob& job : jobs) bytes += job.values.size();
  return bytes;
}

/// Bytes to ask for so that chunks have as many records as the job, or more: long ones are whole groups.
std::uint64_t chunk_bytes_of(const EncodeJob& job) {
  const std::uint64_t bytes = job.values.size(), record_bytes = job.layout->record_bytes();
  const std::uint64_t cut = records_per_chunk(bytes, record_bytes) * record_bytes;
  return cut == bytes ? bytes : cut + format::kGroupValues * record_bytes;
}

/// How many jobs at the front are chunks that device_encode makes of their values; at least one.
std::size_t chunks_at_front(std::span<const EncodeJob> jobs) {
  const EncodeJob& first = jobs.front();
  if (!are_plain_records(first) || chunk_bytes_of(first) != first.values.size()) return 1;
  std::size_t count = 1;
  while (count < jobs.size() && are_plain_records(jobs[count]) &&
         *jobs[count].layout == *first.layout && jobs[count].rows == first.rows &&
         jobs[count].values.size() <= first.values.size()) {
    ++count;
    if (jobs[count - 1].values.size() < first.values.size()) break;
  }
  return count;
}

/// The call but for what is on the device.
DeviceEncode call_of(std::span<const EncodeJob> jobs, const EncodeSettings& settings) {
  DeviceEncode encode;
  encode.layout = *jobs.front().layout;
  encode.values_bytes = bytes_of(jobs);
  encode.chunk_bytes = chunk_bytes_of(jobs.front());
  encode.order = settings.order;
  const TriedStrides tried = strides_tried_first(settings_of(jobs.front(), settings));
  encode.stride = tried.stride;
  encode.other_stride = tried.other;
  encode.coder = settings.coder;
  encode.maps = settings.maps;
  return encode;
}

std::uint64_t places_bytes(std::span<const EncodeJob> jobs) {
  return kTableAt + chunk_table_bytes(*jobs.front().layout, jobs.size());
}

bool plans_as_device(const EncodeSettings& settings) {
  return settings.level == kDeviceLevel && !settings.plain_bytes && !settings.residuals;
}

/// Where the blocks of a flight are, one a job.
const TableChunk* table_of(const PinnedMemory& places, std::span<const EncodeJob> jobs) {
  const auto columns = static_cast<std::uint32_t>(jobs.front().layout->columns.size());
  return reinterpret_cast<const TableChunk*>(places.data() + kTableAt + table_chunks_at(columns));
}

}  // namespace

// None if the device cannot encode them.
std::size_t DevicePlanPipeline::jobs_per_flight(std::span<const EncodeJob> jobs,
                                                const EncodeSettings& settings) const {
  std::size_t count =
      std::clamp<std::size_t>(flight_bytes_ / jobs.front().values.size(), 1, jobs.size());
  for (;; count /= 2) {
    const std::span<const EncodeJob> flight = jobs.first(count);
    const DeviceEncode encode = call_of(flight, settings);
    const auto bound = device_encode_bound(encode), scratch = device_encode_scratch_bytes(encode);
    if (!bound || !scratch) return 0;
    if (encode.values_bytes + *bound + *scratch + places_bytes(flight) <= flight_memory_)
      return count;
    if (count == 1) return 0;
  }
}

std::vector<PlannedStretch> DevicePlanPipeline::cut(std::span<EncodeJob> jobs,
                                                    const EncodeSettings& settings) const {
  if (!plans_as_device(settings)) return {{jobs, false}};
  const auto is_for_device = [&](std::span<const EncodeJob> chunks) {
    return are_plain_records(chunks.front()) &&
           bytes_of(chunks.first(jobs_per_flight(chunks, settings))) >= kWorthACall;
  };
  std::vector<PlannedStretch> stretches;
  for (std::size_t first = 0; first < jobs.size();) {
    const std::span<EncodeJob> rest = jobs.subspan(first);
    const std::span<EncodeJob> chunks = rest.first(chunks_at_front(rest));
    const bool by_device = is_for_device(chunks);
    if (!by_device && !stretches.empty() && !stretches.back().by_device) {
      std::span<EncodeJob>& before = stretches.back().jobs;
      before = {before.data(), before.size() + chunks.size()};
    } else {
      stretches.push_back({chunks, by_device});
    }
    first += chunks.size();
  }
  return stretches;
}

// Values of a flight lie one behind the other. Those that the caller has pinned are copied from where they are.
Result<void> DevicePlanPipeline::copy_in(Flight& flight, std::span<const EncodeJob> jobs) {
  const bool are_pinned = std::ranges::all_of(
      jobs, [](const EncodeJob& job) { return is_pinned(job.values.data(), job.values.size()); });
  const std::uint64_t bytes = bytes_of(jobs);
  if (auto reserved = flight.values.reserve(are_pinned ? 0 : bytes); !reserved) return reserved;
  unsigned char* const to = are_pinned ? flight.device_values.data() : flight.values.data();
  std::vector<HostCopy> copies;
  std::uint64_t at = 0;
  for (const EncodeJob& job : jobs) {
    copies.push_back({to + at, job.values.data(), job.values.size()});
    at += job.values.size();
  }
  if (!are_pinned) {
    const auto alone = only_thread(host_work_, *workers_);
    run_host_copies(*workers_, copies);
    copies = {{flight.device_values.data(), flight.values.data(), bytes}};
  }
  GDELTA_CUDA_TRY(enqueue_copies(copies, cudaMemcpyHostToDevice, flight.stream.get()));
  return {};
}

Result<void> DevicePlanPipeline::launch(Flight& flight, std::span<const EncodeJob> jobs,
                                        const EncodeSettings& settings) {
  DeviceEncode encode = call_of(jobs, settings);
  const auto bound = device_encode_bound(encode), scratch = device_encode_scratch_bytes(encode);
  if (!bound) return tl::unexpected(bound.error());
  if (!scratch) return tl::unexpected(scratch.error());
  if (auto opened = flight.stream.open(); !opened) return opened;
  for (auto reserved :
       {flight.device_values.reserve(encode.values_bytes), flight.device_blocks.reserve(*bound),
        flight.scratch.reserve(*scratch), flight.device_places.reserve(places_bytes(jobs)),
        flight.places.reserve(places_bytes(jobs))}) {
    if (!reserved) return reserved;
  }
  if (auto copied = copy_in(flight, jobs); !copied) return copied;
  encode.values = flight.device_values.data();
  encode.stream = flight.device_blocks.data();
  encode.stream_room = *bound;
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(flight.device_places.data());
  encode.table = flight.device_places.data() + kTableAt;
  encode.scratch = flight.scratch.data();
  encode.scratch_bytes = *scratch;
  if (auto encoded = device_encode(encode, flight.stream.get()); !encoded) return encoded;
  GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.places.data(), flight.device_places.data(),
                                  places_bytes(jobs), cudaMemcpyDeviceToHost, flight.stream.get()));
  return {};
}

// Places are known: only what there is comes back.
Result<void> DevicePlanPipeline::fetch(Flight& flight, std::span<const EncodeJob> jobs) {
  const cudaStream_t stream = flight.stream.get();
  GDELTA_CUDA_TRY(cudaStreamSynchronize(stream));
  const TableChunk& last = table_of(flight.places, jobs)[jobs.size() - 1];
  const std::uint64_t bytes = last.block_at + last.block_bytes;
  if (auto reserved = flight.blocks.reserve(bytes); !reserved) return reserved;
  GDELTA_CUDA_TRY(cudaMemcpyAsync(flight.blocks.data(), flight.device_blocks.data(), bytes,
                                  cudaMemcpyDeviceToHost, stream));
  GDELTA_CUDA_TRY(cudaStreamSynchronize(stream));
  return {};
}

void DevicePlanPipeline::deliver(const Flight& flight, std::span<EncodeJob> jobs,
                                 ProgressMeter& progress) {
  const auto alone = only_thread(host_work_, *workers_);
  workers_->for_each(jobs.size(), [&](std::size_t i) {
    const TableChunk& chunk = table_of(flight.places, jobs)[i];
    const auto* const block =
        reinterpret_cast<const std::byte*>(flight.blocks.data()) + chunk.block_at;
    jobs[i].block.assign(block, block + chunk.block_bytes);
    progress.add(jobs[i].values.size());
  });
}

Result<void> DevicePlanPipeline::run_flight(Flight& flight, std::span<EncodeJob> jobs,
                                            const EncodeSettings& settings,
                                            ProgressMeter& progress) {
  if (progress.stopped()) return compression_cancelled();
  if (auto launched = launch(flight, jobs, settings); !launched) return launched;
  if (auto fetched = fetch(flight, jobs); !fetched) return fetched;
  deliver(flight, jobs, progress);
  if (progress.stopped()) return compression_cancelled();
  return {};
}

Result<void> DevicePlanPipeline::run(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                                     ProgressMeter& progress) {
  const std::uint64_t flight_bytes = jobs_per_flight(jobs, settings) * jobs.front().values.size();
  const auto stretches =
      cut_into_flights(jobs, flight_bytes, [](const EncodeJob& job) { return job.values.size(); });
  return run_flights<Flight, EncodeJob>(device_, flights_, stretches,
                                        [&](Flight& flight, std::span<EncodeJob> mine) {
                                          return run_flight(flight, mine, settings, progress);
                                        });
}

}  // namespace gdelta::cuda
