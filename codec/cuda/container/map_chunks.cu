// Words and checks of pages are made by warps; the last block of a chunk looks which lanes have all of their words, and makes
// those of others behind the map that they keep.
#include <algorithm>
#include <cstring>

#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/map_chunks_cuda.h"
#include "formats/gdelta/maps/map_fields.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/checksum/part_words.cuh"
#include "kernels/device/field_sink.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kMapChunksThreads = 256;
constexpr int kMapChunksWarps = kMapChunksThreads / 32;
constexpr std::uint32_t kMapChunksMostBlocks = 1 << 16;
constexpr int kRun = 4;  // words that a thread takes at once
constexpr std::uint32_t kStretchBytes =
    4096;  // of a warp, so that those of all warps stay in the first cache
// There are so many times the blocks that the device holds, if chunks have pages for them: the last ones end early.
constexpr std::uint32_t kRounds = 4;

/// The values of a chunk and the words that they become.
template <class Word>
struct ChunkWords {
  const ExactLane* lanes;
  std::uint8_t plain;  // the map of lanes without one of their own
  const unsigned char* from;
  Word* to;
  std::uint32_t tuple;
  bool big_endian, is_aligned, has_runs;

  __device__ ChunkWords(const MapChunksArgs& args, std::uint32_t chunk)
      : lanes(args.maps.lanes_of(chunk)),
        plain(args.maps.chunks[chunk].plain),
        from(args.shape.values + chunk * args.shape.chunk_records * args.shape.tuple_bytes),
        to(reinterpret_cast<Word*>(args.words + chunk * args.words_pitch)),
        tuple(args.shape.tuple),
        big_endian(args.shape.big_endian),
        is_aligned(is_value_aligned(from, sizeof(Word), sizeof(Word))),
        has_runs(reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {}

  __device__ Word load(std::uint32_t v) const {
    return load_value<Word>(from + v * sizeof(Word), sizeof(Word), is_aligned);
  }
  __device__ void load_run(std::uint32_t v, Word (&values)[kRun]) const {
    if (!has_runs) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) values[i] = load(v + i);
      return;
    }
    constexpr int kVectors = kRun * sizeof(Word) / 16;
    uint4 vectors[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
      vectors[i] = reinterpret_cast<const uint4*>(from + v * sizeof(Word))[i];
    std::memcpy(values, vectors, sizeof vectors);
  }
  __device__ void store_run(std::uint32_t v, const Word (&words)[kRun]) const {
    constexpr int kVectors = kRun * sizeof(Word) / 16;
    uint4 vectors[kVectors];
    std::memcpy(vectors, words, sizeof vectors);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) reinterpret_cast<uint4*>(to + v)[i] = vectors[i];
  }
  /// Calls function(find) with what makes words of the values of a lane: find(value, word) gives false of one that has none. Not at
  /// all for a lane with a dictionary, whose words are there.
  template <class Function>
  __device__ void with_lane(std::uint32_t lane, const Function& function) const {
    const LaneMapping& mapping = lanes[lane].mapping;
    const auto in_order = [&](Word value) {
      return big_endian ? swap_value(value, sizeof(Word)) : value;
    };
    if (has_exact_map(mapping)) {
      with_exact_words<Word>(mapping, [&](const auto& words) {
        function([&](Word value, Word& word) { return words.find(in_order(value), word); });
      });
      return;
    }
    function([&](Word value, Word& word) {
      word = in_order(value);
      with_map(plain, [&](auto of) { word = decltype(of)::apply(word, 8 * sizeof(Word)); });
      return true;
    });
  }
};

/// The words of values [begin, end), by a warp; map(value, place, lane, failed) gives a word and sets a lane's bit if a value of
/// it has none. Returns these bits.
template <class Word, class Map>
__device__ std::uint64_t map_values(const ChunkWords<Word>& words, std::uint32_t begin,
                                    std::uint32_t end, const Map& map) {
  // `begin` is the first of a tuple; without it the compiler would take numbers for short, and call for their division.
  const auto lane_of = [&](std::uint32_t place) { return (begin + place) % words.tuple; };
  const std::uint32_t thread = threadIdx.x & 31, step = lane_of(32 * kRun);
  std::uint32_t v = begin + kRun * thread, lane = lane_of(kRun * thread);
  std::uint64_t failed = 0;
  const auto next = [&](std::uint32_t& of, std::uint32_t by) {
    of += by;
    if (of >= words.tuple) of -= words.tuple;
  };
  [[maybe_unused]] constexpr int kRunsAtOnce = sizeof(Word) / 2;
#pragma unroll kRunsAtOnce
  for (; v + kRun <= end; v += 32 * kRun, next(lane, step)) {
    Word run[kRun];
    words.load_run(v, run);
    std::uint32_t own = lane;
#pragma unroll
    for (int i = 0; i < kRun; ++i, next(own, words.tuple > 1 ? 1 : 0))
      run[i] = map(run[i], v + i, own, failed);
    words.store_run(v, run);
  }
  for (; v < end; ++v, next(lane, words.tuple > 1 ? 1 : 0))
    words.to[v] = map(words.load(v), v, lane, failed);
  return failed;
}

