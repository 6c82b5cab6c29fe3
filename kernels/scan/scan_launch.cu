// Makes a launch of a shape: which path, what geometry, where scratch lies.
#include "kernels/scan/scan_launch.cuh"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/scan/columns/scan_columns_plan.h"
#include "kernels/scan/on_chip/scan_resident.h"
#include "kernels/scan/stream/scan_stream_plan.h"

namespace gdelta::scan {
namespace {

__global__ void clear_kernel(uint4* words, std::size_t count) {
  device::start_successor();
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count;
       i += gridDim.x * std::size_t{256}) {
    words[i] = make_uint4(0, 0, 0, 0);
  }
}

struct Device {
  std::int16_t compute_capability = 0;  ///< of the code that runs on it, at most its own
  std::int16_t multiprocessors = 0;
  std::int32_t shared_bytes = 0;
};

cudaError_t ask_driver(int device, Device& described) {
  int major = 0, minor = 0, multiprocessors = 0, shared_bytes = 0;
  const std::pair<cudaDeviceAttr, int*> asked[] = {
      {cudaDevAttrComputeCapabilityMajor, &major},
      {cudaDevAttrComputeCapabilityMinor, &minor},
      {cudaDevAttrMultiProcessorCount, &multiprocessors},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &shared_bytes}};
  for (const auto& [attribute, value] : asked) {
    if (const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device)) return error;
  }
  // If the driver compiles the PTX of an older device, code for clusters, barriers and early
  // starts is not in it.
  cudaFuncAttributes code{};
  if (const cudaError_t error = cudaFuncGetAttributes(&code, clear_kernel)) return error;
  described = {static_cast<std::int16_t>(std::min(10 * major + minor, code.ptxVersion)),
               static_cast<std::int16_t>(multiprocessors), shared_bytes};
  return cudaSuccess;
}

