// From a shape to a launch: which path, what geometry, where scratch lies.
#include "kernels/scan/scan_launch.cuh"

#include <algorithm>

#include "kernels/scan/ptx.cuh"
#include "kernels/scan/scan_columns_plan.h"
#include "kernels/scan/scan_resident.h"

namespace gdelta::scan {
namespace {

__global__ void clear_kernel(uint4* words, std::size_t count) {
  start_successor();
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count;
       i += gridDim.x * std::size_t{256}) {
    words[i] = make_uint4(0, 0, 0, 0);
  }
}

struct Device {
  int compute_capability = 0;
  int multiprocessors = 0;
  int shared_bytes = 0;
};

Device describe(int device) {
  Device d;
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  cudaDeviceGetAttribute(&d.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&d.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  d.compute_capability = 10 * major + minor;
  return d;
}

/// Orders that the kernel iterates, and the words of state it keeps.
struct Depth {
  int words;
  int rounds;
};

Depth depth_of(const Shape& shape, bool exact) {
  if (is_idempotent(shape.op)) return {1, 1};
  const bool linear =
      shape.op == Operator::bit_xor || (shape.op == Operator::sum && !is_float(shape.type));
  if (!linear) return {1, shape.order};
  if (exact) return {shape.order, 1};
  return {shape.order <= 2 ? shape.order : shape.order <= 4 ? 4 : 8, 1};
}

Job make_job(const Shape& shape, const void* in, void* out, const Geometry& geometry) {
  const int order = is_idempotent(shape.op) ? 1 : shape.order;
  return {in, out, shape.count, geometry, order, shape.exclusive, shape.backward};
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
std::size_t align_up(std::size_t bytes) { return (bytes + 255) & ~std::size_t{255}; }

std::size_t slot_bytes_of(const Shape& shape, int words) {
  return static_cast<std::size_t>(words) * (type_bytes(shape.type) == 8 ? 16 : 8);
}

/// A block's state takes whole cache lines of its own.
std::size_t slot_words(std::size_t words) {
  return (words + kSlotSpacing - 1) / kSlotSpacing * kSlotSpacing;
}

struct GroupLayout {
  GroupPlan plan;
  std::size_t sums_bytes = 0;
  std::size_t totals_bytes = 0;
  std::size_t bytes = 0;
};

GroupLayout group_layout(const Shape& shape) {
  GroupLayout layout{};
  const Depth depth = depth_of(shape, false);
  const int tuple = static_cast<int>(shape.tuple);
  GroupPlan& plan = layout.plan;
  const int value_bytes = type_bytes(shape.type);
  const int state_bytes = depth.words * std::max(value_bytes, 4);
  plan.run = group_run(value_bytes);
  if (shape.count * value_bytes >= kLargeGroupBytes) {
    const Geometry large = make_geometry(tuple, kGroupWarps, kLargeGroupRuns * plan.run);
    // Every device has 64 KiB; a wide state also needs its matrices there.
    const std::size_t tables = depth.words > 1 ? 145 * (state_bytes + 8) : 0;
    if (group_shared_bytes(large, state_bytes, value_bytes) + tables < 62 * 1024)
      plan.run *= kLargeGroupRuns;
  }
  plan.job = make_job(shape, nullptr, nullptr, make_geometry(tuple, kGroupWarps, plan.run));
  plan.rounds = depth.rounds;
  plan.tiles = divide_up(shape.count, plan.job.geometry.tile_values);
  plan.groups = static_cast<unsigned>(divide_up(plan.tiles, kGroupTiles));
  plan.sections = static_cast<unsigned>(divide_up(plan.groups, kGroupTiles));
  if (plan.tiles > 1) {
    const std::size_t words = slot_bytes_of(shape, depth.words) * tuple / 8;
    const std::size_t slot = group_slot_words(words) * 8 * depth.rounds;
    layout.sums_bytes = align_up(plan.tiles * slot);
    layout.totals_bytes = align_up(plan.groups * slot);
    layout.bytes = 256 + layout.sums_bytes + layout.totals_bytes + align_up(plan.sections * slot);
  }
  return layout;
}

bool is_columns(const Shape& shape) { return shape.tuple > kMaxInterleavedTuple; }

ColumnLayout column_layout(const Shape& shape) {
  const Depth depth = depth_of(shape, false);
  return column_layout(make_job(shape, nullptr, nullptr, {}), shape.tuple, type_bytes(shape.type),
                       depth.words, depth.rounds);
}

/// Blocks of a launch without the stream, and the scratch they need.
std::uint64_t group_blocks_of(const Shape& shape) {
  return is_columns(shape) ? column_layout(shape).plan.blocks : group_layout(shape).plan.tiles;
}

bool is_single(const Shape& shape) { return group_blocks_of(shape) <= 1; }

std::size_t group_bytes(const Shape& shape) {
  return is_columns(shape) ? column_layout(shape).bytes : group_layout(shape).bytes;
}

struct StreamLayout {
  StreamPlan plan;
  std::size_t sums_bytes = 0;
  std::size_t bytes = 0;
};

/// Blocks in groups: as many blocks as possible, then the shortest two levels.
void choose_groups(int multiprocessors, int& blocks, int& group_tiles) {
  blocks = 0;
  for (int group = 1; group <= kMaxGroupTiles; ++group) {
    const int groups = std::min(multiprocessors / group, kMaxGroups);
    const int candidate = groups * group;
    const bool better = candidate > blocks || (candidate == blocks &&
                                               group + groups < group_tiles + blocks / group_tiles);
    if (candidate > 0 && better) blocks = candidate, group_tiles = group;
  }
}

/// False if no tile of this shape fits in shared memory often enough.
bool stream_layout(const Shape& shape, const Device& device, int worker_warps,
                   StreamLayout& layout) {
  const int bytes = type_bytes(shape.type);
  const Depth depth = depth_of(shape, bytes >= 4);
  StreamPlan& plan = layout.plan;
  const StreamShape stream = stream_shape(bytes, depth.words);
  worker_warps = std::min(worker_warps, stream.workers);
  const int buffers = stream_buffers(stream.depth);
  const int tuple = static_cast<int>(shape.tuple);
  const std::size_t word_bytes = std::max(bytes, 4);
  const std::size_t tables =
      depth.words == 1 ? 5 : (32 + 32 + 2 * kMaxStreamUnits + 1) * (depth.words + 1);
  const std::size_t table_bytes = tables * word_bytes + 2048;  // static shared memory
  const int least = tuple > 32 ? 2 : 1;
  for (int warps = std::max(worker_warps, least); warps >= least; --warps) {
    const Geometry geometry = make_geometry(tuple, warps, stream.run);
    if (warps > least && warps > worker_warps / 2 && geometry.tile_values * bytes % 32 != 0 &&
        geometry.units > 2)
      continue;  // tiles share a sector
    const std::size_t states =
        (buffers * geometry.units + buffers + 1) * tuple * depth.words * word_bytes;
    const std::size_t slot = (geometry.tile_values * bytes + 32 + 127) & ~std::size_t{127};
    const std::size_t least_slots = stream.depth + 1;  // tiles that wait, and one on its way
    if (states + table_bytes + least_slots * slot > static_cast<std::size_t>(device.shared_bytes))
      continue;
    plan.job = make_job(shape, nullptr, nullptr, geometry);
    plan.tiles = divide_up(shape.count, geometry.tile_values);
    plan.slots = static_cast<int>(std::min<std::size_t>(
        (device.shared_bytes - states - table_bytes) / slot, kMaxStreamSlots));
    plan.slot_bytes = static_cast<int>(slot);
    plan.shared_bytes = static_cast<int>(plan.slots * slot + states);
    choose_groups(device.multiprocessors, plan.blocks, plan.group_tiles);
    const std::size_t state_bytes = slot_words(slot_bytes_of(shape, depth.words) / 8 * tuple) * 8;
    layout.sums_bytes = align_up(static_cast<std::size_t>(kRingRounds) * plan.blocks * state_bytes);
    const std::size_t rounds = divide_up(plan.tiles, plan.blocks);
    layout.bytes =
        layout.sums_bytes + align_up(rounds * (plan.blocks / plan.group_tiles) * state_bytes);
    return true;
  }
  return false;
}

/// Clears the scratch and points the levels of a plan into it.
template <class Layout>
cudaError_t place_levels(Layout& layout, std::uint64_t blocks, const Device& device, void* scratch,
                         cudaStream_t stream) {
  auto& plan = layout.plan;
  if (layout.bytes == 0) return cudaSuccess;
  plan.early_start = device.compute_capability >= 90;
  if (blocks > kOrderedTiles) plan.counter = static_cast<unsigned*>(scratch);
  plan.sums = static_cast<unsigned long long*>(scratch) + 32;
  plan.totals = plan.sums + layout.sums_bytes / 8;
  plan.prefixes = plan.totals + layout.totals_bytes / 8;
  return launch_clear(scratch, layout.bytes, stream);
}

cudaError_t launch_group_path(const Shape& shape, const Device& device, const void* in, void* out,
                              void* scratch, std::size_t bytes, cudaStream_t stream) {
  if (bytes < group_bytes(shape) || group_blocks_of(shape) > 0x7fffffff)
    return cudaErrorInvalidValue;
  const bool iterated =
      shape.op == Operator::product || (shape.op == Operator::sum && is_float(shape.type));
  const auto launch = [&](auto layout, std::uint64_t blocks, auto sum, auto bits, auto rounds) {
    layout.plan.job.in = in;
    layout.plan.job.out = out;
    const cudaError_t error = place_levels(layout, blocks, device, scratch, stream);
    if (error != cudaSuccess) return error;
    return (iterated ? rounds : shape.op == Operator::sum ? sum : bits)(shape, layout.plan, stream);
  };
  if (is_columns(shape)) {
    const ColumnLayout layout = column_layout(shape);
    return launch(layout, layout.plan.blocks, launch_columns_sum, launch_columns_bits,
                  launch_columns_rounds);
  }
  const GroupLayout layout = group_layout(shape);
  return launch(layout, layout.plan.tiles, launch_group_sum, launch_group_bits,
                launch_group_rounds);
}

cudaError_t launch_stream_path(const Shape& shape, const Device& device, int worker_warps,
                               const void* in, void* out, void* scratch, std::size_t bytes,
                               cudaStream_t stream) {
  StreamLayout layout{};
  if (!stream_layout(shape, device, worker_warps, layout) || bytes < layout.bytes)
    return cudaErrorInvalidValue;
  StreamPlan& plan = layout.plan;
  plan.job.in = in;
  plan.job.out = out;
  plan.sums = static_cast<unsigned long long*>(scratch);
  plan.totals = plan.sums + layout.sums_bytes / 8;
  const cudaError_t error = cudaMemsetAsync(scratch, 0, layout.bytes, stream);
  if (error != cudaSuccess) return error;
  if (shape.op != Operator::sum) return launch_stream_bits(shape, plan, stream);
  if (is_float(shape.type)) return launch_stream_float(shape, plan, stream);
  switch (type_bytes(shape.type)) {
    case 4:
      return launch_stream_u32(shape, plan, stream);
    case 8:
      return launch_stream_u64(shape, plan, stream);
    default:
      return launch_stream_narrow(shape, plan, stream);
  }
}

bool stream_possible(const Shape& shape, const Device& device, int& worker_warps) {
  Shape large = shape;
  large.count = std::uint64_t{1}
                << 50;  // the policy for any size: only whether the kernel exists matters here
  const Policy policy = choose_policy(large, device.compute_capability);
  if (policy.path != Path::stream) return false;
  worker_warps = policy.worker_warps;
  StreamLayout layout{};
  return stream_layout(shape, device, worker_warps, layout);
}

bool on_chip_possible(const Shape& shape, Path path, const Device& device, OnChipPlan& plan) {
  if (device.compute_capability < 90) return false;
  const Depth depth = depth_of(shape, false);
  return plan_on_chip(shape, path, depth.words, depth.rounds, device.multiprocessors,
                      device.shared_bytes, plan);
}

/// Whether values stay on the chip, and how.
bool chooses_on_chip(const Shape& shape, const Device& device, Path& path) {
  const std::uint64_t bytes = shape.count * type_bytes(shape.type);
  for (const Path candidate : {Path::cluster, Path::resident}) {
    OnChipPlan plan;
    path = candidate;
    if (!on_chip_possible(shape, path, device, plan)) continue;
    const OnChipRange range = on_chip_range(plan.direct, depth_of(shape, false).words, shape.tuple);
    if (path == Path::cluster && bytes <= range.cluster_to) return true;
    if (path == Path::resident && bytes > range.resident_from && bytes <= range.resident_to)
      return true;
  }
  return false;
}

/// The path of what does not stay on the chip.
Path chosen_off_chip(const Shape& shape, const Device& device) {
  int worker_warps = 0;
  const bool stream = choose_policy(shape, device.compute_capability).path == Path::stream;
  if (stream && stream_possible(shape, device, worker_warps)) return Path::stream;
  return is_single(shape) ? Path::single : Path::group;
}

bool overlaps(const Shape& shape, const void* in, const void* out) {
  const auto a = reinterpret_cast<std::uintptr_t>(in);
  const auto b = reinterpret_cast<std::uintptr_t>(out);
  const std::uintptr_t bytes = shape.count * type_bytes(shape.type);
  return a != b && a < b + bytes && b < a + bytes;
}

}  // namespace

cudaError_t launch_clear(void* scratch, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(uint4);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min<std::size_t>(divide_up(count, 256), 264)));
  config.blockDim = dim3(256);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, clear_kernel, static_cast<uint4*>(scratch), count);
}

