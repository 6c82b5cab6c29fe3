// Encodes chunks from host memory to host memory on one GPU, in flights.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/cuda/device_memory.h"
#include "codec/cuda/flights.h"
#include "codec/cuda/scratch_layout.h"
#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/checksum/check_parts_cuda.h"

namespace gdelta::cuda {

/// Plans one job and tells `work` of it; called from several threads at once.
using PlanFunction = std::function<ChunkPlan(const EncodeJob&, Work* work)>;

class EncodePipeline {
 public:
  /// `flight_bytes`: decoded bytes of a flight, unless a single chunk is larger. `workers` are for
  /// planning, for chunks that stay on the host, and for copies.
  EncodePipeline(int device, std::uint64_t flight_bytes, Workers& workers)
      : device_(device), flight_bytes_(flight_bytes), workers_(&workers) {}

  /// Whether the device packs a chunk: columns are packed, or not coded at all, and their maps are one to one. `is_copied`:
  /// its values are not taken from the caller's memory.
  static bool is_for_device(const EncodeJob& job, const ChunkPlan& plan, bool is_copied);

  /// Encodes all jobs: those that are for the device there, others on the host. Each is added to `progress` as it is planned, and whole when its block is there.
  /// Errors   device_error, out_of_memory, cancelled; nothing is in flight when it returns
  Result<void> run(std::span<EncodeJob> jobs, const PlanFunction& plan, ProgressMeter& progress);

 private:
  static constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

  /// A chunk that the device packs.
  struct DeviceChunk {
    EncodeJob* job;
    const ChunkPlan* plan;
    ChunkProgress* done;
    std::uint64_t values_at;           // in the flight
    std::vector<std::uint32_t> tasks;  // of each column, or kNoTask
  };

  /// Arrays of a flight that kernels read, in host and device memory at the same distances.
  struct FlightInput {
    PackTask* tasks;
    std::uint64_t* unit_starts;
  };
  /// What comes back beside the sections.
  struct FlightSummary {
    PackResult* results;
    std::uint64_t* total_bytes;
    std::uint32_t* page_ends;
    std::uint32_t* part_checks;
  };
  /// What sizes all arrays of a flight.
  struct FlightSizes {
    std::uint64_t packed_bytes = 0;  // of the columns with a task, unpacked
    std::uint64_t num_units = 0;
    std::uint64_t narrow_units = 0;
    std::uint64_t num_pages = 0;
    std::uint32_t num_tasks = 0;
    std::uint32_t narrow_tasks = 0;
  };

  struct Flight {
    CudaStream stream;
    PinnedMemory values, in, summary, sections;
    DeviceMemory device_values, device_in, device_summary, device_sections, scratch;
    std::vector<ChunkPlan> plans;
    std::deque<ChunkProgress> done;  // of each job
    std::vector<DeviceChunk> chunks;
    std::vector<PackTask> tasks;
    std::vector<std::uint64_t> task_values_at;  // of each task, in the flight
    FlightSizes sizes;
    std::uint64_t in_bytes = 0;
    std::uint64_t summary_bytes = 0;
    std::uint64_t value_bytes = 0;   // with those of chunks that stay on the host
    bool values_are_pinned = false;  // by the caller, all of them
  };

  static FlightInput input_arrays(unsigned char* base, const FlightSizes& sizes,
                                  std::uint64_t& bytes);
  static FlightSummary summary_arrays(unsigned char* base, const FlightSizes& sizes,
                                      std::uint64_t& bytes);

  Result<void> plan_flight(Flight& flight, std::span<EncodeJob> jobs, const PlanFunction& plan,
                           ProgressMeter& progress);
  void make_tasks(Flight& flight);
  static PackArgs take_scratch(ScratchLayout& layout, const FlightSizes& sizes);
  static Result<void> reserve(Flight& flight);
  static Result<void> copy_in(Flight& flight);
  Result<void> launch(Flight& flight);
  static Result<void> fetch(Flight& flight);
  void assemble(Flight& flight);
  Result<void> run_flight(Flight& flight, std::span<EncodeJob> jobs, const PlanFunction& plan,
                          ProgressMeter& progress);

  int device_;
  std::uint64_t flight_bytes_;
  Workers* workers_;
  std::mutex host_work_;
  std::array<Flight, kFlights> flights_;
};

}  // namespace gdelta::cuda
