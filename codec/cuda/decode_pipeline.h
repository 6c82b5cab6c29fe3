// Decodes chunks from host memory to host memory on one GPU, in overlapped pieces: while one piece
// is decoded, the next is copied in and the one before it out.
#pragma once

#include <tbb/task_arena.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/cuda/decode_launch.h"
#include "codec/cuda/device_memory.h"

namespace gdelta::cuda {

class DecodePipeline {
 public:
  /// `piece_bytes`: decoded bytes of a piece, unless a single chunk is larger. `arena`: threads for
  /// copies between the caller's memory and pinned memory.
  DecodePipeline(int device, std::uint64_t piece_bytes, tbb::task_arena& arena)
      : device_(device), piece_bytes_(piece_bytes), arena_(&arena) {}

  /// Decodes jobs that have no zstd column, all of `layout` or opaque. Jobs that the device does not
  /// find right are left for `refused`: their output is unspecified and `error` not set. The others
  /// are added to `progress`, piece by piece.
  /// Errors   device_error, out_of_memory, cancelled; nothing is in flight when it returns
  Result<void> run(std::span<DecodeJob* const> jobs, const Layout& layout, bool verify,
                   const ChunkKinds& kinds, std::vector<DecodeJob*>& refused,
                   ProgressMeter& progress);

 private:
  static constexpr int kSlots = 3;
  struct Slot {
    CudaStream stream;
    PinnedMemory blocks, out, verdicts;
    DeviceMemory device_blocks, device_out, scratch, device_verdicts;
    std::vector<DecodeJob*> jobs;
    std::vector<std::uint64_t> out_at;
  };

  Result<void> start(Slot& slot, const DecodeShape& shape, std::span<DecodeJob* const> jobs,
                     bool verify, const ChunkKinds& kinds);
  Result<void> finish(Slot& slot, std::vector<DecodeJob*>& refused, ProgressMeter& progress);
  Result<void> run_pieces(std::span<DecodeJob* const> jobs, const DecodeShape& shape, bool verify,
                          const ChunkKinds& kinds, std::vector<DecodeJob*>& refused,
                          ProgressMeter& progress);
  void drain();

  int device_;
  std::uint64_t piece_bytes_;
  tbb::task_arena* arena_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace gdelta::cuda