/// Everything is zero for a device that the driver does not describe.
Device describe(int device) {
  static device::KeptByDevice<Device> kept;
  Device described;
  return kept.get(device, described, ask_driver) == cudaSuccess ? described : Device{};
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
  return {.in = in,
          .out = out,
          .count = shape.count,
          .geometry = geometry,
          .order = order,
          .exclusive = shape.exclusive,
          .backward = shape.backward};
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
std::size_t align_up(std::size_t bytes) { return (bytes + 255) & ~std::size_t{255}; }

std::size_t slot_bytes_of(const Shape& shape, int words) {
  return static_cast<std::size_t>(words) * (type_bytes(shape.type) == 8 ? 16 : 8);
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
  plan.chapters = static_cast<unsigned>(divide_up(plan.groups, kGroupTiles));
  if (plan.tiles > 1) {
    const std::size_t words = slot_bytes_of(shape, depth.words) * tuple / 8;
    const std::size_t slot = group_slot_words(words) * 8 * depth.rounds;
    layout.sums_bytes = align_up(plan.tiles * slot);
    layout.totals_bytes = align_up(plan.groups * slot);
    layout.bytes = 256 + layout.sums_bytes + layout.totals_bytes + align_up(plan.chapters * slot);
  }
  return layout;
}

bool is_columns(const Shape& shape) { return shape.tuple > kMaxInterleavedTuple; }

ColumnLayout column_layout(const Shape& shape) {
  const Depth depth = depth_of(shape, false);
  return column_layout(make_job(shape, nullptr, nullptr, {}), shape.tuple, type_bytes(shape.type),
                       depth.words, depth.rounds);
}

/// Gives false if no tile of this shape fits in shared memory often enough.
bool stream_layout(const Shape& shape, const Device& device, int worker_warps,
                   StreamLayout& layout) {
  const int bytes = type_bytes(shape.type);
  const StreamNeeds needs{.value_bytes = bytes,
                          .words = depth_of(shape, bytes >= 4).words,
                          .tuple = static_cast<int>(shape.tuple),
                          .worker_warps = worker_warps,
                          .multiprocessors = device.multiprocessors,
                          .shared_bytes = device.shared_bytes,
                          .segments = false};
  return plan_stream(needs, make_job(shape, nullptr, nullptr, {}), layout);
}

std::uint64_t blocks_of(const GroupLayout& layout) { return layout.plan.tiles; }
std::uint64_t blocks_of(const ColumnLayout& layout) { return layout.plan.blocks; }

/// Clears the scratch and points the levels of a plan into it.
template <class Layout>
cudaError_t place_scratch(Layout& layout, const Device& device, void* scratch,
                          cudaStream_t stream) {
  auto& plan = layout.plan;
  if (blocks_of(layout) > 0x7fffffff) return cudaErrorInvalidValue;
  if (layout.bytes == 0) return cudaSuccess;
  plan.early_start = device.compute_capability >= 90;
  if (blocks_of(layout) > kOrderedTiles) plan.counter = static_cast<unsigned*>(scratch);
  plan.sums = static_cast<unsigned long long*>(scratch) + 32;
  plan.totals = plan.sums + layout.sums_bytes / 8;
  plan.prefixes = plan.totals + layout.totals_bytes / 8;
  return launch_clear(scratch, layout.bytes, stream);
}

cudaError_t place_scratch(StreamLayout& layout, const Device&, void* scratch, cudaStream_t stream) {
  layout.plan.sums = static_cast<unsigned long long*>(scratch);
  layout.plan.totals = layout.plan.sums + layout.sums_bytes / 8;
  return cudaMemsetAsync(scratch, 0, layout.bytes, stream);
}

bool is_iterated(const Shape& shape) {
  return shape.op == Operator::product || (shape.op == Operator::sum && is_float(shape.type));
}

cudaError_t launch_kernel(const Shape& shape, const GroupPlan& plan, cudaStream_t stream) {
  if (is_iterated(shape)) return launch_group_rounds(shape, plan, stream);
  return shape.op == Operator::sum ? launch_group_sum(shape, plan, stream)
                                   : launch_group_bits(shape, plan, stream);
}

cudaError_t launch_kernel(const Shape& shape, const ColumnPlan& plan, cudaStream_t stream) {
  if (is_iterated(shape)) return launch_columns_rounds(shape, plan, stream);
  return shape.op == Operator::sum ? launch_columns_sum(shape, plan, stream)
                                   : launch_columns_bits(shape, plan, stream);
}

cudaError_t launch_kernel(const Shape& shape, const StreamPlan& plan, cudaStream_t stream) {
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

/// A scan on a device, all but its buffers.
struct ScanPlan {
  Path path;                          ///< not automatic
  std::optional<OnChipPlan> on_chip;  ///< of the paths cluster and resident
  /// Of the other paths, and of those two for buffers that are not aligned for `on_chip`.
  std::optional<std::variant<GroupLayout, ColumnLayout, StreamLayout>> off_chip;
  std::size_t bytes;  ///< of scratch
};

/// Group, or single if one block is enough.
ScanPlan group_plan(const Shape& shape) {
  const auto plan = [](const auto& layout) -> ScanPlan {
    return {.path = blocks_of(layout) <= 1 ? Path::single : Path::group,
            .on_chip = {},
            .off_chip = layout,
            .bytes = layout.bytes};
  };
  return is_columns(shape) ? plan(column_layout(shape)) : plan(group_layout(shape));
}

std::optional<ScanPlan> stream_plan(const Shape& shape, const Device& device,
                                    std::span<const Policy> policies) {
  if (device.compute_capability < 90 || !has_stream_kernel(shape)) return {};
  const Policy policy = choose_policy(shape, device.compute_capability, policies);
  const int workers = policy.path == Path::stream ? policy.worker_warps : kMaxStreamUnits;
  StreamLayout layout{};
  if (!stream_layout(shape, device, workers, layout)) return {};
  return ScanPlan{.path = Path::stream, .on_chip = {}, .off_chip = layout, .bytes = layout.bytes};
}

/// Plans for values that do not stay on the chip.
ScanPlan off_chip_plan(const Shape& shape, const Device& device, std::span<const Policy> policies) {
  if (choose_policy(shape, device.compute_capability, policies).path == Path::stream) {
    if (const auto plan = stream_plan(shape, device, policies)) return *plan;
  }
  return group_plan(shape);
}

std::optional<ScanPlan> on_chip_plan(const Shape& shape, Path path, const Device& device,
                                     std::span<const Policy> policies) {
  if (device.compute_capability < 90) return {};
  const Depth depth = depth_of(shape, false);
  const int processors = device.multiprocessors;
  std::optional<ScanPlan> plan;
  OnChipPlan& on_chip = plan.emplace().on_chip.emplace();
  if (!plan_on_chip(shape, path, depth.words, depth.rounds, processors, device.shared_bytes,
                    on_chip))
    return {};
  plan->path = path;
  plan->bytes = on_chip_scratch_bytes(shape, path, depth.words, depth.rounds, processors);
  if (!on_chip.shared) {
    const ScanPlan other = off_chip_plan(shape, device, policies);
    plan->off_chip = other.off_chip;
    plan->bytes = std::max(plan->bytes, other.bytes);
  }
  return plan;
}

std::optional<ScanPlan> automatic_plan(const Shape& shape, const Device& device,
                                       std::span<const Policy> policies) {
  const std::uint64_t bytes = shape.count * type_bytes(shape.type);
  for (const Path path : {Path::cluster, Path::resident}) {
    auto plan = on_chip_plan(shape, path, device, policies);
    if (!plan) continue;
    const OnChipRange range = on_chip_range(plan->on_chip->direct, type_bytes(shape.type),
                                            depth_of(shape, false).words, shape.tuple);
    if (path == Path::cluster ? bytes <= range.cluster_to
                              : bytes > range.cluster_to && bytes <= range.resident_to)
      return plan;
  }
  return off_chip_plan(shape, device, policies);
}

/// Gives nothing if this shape cannot take the path on this device.
std::optional<ScanPlan> plan_scan(const Shape& shape, Path path, const Device& device,
                                  std::span<const Policy> policies) {
  if (!is_valid(shape)) return {};
  switch (path) {
    case Path::automatic:
      return automatic_plan(shape, device, policies);
    case Path::stream:
      return stream_plan(shape, device, policies);
    case Path::cluster:
    case Path::resident:
      return on_chip_plan(shape, path, device, policies);
    case Path::single:
    case Path::group: {
      const ScanPlan plan = group_plan(shape);
      if (path == Path::single && plan.path != Path::single) return {};
      return plan;
    }
  }
  return {};
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
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(divide_up(count, 256), 264));
  return device::launch_kernel(clear_kernel, blocks, 256, stream, static_cast<uint4*>(scratch),
                               count);
}

bool can_take(const Shape& shape, Path path, int device, std::span<const Policy> policies) {
  return plan_scan(shape, path, describe(device), policies).has_value();
}

Path chosen_path(const Shape& shape, int device, std::span<const Policy> policies) {
  return automatic_plan(shape, describe(device), policies)->path;
}

std::size_t scratch_bytes(const Shape& shape, Path path, int device,
                          std::span<const Policy> policies) {
  if (shape.count == 0) return 0;
  const auto plan = plan_scan(shape, path, describe(device), policies);
  return plan ? plan->bytes : 0;
}

StreamReport describe_stream(const Shape& shape, int device, std::span<const Policy> policies) {
  const auto stream = stream_plan(shape, describe(device), policies);
  if (!stream) return {};
  const StreamPlan& plan = std::get<StreamLayout>(*stream->off_chip).plan;
  const int tile_values = plan.job.geometry.tile_values;
  // On average half of the other tiles of the group, and every group since the block's previous
  // tile.
  const double states =
      (plan.group_tiles - 1) / 2.0 + static_cast<double>(plan.blocks) / plan.group_tiles;
  return {.blocks = plan.blocks,
          .group_tiles = plan.group_tiles,
          .tile_values = tile_values,
          .slots = plan.slots,
          .carry_words_per_value = states * depth_of(shape, type_bytes(shape.type) >= 4).words *
                                   shape.tuple / tile_values};
}

cudaError_t launch_scan(const Shape& shape, Path path, const void* in, void* out, void* scratch,
                        std::size_t bytes, cudaStream_t stream, std::span<const Policy> policies) {
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
  const Device described = describe(device);
  auto plan = plan_scan(shape, path, described, policies);
  if (!plan || bytes < plan->bytes) return cudaErrorInvalidValue;
  if (plan->on_chip && (plan->on_chip->shared || takes_registers(*plan->on_chip, in, out)))
    return launch_on_chip(shape, plan->path, *plan->on_chip, in, out, scratch, stream);
  return std::visit(
      [&](auto& layout) {
        layout.plan.job.in = in;
        layout.plan.job.out = out;
        const cudaError_t placed = place_scratch(layout, described, scratch, stream);
        return placed == cudaSuccess ? launch_kernel(shape, layout.plan, stream) : placed;
      },
      *plan->off_chip);
}

}  // namespace gdelta::scan