/// The words of some tuples, by a warp. Returns the bits of lanes of which a value has none.
template <class Word>
__device__ std::uint64_t map_tuples(const ChunkWords<Word>& words, std::uint32_t first,
                                    std::uint32_t tuples) {
  const std::uint32_t begin = first * words.tuple, end = begin + tuples * words.tuple;
  std::uint64_t failed = 0;
  const auto by = [](const auto& find, Word value, std::uint32_t lane, std::uint64_t& without) {
    Word word = 0;
    if (!find(value, word)) without |= std::uint64_t{1} << lane;
    return word;
  };
  if (words.tuple == 1) {  // what a lane has is worked out once
    words.with_lane(0, [&](const auto& find) {
      failed = map_values(words, begin, end,
                          [&](Word value, std::uint32_t, std::uint32_t, std::uint64_t& without) {
                            return by(find, value, 0, without);
                          });
    });
  } else {
    failed = map_values(
        words, begin, end,
        [&](Word value, std::uint32_t place, std::uint32_t lane, std::uint64_t& without) {
          if (has_table(words.lanes[lane])) return words.to[place];
          Word word = 0;
          words.with_lane(lane, [&](const auto& find) { word = by(find, value, lane, without); });
          return word;
        });
  }
  return failed;
}

/// The words of a page and its check, by a warp. A stretch of a few groups is mapped and checked before the next, so that the
/// values come from memory once.
template <class Word>
__device__ std::uint32_t map_page(const MapChunksArgs& args, std::uint32_t chunk,
                                  std::uint32_t first, std::uint32_t tuples, std::uint64_t power) {
  const CutShape& shape = args.shape;
  const ChunkWords<Word> words(args, chunk);
  const std::uint32_t stretch =
      kGroupValues * max(1u, kStretchBytes / (kGroupValues * shape.tuple_bytes));
  const std::uint64_t stretch_power = check_power(stretch * (shape.tuple_bytes / 4));
  std::uint64_t failed = 0, sum = 0, power_before = 1;
  for (std::uint32_t at = 0; at < tuples; at += stretch, power_before *= stretch_power) {
    const std::uint32_t own = min(stretch, tuples - at);
    failed |= map_tuples(words, first + at, own);
    sum += power_before * sum_part({.first = words.from + (first + at) * shape.tuple_bytes,
                                    .tuples = own,
                                    .tuple_bytes = shape.tuple_bytes,
                                    .record_bytes = shape.tuple_bytes,
                                    .counted_tuples = own},
                                   power);
  }
  ExactChunk& of_chunk = args.maps.chunks[chunk];
  if ((failed & ~of_chunk.failed) != 0) atomicOr(&of_chunk.failed, 0ull + failed);
  return finish_check(tuples, device::warp_sum(sum));
}

/// What the head says behind the number of the map (formats/gdelta/spec.md, section 4, and maps). Returns how many bytes that is.
__device__ std::uint32_t write_fields(const MapChunksArgs& args, std::uint32_t chunk) {
  ExactChunk& of_chunk = args.maps.chunks[chunk];
  const ExactLane* const lanes = args.maps.lanes_of(chunk);
  const auto map_of = [&](int lane) {
    return has_exact_map(lanes[lane].mapping) ? lanes[lane].mapping.map : of_chunk.plain;
  };
  const int tuple = args.shape.tuple;
  bool by_lane = false;
  for (int lane = 1; lane < tuple; ++lane) by_lane |= map_of(lane) != map_of(0);
  of_chunk.map = by_lane ? static_cast<std::uint8_t>(ValueMap::by_lane) : map_of(0);
  unsigned char* const begin = args.maps.fields_of(chunk);
  device::FieldSink fields{begin};
  for (int lane = 0; by_lane && lane < tuple; ++lane) fields.le(1, map_of(lane));
  for (int lane = 0; lane < tuple; ++lane) {
    const LaneMapping& own = lanes[lane].mapping;
    const auto map = static_cast<ValueMap>(own.map);
    format::write_map_fields(fields, args.shape.value_bytes,
                             {.map = map,
                              .step = own.step,
                              .offset = own.offset,
                              .table = args.maps.tables_of(chunk)[lane].fields});
  }
  fields.varint(0);  // exceptions
  return static_cast<std::uint32_t>(fields.at - begin);
}

