#include "gdelta/device_access.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/linear/linear_in_place.cuh"
#include "kernels/linear/linear_taps.cuh"
#include "kernels/linear/linear_tile.cuh"
#include "kernels/linear/linear_undo_cuda.h"
#include "kernels/pages/page_limits.h"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kMostLanes = 10;  // of a tuple that is walked along in shared memory, a warp each
constexpr int kMostThreads = 32 * kMostLanes;
/// Two blocks of so many threads leave 96 registers a thread, room for 32 taps and sums of four bytes.
constexpr int blocks_with_registers(int value_bytes) { return value_bytes <= 2 ? 2 : 1; }
constexpr std::uint32_t kMostRows = 4096;    // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMostGroups = 8192;  // blocks in all

/// What is known of the lanes of a column before its runs are looked at.
struct LinearPlan {
  LinearHead head;
  int depths;
  bool has_places;  // every lane, and a warp
  LaneShape lanes[kMostLanes];
};

__device__ void make_plan(const ColumnTask& task, LinearPlan& plan) {
  plan.head = read_head(task);
  plan.depths = 1;
  plan.has_places = task.tuple <= static_cast<int>(blockDim.x) / 32;
  const unsigned char* fields = plan.head.lanes;
  std::uint32_t bit = 0;
  for (int number = 0; plan.has_places && number < task.tuple; ++number) {
    LaneShape& made = plan.lanes[number];
    made.taps = read_linear_lane(fields, made.lane);
    made.bit = bit;
    made.depth = 0;
    for (int source = 0; source < made.lane.num_sources; ++source) {
      const int depth = plan.lanes[made.lane.sources[source].lane].depth + 1;
      made.depth = static_cast<std::uint8_t>(max(static_cast<int>(made.depth), depth));
    }
    plan.depths = max(plan.depths, made.depth + 1);
    made.places = static_cast<std::uint8_t>(tap_places_of(made.lane));
    plan.has_places = made.places < kNumTapPlaces;
    fields = made.taps + kLinearTapBytes * made.lane.taps();
    for (const unsigned char* tap = made.taps; tap < fields; tap += kLinearTapBytes) bit += tap[2];
  }
}

/// Tiles in shared memory: of lanes that wait for others, some more are on their way at once.
constexpr int kFewestTiles = 2, kMostTiles = 4;

/// Dynamic shared memory: coefficients of each warp's lane, then tiles.
__host__ __device__ constexpr int coefficient_bytes(int tuple) {
  return static_cast<int>(sizeof(std::int16_t)) * kMaxLinearTaps * kLinearRuns * tuple;
}
template <int ValueBytes>
__host__ __device__ constexpr int shared_bytes_of(int tuple, int tiles) {
  return coefficient_bytes(tuple) + tiles * LinearRows<ValueBytes>::bytes(tuple);
}

/// What all threads of a block share.
struct LinearShared {
  LinearPlan plan;
  LinearGroup group;
  int tiles;     // that are in shared memory at once
  int most_lag;  // steps that a lane is behind
  LaneMaps maps;
  bool has_maps, is_plain;  // is_plain: words are values
  std::uint8_t map;
  bool big_endian;
};

/// As the compiler lays it out, at the most.
constexpr int kStaticShared = 1024;
static_assert(sizeof(LinearShared) + 128 <= kStaticShared);

/// A lane of a run; of runs that there are not, all coefficients are zero. `room`: of the thread's coefficients.
template <int ValueBytes>
__device__ LaneWalk<ValueBytes> walk_of(const LinearPlan& plan, const LaneShape& shape,
                                        std::uint64_t run, bool has_run, std::int16_t* room) {
  const unsigned char* fields = shape.taps;
  std::uint64_t bit = run * plan.head.bits_of_run + shape.bit;
  for (int tap = 0; tap < shape.lane.taps(); ++tap, fields += kLinearTapBytes) {
    room[kLinearRuns * tap] =
        has_run ? read_linear_coefficient(fields, plan.head.table, bit) : std::int16_t{0};
    bit += fields[2];
  }
  return LaneWalk<ValueBytes>(shape, Reading<ValueBytes>(plan.head.is_unsigned),
                              [&](int tap) { return room[kLinearRuns * tap]; });
}

