// Plans of scans whose input stays on the chip: in registers (scan_direct.cuh) or in shared memory
// (scan_resident.cuh).
#pragma once

#include "kernels/scan/scan_launch.cuh"

namespace gdelta::scan {

/// How blocks exchange their totals: not at all if there is one, inside one cluster if `sums`
/// is null, else as words in scratch.
struct ResidentExchange {
  int blocks;
  int warps;       ///< a block has
  int slot_words;  ///< a block's total takes in scratch
  unsigned long long* sums;

  __host__ __device__ bool clustered() const { return blocks > 1 && sums == nullptr; }
  __host__ __device__ bool worded() const { return sums != nullptr; }
};

/// Order 1 of contiguous values in aligned buffers, forwards.
struct DirectPlan {
  ResidentExchange exchange;
  const void* in;
  void* out;
  int count;
  int vectors;  ///< granules of 16 bytes that a thread keeps
  bool exclusive;
};

/// Anything else.
struct ResidentPlan {
  ResidentExchange exchange;
  Job job;           ///< its geometry.tile_values is the length of a unit's slice
  int run;           ///< values of a thread
  int rounds;        ///< orders beyond what the state holds: the share is scanned again and again
  int slice_bytes;   ///< shared memory of a unit
  int shared_bytes;  ///< a block takes
};

/// One of the two. Some sizes only the first can hold.
struct OnChipPlan {
  bool direct;
  bool shared;
  DirectPlan in_registers;
  ResidentPlan in_shared;
};

/// Matrices that the shared-memory kernel keeps: ahead and back over runs, units and blocks.
constexpr int kResidentTableRows = 2 * (32 + kResidentWarps + 32);

/// Whether the values fit on the chip, in one cluster or in a block a multiprocessor, and the plans
/// of both kernels. `words` and `rounds`: of the state.
bool plan_on_chip(const Shape& shape, Path path, int words, int rounds, int multiprocessors,
                  int shared_bytes, OnChipPlan& plan);

/// Whether these buffers are aligned for the values to stay in registers.
bool takes_registers(const OnChipPlan& plan, const void* in, const void* out);

/// Bytes of scratch that the words of any plan of this shape take on this device.
std::size_t on_chip_scratch_bytes(const Shape& shape, Path path, int words, int rounds,
                                  int multiprocessors);

/// Takes the kernel that these buffers allow, clears its scratch and launches.
cudaError_t launch_on_chip(const Shape& shape, Path path, OnChipPlan& plan, const void* in,
                           void* out, void* scratch, cudaStream_t stream);

// One per translation unit.
cudaError_t launch_on_chip_sum(const Shape&, const OnChipPlan&, cudaStream_t);
cudaError_t launch_on_chip_bits(const Shape&, const OnChipPlan&, cudaStream_t);
cudaError_t launch_on_chip_rounds(const Shape&, const OnChipPlan&, cudaStream_t);

}  // namespace gdelta::scan
