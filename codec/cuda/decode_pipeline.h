// Decodes chunks from host memory to host memory on one GPU, in flights.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/coders/workers.h"
#include "codec/cuda/device_layout.h"
#include "codec/cuda/device_memory.h"
#include "codec/cuda/flights.h"
#include "gdelta/chunk_kinds.h"

namespace gdelta::cuda {

class DecodePipeline {
 public:
  /// `flight_bytes`: decoded bytes of a flight, unless a single chunk is larger. `workers`: for
  /// copies between the caller's memory and pinned memory.
  DecodePipeline(int device, std::uint64_t flight_bytes, Workers& workers)
      : device_(device), flight_bytes_(flight_bytes), workers_(&workers) {}

  /// Decodes jobs all of whose columns a device decodes (decodes_on_device), all of `layout` or opaque. Jobs that the device does not
  /// find right are left for `refused`: their output is unspecified and `error` not set. The others
  /// are added to `progress`, flight by flight.
  /// Errors   device_error, out_of_memory, cancelled; nothing is in flight when it returns
  Result<void> run(std::span<DecodeJob* const> jobs, const Layout& layout, bool verify,
                   const ChunkKinds& kinds, std::vector<DecodeJob*>& refused,
                   ProgressMeter& progress);

 private:
  struct Flight {
    CudaStream stream;
    PinnedMemory blocks, out, verdicts, lengths;
    DeviceMemory device_blocks, device_out, scratch, device_verdicts;
    std::vector<std::uint64_t> out_at, lengths_at;
    std::vector<DecodeJob*> refused;
    bool outputs_are_pinned = false;  // by the caller, all of them
  };

  Result<void> start(Flight& flight, const DeviceLayout& device_layout,
                     std::span<DecodeJob* const> jobs, bool verify, const ChunkKinds& kinds);
  Result<void> copy_in(Flight& flight, std::span<DecodeJob* const> jobs,
                       std::span<const TableChunk> chunks, std::span<const std::byte> table,
                       std::uint64_t table_at, bool blocks_are_pinned);
  void finish(Flight& flight, std::span<DecodeJob* const> jobs, ProgressMeter& progress);

  int device_;
  std::uint64_t flight_bytes_;
  Workers* workers_;
  std::array<Flight, kFlights> flights_;
};

}  // namespace gdelta::cuda