/// Undoes the maps of tuples in the rows; of its own row a thread takes every so many, as there are warps.
template <int ValueBytes>
__device__ void finish_rows(const LinearShared& shared, const TileOfRun& tile) {
  using Walk = LaneWalk<ValueBytes>;
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int tuple = shared.group.tuple;
  if (shared.has_maps) {
    constexpr int kTuples = 8;  // behind the last ones there is room
    static_assert(kLinearTile % kTuples == 0);
    for (int first = kTuples * warp; first < tile.tuples; first += kTuples * warps)
      undo_maps_of_tuples<ValueBytes, kTuples>(shared.maps, tuple, tile.row() + first * tile.step,
                                               ValueBytes != 3);
    return;
  }
  for (int value = warp; value < tile.tuples * tuple; value += warps) {
    unsigned char* const at = tile.row() + value * ValueBytes;
    Walk::store(at, finish_value(Walk::load(at), ValueBytes, shared.map, shared.big_endian));
  }
}

/// A group in shared memory: where a tile of it lies. Everything is read anew, for registers are full of taps and sums.
template <int ValueBytes>
class TilesOfGroup {
 public:
  __device__ explicit TilesOfGroup(const LinearShared& shared) : shared_(shared) {}

  /// A thread's part of a tile; no tuples if there is no such tile.
  __device__ TileOfRun of_run(int tile) const {
    const int run = static_cast<int>(threadIdx.x % 32), tuple = shared_.group.tuple;
    return {at(tile) + run * LinearRows<ValueBytes>::pitch(tuple),
            tile >= 0 && tile < count() ? shared_.group.tuples(run, tile * kLinearTile) : 0,
            tuple * ValueBytes, tile == 0};
  }
  __device__ int count() const {
    return static_cast<int>((shared_.group.longest() + kLinearTile - 1) / kLinearTile);
  }
  __device__ void load(int tile) const {
    if (tile < count())
      LinearMover<ValueBytes>::load(shared_.group, tile * kLinearTile,
                                    device::dynamic_shared() + at(tile));
    __pipeline_commit();
  }
  /// Behind maps.
  __device__ void store(int tile) const {
    if (tile < 0) return;
    if (!shared_.is_plain) {
      finish_rows<ValueBytes>(shared_, of_run(tile));
      __syncthreads();  // all are as they are stored
    }
    LinearMover<ValueBytes>::store(shared_.group, tile * kLinearTile,
                                   device::dynamic_shared() + at(tile));
  }

 private:
  /// Where its rows are.
  __device__ int at(int tile) const {
    const int warps = static_cast<int>(blockDim.x) / 32;
    return coefficient_bytes(warps) +
           tile % shared_.tiles * LinearRows<ValueBytes>::bytes(shared_.group.tuple);
  }

  const LinearShared& shared_;
};

/// The group's runs, by a block: a warp a lane. Tile s is there in step s, in which lanes without sources walk along
/// it. Lanes with sources are as many steps behind as there are tiles for, and behind that they wait for each other.
template <int ValueBytes>
__device__ void undo_group(const LinearShared& shared, std::uint64_t first_run) {
  const TilesOfGroup<ValueBytes> tiles(shared);
  const int warp = device::warp_number();
  const bool walks = warp < shared.group.tuple;
  const LaneShape& shape = shared.plan.lanes[walks ? warp : 0];
  const Reading<ValueBytes> reading(shared.plan.head.is_unsigned);
  tiles.load(0);
  const int run = static_cast<int>(threadIdx.x % 32);
  LaneWalk<ValueBytes> walk =
      walk_of<ValueBytes>(shared.plan, shape, first_run + run, shared.group.has(run),
                          reinterpret_cast<std::int16_t*>(device::dynamic_shared()) +
                              warp * kMaxLinearTaps * kLinearRuns + run);
  for (int step = 0; step <= tiles.count() + shared.most_lag; ++step) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the tile is there, and the words of the steps before are
    tiles.store(step - 1 - shared.most_lag);
    tiles.load(step + 1);  // each thread overwrites the words that it has stored
    const int lag = min(static_cast<int>(shape.depth), shared.most_lag);
    const TileOfRun tile = tiles.of_run(step - lag);
    for (int phase = 0; phase < shared.plan.depths - shared.most_lag; ++phase) {
      if (phase > 0) __syncthreads();  // words of the phase before are there
      if (walks && phase == shape.depth - lag && tile.tuples > 0)
        walk.walk(shape, warp, reading, tile);
    }
  }
}

