// Plans of scans that stay on the chip, and the kernel that clears their scratch.
#include "kernels/scan/on_chip/scan_resident.h"

#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::scan {
namespace {

/// Everything before is done once this kernel lets its successor start.
__global__ void resident_clear_kernel(uint4* words, int count) {
  device::wait_for_predecessor();
  device::start_successor();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) words[i] = make_uint4(0, 0, 0, 0);
}

cudaError_t launch_resident_clear(void* scratch, std::size_t bytes, cudaStream_t stream) {
  const int count = static_cast<int>(bytes / sizeof(uint4));
  const int threads = std::min((count + 31) / 32 * 32, 1024);
  return device::launch_together(resident_clear_kernel, (count + threads - 1) / threads, threads, 0,
                                 false, stream, static_cast<uint4*>(scratch), count);
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

/// An odd number of banks, so that the runs of a lane are free of bank conflicts.
int round_run(std::uint64_t run, int value_bytes) {
  const std::uint64_t per_bank = value_bytes < 4 ? 4 / value_bytes : 1;
  return static_cast<int>((divide_up(run, per_bank) | 1) * per_bank);
}

/// A state in scratch takes whole sectors.
int slot_words_of(const Shape& shape, int words) {
  const int halves = type_bytes(shape.type) == 8 ? 2 : 1;
  return (static_cast<int>(shape.tuple) * words * halves + 3) / 4 * 4;
}

/// A cluster has its full size even if some of its blocks find nothing to do.
std::uint64_t most_blocks(Path path, bool single, int multiprocessors) {
  if (path == Path::resident) return std::min(multiprocessors, kMostResidentBlocks);
  return single ? 1 : kClusterBlocks;
}

bool fits_registers(const Shape& shape, int words, int rounds) {
  return shape.tuple == 1 && words == 1 && rounds == 1 && !shape.backward;
}

bool plan_direct(const Shape& shape, Path path, int multiprocessors, DirectPlan& plan) {
  const std::uint64_t bytes = shape.count * type_bytes(shape.type);
  plan = {};
  plan.count = static_cast<int>(shape.count);
  plan.exclusive = shape.exclusive;
  ResidentExchange& exchange = plan.exchange;
  for (const int vectors :
       {kDirectVectors, kMoreDirectVectors, kMoreDirectVectors + kParkedVectors}) {
    if (vectors > kDirectVectors && !can_park(type_bytes(shape.type))) break;
    plan.vectors = vectors;
    const std::uint64_t units = divide_up(bytes, 512 * vectors);
    const std::uint64_t blocks = most_blocks(path, units <= kSingleDirectWarps, multiprocessors);
    const std::uint64_t least = path == Path::resident ? kLeastResidentWarps : 1;
    const std::uint64_t warps = std::max(divide_up(units, blocks), least);
    if (warps > 32) continue;
    exchange.warps = static_cast<int>(warps);
    exchange.blocks = static_cast<int>(path == Path::resident ? divide_up(units, warps) : blocks);
    exchange.slot_words = slot_words_of(shape, 1);
    return true;
  }
  return false;
}

bool plan_shared(const Shape& shape, Path path, int words, int rounds, int multiprocessors,
                 int shared_limit, ResidentPlan& plan) {
  const int value_bytes = type_bytes(shape.type);
  const int word_bytes = std::max(value_bytes, 4);
  const int tuple = static_cast<int>(shape.tuple);
  const std::uint64_t bytes = shape.count * value_bytes;
  const std::uint64_t blocks = most_blocks(path, bytes <= kSingleSharedBytes, multiprocessors);
  const int warps =
      path == Path::cluster && bytes <= kFewWarpsBytes ? kResidentWarps / 2 : kResidentWarps;
  const Geometry unit = make_geometry(tuple, warps, 1);
  const std::uint64_t rows = divide_up(shape.count, blocks * unit.tile_values);
  if (rows > 1u << 18) return false;
  plan = {};
  plan.run = round_run(rows, value_bytes);
  plan.rounds = rounds;
  Geometry geometry = make_geometry(tuple, warps, plan.run);
  ResidentExchange& exchange = plan.exchange;
  exchange.blocks = static_cast<int>(
      path == Path::resident ? divide_up(shape.count, geometry.tile_values) : blocks);
  exchange.warps = geometry.units * geometry.unit_warps;
  exchange.slot_words = slot_words_of(shape, words);
  geometry.tile_values = geometry.unit_values;
  const int order = is_idempotent(shape.op) ? 1 : shape.order;
  plan.job = {.in = nullptr,
              .out = nullptr,
              .count = shape.count,
              .geometry = geometry,
              .order = order,
              .exclusive = shape.exclusive,
              .backward = shape.backward};
  plan.slice_bytes = (geometry.unit_values * value_bytes + 15 + 15) / 16 * 16;
  const int totals = exchange.blocks == 1     ? 0
                     : path == Path::resident ? (exchange.blocks + 31) / 32
                                              : exchange.blocks * (rounds > 1 ? 2 : 1);
  const std::uint64_t shared =
      static_cast<std::uint64_t>(geometry.units) * plan.slice_bytes +
      static_cast<std::uint64_t>(geometry.units + totals) * tuple * words * word_bytes;
  const int table_bytes = words == 1 ? 64 : kResidentTableRows * (words + 1) * word_bytes;
  if (shared + table_bytes > static_cast<std::uint64_t>(shared_limit)) return false;
  plan.shared_bytes = static_cast<int>(shared);
  return true;
}

}  // namespace

