// Jobs go through a GPU in flights, each with a host thread, a stream and memory of its own: while the GPU has one, others are
// planned, copied and put together.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "codec/coders/workers.h"
#include "codec/cuda/cuda_error.h"
#include "codec/cuda/start_or_run.h"
#include "codec/cuda/within_memory.h"

namespace gdelta::cuda {

/// Enough that the bus is never idle: one is copied, one decoded or encoded, one on the host.
inline constexpr std::size_t kFlights = 4;

/// Held while a flight works on the host, if there is to be one thread for all of them.
inline std::unique_lock<std::mutex> only_thread(std::mutex& host_work, const Workers& workers) {
  std::unique_lock lock(host_work, std::defer_lock);
  if (workers.threads() == 1) lock.lock();
  return lock;
}

/// Cuts jobs into stretches of so many bytes at most, unless a single job has more. `bytes_of(job)`.
template <class Job, class BytesOf>
std::vector<std::span<Job>> cut_into_flights(std::span<Job> jobs, std::uint64_t flight_bytes,
                                             const BytesOf& bytes_of) {
  std::vector<std::span<Job>> stretches;
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::uint64_t more = bytes_of(jobs[i]);
    if (i > first && bytes + more > flight_bytes) {
      stretches.push_back(jobs.subspan(first, i - first));
      first = i;
      bytes = 0;
    }
    bytes += more;
  }
  if (first < jobs.size()) stretches.push_back(jobs.subspan(first));
  return stretches;
}

/// Calls `run(flight, stretch)` for each stretch, one after the other in each flight, and gives the first error, behind
/// which no further stretch is begun. `Flight` has a member `stream`.
/// Errors   those of `run`; device_error; out_of_memory. Nothing is in flight when it returns
template <class Flight, class Job, class Run>
Result<void> run_flights(int device, std::array<Flight, kFlights>& flights,
                         std::span<const std::span<Job>> stretches, const Run& run) {
  std::mutex mutex;
  Result<void> first_error;
  std::atomic<std::size_t> next = 0;
  const auto run_next = [&](Flight& flight, std::span<Job> stretch) -> Result<void> {
    return within_memory([&]() -> Result<void> {
      GDELTA_CUDA_TRY(cudaSetDevice(device));
      return run(flight, stretch);
    });
  };
  const auto run_all = [&](Flight& flight) {
    for (std::size_t i = next++; i < stretches.size(); i = next++) {
      Result<void> done = run_next(flight, stretches[i]);
      if (done) continue;
      next = stretches.size();
      // What it has begun ends; the error that led here is the one to report.
      if (flight.stream.get() != nullptr)
        static_cast<void>(cudaStreamSynchronize(flight.stream.get()));
      const std::lock_guard lock(mutex);
      if (first_error) first_error = std::move(done);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t f = 1; f < std::min(kFlights, stretches.size()); ++f)
    start_or_run(threads, [&run_all, &flight = flights[f]] { run_all(flight); });
  run_all(flights[0]);
  threads.clear();  // when all are done
  return first_error;
}

}  // namespace gdelta::cuda
