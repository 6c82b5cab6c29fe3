// Encodes chunks that the device plans, too: from host memory to host memory on one GPU, in flights.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/coders/workers.h"
#include "codec/cuda/device_memory.h"
#include "codec/cuda/flights.h"
#include "gdelta/device.h"

namespace gdelta::cuda {

/// Jobs that follow each other, and who plans them.
struct PlannedStretch {
  std::span<EncodeJob> jobs;
  bool by_device = false;
};

/// The host copies and nothing else: a flight is a call of device_encode, which writes the blocks that planning on the
/// host would lead to.
class DevicePlanPipeline {
 public:
  /// `flight_bytes`: decoded bytes of a flight, unless a single chunk is larger. `flight_memory`: bytes on the device that
  /// it may take. `workers` are for copies.
  DevicePlanPipeline(int device, std::uint64_t flight_bytes, std::uint64_t flight_memory,
                     Workers& workers)
      : device_(device),
        flight_bytes_(flight_bytes),
        flight_memory_(flight_memory),
        workers_(&workers) {}

  /// Cuts jobs by who plans them. The device does at its level, with a coder that it has, chunks of one layout that are
  /// as long as each other but for a shorter last one, if there are enough of them to be worth a call, and room.
  std::vector<PlannedStretch> cut(std::span<EncodeJob> jobs, const EncodeSettings& settings) const;

  /// Encodes jobs of a stretch that the device plans, and adds each to `progress` when its block is there.
  /// Errors   device_error, out_of_memory, cancelled; nothing is in flight when it returns
  Result<void> run(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                   ProgressMeter& progress);

 private:
  struct Flight {
    CudaStream stream;
    PinnedMemory values, places, blocks;
    DeviceMemory device_values, device_places, device_blocks, scratch;
  };

  std::size_t jobs_per_flight(std::span<const EncodeJob> jobs,
                              const EncodeSettings& settings) const;
  Result<void> copy_in(Flight& flight, std::span<const EncodeJob> jobs);
  Result<void> launch(Flight& flight, std::span<const EncodeJob> jobs,
                      const EncodeSettings& settings);
  static Result<void> fetch(Flight& flight, std::span<const EncodeJob> jobs);
  void deliver(const Flight& flight, std::span<EncodeJob> jobs, ProgressMeter& progress);
  Result<void> run_flight(Flight& flight, std::span<EncodeJob> jobs, const EncodeSettings& settings,
                          ProgressMeter& progress);

  int device_;
  std::uint64_t flight_bytes_;
  std::uint64_t flight_memory_;
  Workers* workers_;
  std::mutex host_work_;
  std::array<Flight, kFlights> flights_;
};

}  // namespace gdelta::cuda