bool plan_on_chip(const Shape& shape, Path path, int words, int rounds, int multiprocessors,
                  int shared_bytes, OnChipPlan& plan) {
  if (shape.tuple > kMaxInterleavedTuple || shape.count > 1u << 30) return false;
  plan.direct = fits_registers(shape, words, rounds) &&
                plan_direct(shape, path, multiprocessors, plan.in_registers);
  plan.shared =
      plan_shared(shape, path, words, rounds, multiprocessors, shared_bytes, plan.in_shared);
  return plan.direct || plan.shared;
}

bool takes_registers(const OnChipPlan& plan, const void* in, const void* out) {
  const auto low_bits =
      reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  return plan.direct && low_bits % 16 == 0;
}

std::size_t on_chip_scratch_bytes(const Shape& shape, Path path, int words, int rounds,
                                  int multiprocessors) {
  if (path != Path::resident) return 0;
  const std::size_t bytes =
      static_cast<std::size_t>(rounds) * multiprocessors * slot_words_of(shape, words) * 8;
  return (bytes + 255) / 256 * 256;
}

cudaError_t launch_on_chip(const Shape& shape, Path path, OnChipPlan& plan, const void* in,
                           void* out, void* scratch, cudaStream_t stream) {
  plan.direct = takes_registers(plan, in, out);
  if (!plan.direct && !plan.shared) return cudaErrorInvalidValue;
  plan.in_registers.in = plan.in_shared.job.in = in;
  plan.in_registers.out = plan.in_shared.job.out = out;
  ResidentExchange& exchange = plan.direct ? plan.in_registers.exchange : plan.in_shared.exchange;
  if (path == Path::resident && exchange.blocks > 1) {
    exchange.sums = static_cast<unsigned long long*>(scratch);
    const std::size_t rounds = plan.direct ? 1 : plan.in_shared.rounds;
    const cudaError_t error =
        launch_resident_clear(scratch, rounds * exchange.blocks * exchange.slot_words * 8, stream);
    if (error != cudaSuccess) return error;
  }
  if (shape.op == Operator::product || (shape.op == Operator::sum && is_float(shape.type))) {
    return launch_on_chip_rounds(shape, plan, stream);
  }
  return shape.op == Operator::sum ? launch_on_chip_sum(shape, plan, stream)
                                   : launch_on_chip_bits(shape, plan, stream);
}

}  // namespace gdelta::scan
