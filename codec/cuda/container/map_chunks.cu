// Words are made first, then a thread a chunk looks which lanes have them all, and what the others hold in their place is
// made anew.
#include "codec/cuda/container/map_chunks_cuda.h"
#include "codec/plan/levels.h"
#include "gdelta/value_maps.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/device/launch.cuh"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/maps/exact_decimal.h"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kSliceValues = 16 * kThreads;  // that a block takes
constexpr std::uint32_t kMostBlocks = 1 << 16;

/// The values of a chunk that become words.
struct ChunkValues {
  const unsigned char* from;
  unsigned char* words;
  std::uint32_t count;
  bool aligned;

  __device__ ChunkValues(const MapChunksArgs& args, std::uint32_t chunk) {
    const CutShape& shape = args.shape;
    from = shape.values + chunk * shape.chunk_records * shape.tuple_bytes;
    words = args.words + chunk * args.words_pitch;
    count = static_cast<std::uint32_t>(shape.records_of(chunk)) * shape.tuple;
    aligned = is_value_aligned(from, shape.value_bytes, shape.value_bytes);
  }
};

/// The word of a value; false if it has none.
template <class Word>
__device__ bool map_value(Word value, std::uint8_t digits, std::uint8_t plain, Word& word) {
  constexpr int kBits = 8 * sizeof(Word);
  word = value;
  if (digits != ExactMaps::kNone)
    return find_steps(DecimalMap(LaneMapping{.step = digits}), value, kBits, word);
  with_map(plain, [&](auto of) { word = decltype(of)::apply(value, kBits); });
  return true;
}

/// The words of a slice of the lanes that want some.
template <class Word>
__device__ void map_slice(const MapChunksArgs& args, std::uint32_t chunk, std::uint32_t slice) {
  ExactMaps& maps = args.maps[chunk];
  const std::uint64_t lanes = maps.lanes;
  const ChunkValues values(args, chunk);
  const std::uint32_t first = slice * kSliceValues + threadIdx.x, tuple = args.shape.tuple;
  const std::uint32_t end = min(slice * kSliceValues + kSliceValues, values.count);
  std::uint64_t failed = 0;
#pragma unroll 4
  for (std::uint32_t v = first; v < end; v += kThreads) {
    const std::uint32_t lane = v % tuple;
    if ((lanes >> lane & 1) == 0) continue;
    Word value = load_value<Word>(values.from + v * sizeof(Word), sizeof(Word), values.aligned);
    if (args.shape.big_endian) value = swap_value(value, sizeof(Word));
    Word word;
    if (!map_value(value, maps.digits[lane], maps.plain, word)) failed |= std::uint64_t{1} << lane;
    reinterpret_cast<Word*>(values.words)[v] = word;
  }
  if ((failed & ~maps.failed) != 0) atomicOr(&maps.failed, 0ull + failed);
}

template <class Word>
__global__ void __launch_bounds__(kThreads) map_values_kernel(MapChunksArgs args) {
  const CutShape& shape = args.shape;
  const auto slices = static_cast<std::uint32_t>(
      (shape.records_of(0) * shape.tuple + kSliceValues - 1) / kSliceValues);
  const std::uint64_t items = static_cast<std::uint64_t>(shape.num_chunks) * slices;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto chunk = static_cast<std::uint32_t>(item / slices);
    if (args.maps[chunk].lanes != 0)
      map_slice<Word>(args, chunk, static_cast<std::uint32_t>(item % slices));
  }
}

/// What the head says behind the number of the map (formats/gdelta/spec.md, section 4, and maps/decimal.md).
__device__ std::uint32_t write_fields(ExactMaps& maps, int tuple, bool by_lane) {
  std::uint32_t count = 0;
  for (int lane = 0; by_lane && lane < tuple; ++lane)
    maps.fields[count++] = maps.digits[lane] == ExactMaps::kNone ? maps.plain : kExactMap;
  for (int lane = 0; lane < tuple; ++lane)
    if (maps.digits[lane] != ExactMaps::kNone) maps.fields[count++] = maps.digits[lane];
  maps.fields[count++] = 0;  // exceptions
  maps.map = by_lane ? static_cast<std::uint8_t>(ValueMap::by_lane) : kExactMap;
  return count;
}

/// A chunk becomes the one of its words if that still pays without the lanes that have failed.
__device__ void settle_chunk(const MapChunksArgs& args, std::uint32_t chunk) {
  ExactMaps& maps = args.maps[chunk];
  if (maps.lanes == 0) return;
  PackTask& task = args.tasks[chunk];
  std::uint64_t bits = 0;
  int mapped = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    if ((maps.failed >> lane & 1) != 0) maps.digits[lane] = ExactMaps::kNone;
    const bool is_mapped = maps.digits[lane] != ExactMaps::kNone;
    mapped += is_mapped;
    bits += is_mapped ? maps.bits[lane] : maps.plain_bits[lane];
  }
  maps.lanes = 0;
  const bool pays =
      args.shape.asked_coder || looks_worth_packing(bits, task.tuple, task.raw_bytes());
  if (mapped == 0 || !pays) return;
  maps.lanes = maps.failed;
  task.map_bytes = write_fields(maps, task.tuple, mapped < task.tuple);
  task.map = 0;
  task.source = task.values;
  task.values = args.words + chunk * args.words_pitch;
  task.big_endian = false;
  task.planned_raw = false;
  task.state_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    if (maps.digits[lane] != ExactMaps::kNone) task.orders[lane] = maps.orders[lane];
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
}

__global__ void __launch_bounds__(kThreads) settle_chunks_kernel(MapChunksArgs args) {
  const std::uint32_t chunk = blockIdx.x * kThreads + threadIdx.x;
  if (chunk < args.shape.num_chunks) settle_chunk(args, chunk);
}

}  // namespace

cudaError_t launch_map_chunks(const MapChunksArgs& args, cudaStream_t stream) {
  const CutShape& shape = args.shape;
  if (shape.num_chunks == 0) return cudaSuccess;
  const auto kernel =
      shape.value_bytes == 8 ? map_values_kernel<std::uint64_t> : map_values_kernel<std::uint32_t>;
  const std::uint64_t slices =
      (shape.records_of(0) * shape.tuple + kSliceValues - 1) / kSliceValues;
  const std::uint64_t items = shape.num_chunks * slices;
  const auto grid = static_cast<unsigned>(items < kMostBlocks ? items : kMostBlocks);
  if (auto error = device::launch_kernel(kernel, grid, kThreads, stream, args)) return error;
  if (auto error =
          device::launch_kernel(settle_chunks_kernel, (shape.num_chunks + kThreads - 1) / kThreads,
                                kThreads, stream, args))
    return error;
  return device::launch_kernel(kernel, grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