template <int ValueBytes>
__global__ void __launch_bounds__(kMostThreads, blocks_with_registers(ValueBytes))
    linear_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int shared_bytes) {
  __shared__ LinearShared shared;
  device::start_successor();
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.is_linear()) continue;
    const int run_bits = task.linear[0];
    const std::uint64_t runs = (task.records + (std::uint64_t{1} << run_bits) - 1) >> run_bits;
    std::uint64_t first = std::uint64_t{kLinearRuns} * blockIdx.y;
    if (first >= runs) continue;
    __syncthreads();  // what is known of the task before has been used
    if (threadIdx.x == 0) {
      make_plan(task, shared.plan);
      shared.has_maps = task.map == kMapsOfLanes;
      if (shared.has_maps) shared.maps = all_maps[i];
      shared.map = task.map;
      shared.big_endian = task.big_endian;
      shared.is_plain = task.map == 0 && !task.big_endian;
      const int room = shared_bytes - coefficient_bytes(static_cast<int>(blockDim.x) / 32);
      shared.tiles = shared.plan.has_places ? min(room / LinearRows<ValueBytes>::bytes(task.tuple),
                                                  shared.plan.depths + 1)
                                            : 0;
      shared.most_lag = shared.tiles - kFewestTiles;
    }
    __syncthreads();  // this one is known
    for (; first < runs; first += std::uint64_t{kLinearRuns} * gridDim.y) {
      if (shared.tiles >= kFewestTiles) {
        __syncthreads();  // the group before has been used
        if (threadIdx.x == 0) shared.group.set(task, run_bits, first);
        __syncthreads();  // this one is known
        undo_group<ValueBytes>(shared, first);
      } else if (threadIdx.x < kLinearRuns) {
        undo_in_place<ValueBytes>(task, shared.has_maps ? &shared.maps : nullptr, shared.plan.head,
                                  run_of(task, shared.plan.head, first + threadIdx.x));
      }
    }
  }
}

template <int ValueBytes>
cudaError_t launch(const ColumnTask* tasks, const LaneMaps* lane_maps, std::uint32_t num_tasks,
                   int most_tuple, std::uint64_t max_runs, cudaStream_t stream) {
  if (const cudaError_t error = device::raise_shared_limit(linear_undo_kernel<ValueBytes>))
    return error;
  int most_bytes = 0;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(most_bytes))
    return error;
  most_bytes -= kStaticShared;
  int tuple = min(most_tuple, kMostLanes);  // the longest that there is room for
  while (tuple > 1 && shared_bytes_of<ValueBytes>(tuple, kFewestTiles) > most_bytes) --tuple;
  const int shared_bytes =
      min(shared_bytes_of<ValueBytes>(tuple, min(tuple + 1, kMostTiles)), most_bytes);
  const std::uint32_t rows = num_tasks < kMostRows ? num_tasks : kMostRows;
  const auto groups = static_cast<std::uint32_t>(max_runs / kLinearRuns + 1);
  return device::launch_after_with<linear_undo_kernel<ValueBytes>>(
      dim3(rows, groups < kMostGroups / rows ? groups : kMostGroups / rows), 32 * tuple,
      shared_bytes, stream, tasks, lane_maps, num_tasks, shared_bytes);
}

}  // namespace

cudaError_t launch_linear_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int value_bytes, int most_tuple,
                               std::uint64_t max_runs, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  switch (value_bytes) {
    case 1:
      return launch<1>(tasks, lane_maps, num_tasks, most_tuple, max_runs, stream);
    case 2:
      return launch<2>(tasks, lane_maps, num_tasks, most_tuple, max_runs, stream);
    case 3:
      return launch<3>(tasks, lane_maps, num_tasks, most_tuple, max_runs, stream);
    case 4:
      return launch<4>(tasks, lane_maps, num_tasks, most_tuple, max_runs, stream);
    default:
      return launch<8>(tasks, lane_maps, num_tasks, most_tuple, max_runs, stream);
  }
}

}  // namespace gdelta::cuda