bool can_take(const Shape& shape, Path path, int device) {
  if (!is_valid(shape)) return false;
  if (path == Path::single) return is_single(shape);
  int worker_warps = 0;
  if (path == Path::stream) return stream_possible(shape, describe(device), worker_warps);
  if (path == Path::cluster || path == Path::resident) {
    OnChipPlan plan;
    return on_chip_possible(shape, path, describe(device), plan);
  }
  return true;
}

Path chosen_path(const Shape& shape, int device) {
  const Device d = describe(device);
  Path path;
  return chooses_on_chip(shape, d, path) ? path : chosen_off_chip(shape, d);
}

std::size_t scratch_bytes(const Shape& shape, Path path, int device) {
  if (!is_valid(shape) || shape.count == 0) return 0;
  if (path == Path::automatic) path = chosen_path(shape, device);
  if (path == Path::single || path == Path::group) return group_bytes(shape);
  const Device d = describe(device);
  if (path != Path::stream) {
    OnChipPlan plan;
    if (!on_chip_possible(shape, path, d, plan)) return 0;
    const Depth depth = depth_of(shape, false);
    const std::size_t bytes =
        on_chip_scratch_bytes(shape, path, depth.words, depth.rounds, d.multiprocessors);
    // Unaligned buffers may need another path.
    return plan.shared ? bytes
                       : std::max(bytes, scratch_bytes(shape, chosen_off_chip(shape, d), device));
  }
  int worker_warps = 0;
  StreamLayout layout{};
  if (!stream_possible(shape, d, worker_warps) || !stream_layout(shape, d, worker_warps, layout))
    return 0;
  return layout.bytes;
}