/// A chunk becomes the one of its words, unless all lanes that may have maps have failed.
__device__ void settle_chunk(const MapChunksArgs& args, std::uint32_t chunk) {
  ExactChunk& of_chunk = args.maps.chunks[chunk];
  ExactLane* const lanes = args.maps.lanes_of(chunk);
  PackTask& task = args.tasks[chunk];
  std::uint64_t bits = 0;
  bool any = false;
  // As other blocks have left it.
  const std::uint64_t failed = atomicOr(&of_chunk.failed, 0ull);
  for (int lane = 0; lane < task.tuple; ++lane) {
    if ((failed >> lane & 1) != 0) lanes[lane].mapping.map = 0;
    const bool is_mapped = has_exact_map(lanes[lane].mapping);
    any |= is_mapped;
    bits += is_mapped ? lanes[lane].bits : lanes[lane].plain_bits;
  }
  of_chunk.lanes = 0;
  if (!any) return;
  of_chunk.lanes = failed;
  task.map_bytes = write_fields(args, chunk);
  task.map = 0;
  task.source = task.values;
  task.values = args.words + chunk * args.words_pitch;
  task.big_endian = false;
  task.planned_raw =
      !args.shape.asked_coder && !looks_worth_packing(bits, task.tuple, task.raw_bytes());
  task.state_bytes = task.table_bytes = 0;
  for (int lane = 0; lane < task.tuple; ++lane) {
    if (has_table(lanes[lane])) task.table_bytes += args.maps.tables_of(chunk)[lane].fields.bytes;
    if (has_exact_map(lanes[lane].mapping)) task.orders[lane] = lanes[lane].order;
    task.state_bytes += static_cast<std::uint32_t>(task.orders[lane]) * task.value_bytes;
  }
}

/// The words of lanes that have failed, by a block.
template <class Word>
__device__ void map_failed(const MapChunksArgs& args, std::uint32_t chunk, std::uint64_t lanes) {
  const ChunkWords<Word> words(args, chunk);
  const std::uint32_t end = args.shape.records_of(chunk) * words.tuple;
  for (std::uint32_t v = threadIdx.x; v < end; v += kMapChunksThreads) {
    const std::uint32_t lane = v % words.tuple;
    if ((lanes >> lane & 1) == 0) continue;
    words.with_lane(lane, [&](const auto& find) { find(words.load(v), words.to[v]); });
  }
}

/// The block's share of a chunk's pages, and their checks.
template <class Word>
__device__ void map_pages(const MapChunksArgs& args, std::uint32_t chunk) {
  const CutShape& shape = args.shape;
  const std::uint64_t power = check_power(threadIdx.x & 31);
  const std::uint32_t page_tuples = kGroupValues * shape.part_groups_of(chunk);
  const std::uint32_t pages = shape.parts_of(chunk);
  for (std::uint32_t page = blockIdx.y * kMapChunksWarps + device::warp_number(); page < pages;
       page += gridDim.y * kMapChunksWarps) {
    const std::uint32_t first = page * page_tuples;
    const std::uint32_t tuples = min(page_tuples, shape.records_of(chunk) - first);
    const std::uint32_t check = map_page<Word>(args, chunk, first, tuples, power);
    if ((threadIdx.x & 31) == 0) args.part_checks[chunk * shape.parts_of(0) + page] = check;
  }
}

/// Whether this is the last of the blocks that share a chunk, and sees what the others have left. The block calls it.
__device__ bool is_last_block(ExactChunk& of_chunk) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();  // what the block leaves is there for all
  if (threadIdx.x == 0) is_last = atomicAdd(&of_chunk.blocks_done, 1u) + 1 == gridDim.y;
  __syncthreads();  // it is told
  __threadfence();
  return is_last;
}

/// Along y blocks share a chunk.
template <class Word>
__global__ void __launch_bounds__(kMapChunksThreads) map_chunks_kernel(MapChunksArgs args) {
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < args.shape.num_chunks; chunk += gridDim.x) {
    ExactChunk& of_chunk = args.maps.chunks[chunk];
    if (!device::warp_uniform(of_chunk.lanes != 0)) continue;
    map_pages<Word>(args, chunk);
    if (!device::warp_uniform(is_last_block(of_chunk))) continue;
    if (threadIdx.x == 0) settle_chunk(args, chunk);
    __syncthreads();  // lanes that are left have their map
    if (const std::uint64_t lanes = of_chunk.lanes; lanes != 0)
      map_failed<Word>(args, chunk, lanes);
  }
}

template <class Word>
cudaError_t launch_map(const MapChunksArgs& args, cudaStream_t stream) {
  const CutShape& shape = args.shape;
  // The kernel before it may leave multiprocessors with little else than shared memory.
  if (auto error = device::prefer_first_cache<map_chunks_kernel<Word>>()) return error;
  int resident = 0;  // most chunks have nothing to do
  if (auto error = device::resident_blocks<map_chunks_kernel<Word>>(kMapChunksThreads, resident))
    return error;
  const std::uint32_t sharing =
      std::clamp(kRounds * static_cast<std::uint32_t>(resident) / shape.num_chunks, 1u,
                 (shape.parts_of(0) + kMapChunksWarps - 1) / kMapChunksWarps);
  return device::launch_after<map_chunks_kernel<Word>>(
      dim3(std::min(shape.num_chunks, kMapChunksMostBlocks), sharing), kMapChunksThreads, stream,
      args);
}

}  // namespace

cudaError_t launch_map_chunks(const MapChunksArgs& args, cudaStream_t stream) {
  if (args.shape.num_chunks == 0) return cudaSuccess;
  return args.shape.value_bytes == 8 ? launch_map<std::uint64_t>(args, stream)
                                     : launch_map<std::uint32_t>(args, stream);
}

}  // namespace gdelta::cuda