StreamReport describe_stream(const Shape& shape, int device) {
  const Device d = describe(device);
  int worker_warps = 0;
  StreamLayout layout{};
  if (!stream_possible(shape, d, worker_warps) || !stream_layout(shape, d, worker_warps, layout))
    return {};
  const StreamPlan& plan = layout.plan;
  const int tile_values = plan.job.geometry.tile_values;
  // On average half of the other tiles of the group, and every group since the block's previous
  // tile.
  const double states =
      (plan.group_tiles - 1) / 2.0 + static_cast<double>(plan.blocks) / plan.group_tiles;
  return {plan.blocks, plan.group_tiles, tile_values, plan.slots,
          states * depth_of(shape, type_bytes(shape.type) >= 4).words * shape.tuple / tile_values};
}

cudaError_t launch_scan(const Shape& shape, Path path, const void* in, void* out, void* scratch,
                        std::size_t bytes, cudaStream_t stream) {
  if (!is_valid(shape)) return cudaErrorInvalidValue;
  if (shape.count == 0) return cudaSuccess;
  const std::uintptr_t low_bits =
      reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  if (in == nullptr || out == nullptr || low_bits % type_bytes(shape.type) != 0 ||
      overlaps(shape, in, out)) {
    return cudaErrorInvalidValue;
  }
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  if (path == Path::automatic) path = chosen_path(shape, device);
  if (!can_take(shape, path, device)) return cudaErrorInvalidValue;
  const Device d = describe(device);
  if (path == Path::cluster || path == Path::resident) {
    OnChipPlan plan;
    on_chip_possible(shape, path, d, plan);
    if (plan.shared || takes_registers(plan, in, out)) {
      if (bytes < scratch_bytes(shape, path, device)) return cudaErrorInvalidValue;
      return launch_on_chip(shape, path, plan, in, out, scratch, stream);
    }
    path = chosen_off_chip(shape, d);
  }
  if (path != Path::stream) return launch_group_path(shape, d, in, out, scratch, bytes, stream);
  int worker_warps = 0;
  stream_possible(shape, d, worker_warps);
  return launch_stream_path(shape, d, worker_warps, in, out, scratch, bytes, stream);
}

}  // namespace gdelta::scan
