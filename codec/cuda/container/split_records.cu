// A block takes stretches of records into shared memory, and writes what each column has of them.
#include <algorithm>

#include "codec/cuda/container/small_divisor.cuh"
#include "codec/cuda/container/split_records_cuda.h"
#include "gdelta/types.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kSplitRecordsThreads = 256;
constexpr std::uint32_t kMostRecordBytes = kMostSplitColumns * kMaxTupleBytes;
constexpr std::uint32_t kSplitRecordsUsualStage =
    16 << 10;                         // of which a multiprocessor has room for as many as threads
constexpr std::uint32_t kPiece = 16;  // bytes of a load
// Records that begin and end with a piece, in columns with whole words as well.
constexpr std::uint32_t kSplitRecordsEvenRecords = 16;

/// The records of a stretch as they lie in memory, from the piece on that the first byte is in. A word more after every 32, so
/// that neither threads with a piece each nor those with a record each of a power of two meet in a bank.
struct RecordStage {
  std::uint32_t* words;  // in shared memory

  /// Bytes of it for so many bytes of records.
  static std::uint32_t room(std::uint32_t bytes) { return 4 * place((bytes + 2 * kPiece) / 4); }
  __host__ __device__ static std::uint32_t place(std::uint32_t word) { return word + word / 32; }
  __device__ std::uint32_t word_at(std::uint32_t word) const { return words[place(word)]; }
  __device__ std::uint32_t byte_at(std::uint32_t at) const {
    return word_at(at / 4) >> (8 * (at % 4)) & 0xff;
  }
  /// Four bytes from any place; touches no word without one of them.
  __device__ std::uint32_t four_at(std::uint32_t at) const {
    const std::uint32_t low = word_at(at / 4), shift = 8 * (at % 4);
    return shift == 0 ? low : __funnelshift_r(low, word_at(at / 4 + 1), shift);
  }

  /// Loads bytes [begin, end); gives where the first of them comes to be. The block calls it.
  __device__ std::uint32_t load(const unsigned char* begin, const unsigned char* end) const {
    const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) % kPiece);
    const unsigned char* const first = begin - lead;
    const auto bytes = static_cast<std::uint32_t>(end - first);
#pragma unroll 4
    for (std::uint32_t at = kPiece * threadIdx.x; at < bytes; at += kPiece * kSplitRecordsThreads) {
      const uint4 piece = at >= lead && at + kPiece <= bytes
                              ? *reinterpret_cast<const uint4*>(first + at)
                              : load_edge(first, at, lead, bytes);
      const std::uint32_t to = place(at / 4);  // a piece has no place between its words
      words[to] = piece.x, words[to + 1] = piece.y;
      words[to + 2] = piece.z, words[to + 3] = piece.w;
    }
    return lead;
  }

 private:
  /// A piece of which some bytes are another's.
  __device__ static uint4 load_edge(const unsigned char* first, std::uint32_t at,
                                    std::uint32_t lead, std::uint32_t bytes) {
    std::uint32_t four[4] = {0, 0, 0, 0};
#pragma unroll
    for (std::uint32_t b = 0; b < kPiece; ++b) {
      if (at + b >= lead && at + b < bytes)
        four[b / 4] |= static_cast<std::uint32_t>(first[at + b]) << (8 * (b % 4));
    }
    return {four[0], four[1], four[2], four[3]};
  }
};

static_assert(kMostRecordBytes <= 1 << 16 && kSplitRecordsUsualStage <= 1 << 16);

/// What a stretch has of a column: bytes [begin, end) of it.
struct ColumnStretch {
  std::uint32_t from;  // its first byte in the stage
  std::uint32_t record_bytes, tuple_bytes;
  unsigned char* out;
  std::uint64_t begin, end;

  __device__ std::uint32_t bytes() const { return static_cast<std::uint32_t>(end - begin); }
  /// Whether all are whole words where they are read, and whole pieces where they are written but for the last.
  __device__ bool has_words() const {
    return (from | record_bytes | tuple_bytes) % 4 == 0 && begin % kPiece == 0;
  }
};

/// Four words at once.
__device__ void write_words(const RecordStage& stage, const ColumnStretch& column) {
  const std::uint32_t record = column.record_bytes / 4, tuple = column.tuple_bytes / 4;
  const SmallDivisor by_tuple(tuple);
  const std::uint32_t words = column.bytes() / 4;
  auto* const out = reinterpret_cast<std::uint32_t*>(column.out + column.begin);
  const auto place_of = [&](std::uint32_t number, std::uint32_t word) {
    return column.from / 4 + number * record + word;
  };
  for (std::uint32_t i = 4 * threadIdx.x; i + 4 <= words; i += 4 * kSplitRecordsThreads) {
    const std::uint32_t number = by_tuple.quotient(i);
    std::uint32_t word = i - number * tuple, from = place_of(number, word);
    std::uint32_t four[4];
#pragma unroll
    for (std::uint32_t& each : four) {
      each = stage.word_at(from++);
      if (++word < tuple) continue;
      word = 0;
      from += record - tuple;
    }
    *reinterpret_cast<uint4*>(out + i) = {four[0], four[1], four[2], four[3]};
  }
  const std::uint32_t rest = words / 4 * 4 + threadIdx.x;
  if (rest >= words) return;
  const std::uint32_t number = by_tuple.quotient(rest);
  out[rest] = stage.word_at(place_of(number, rest - number * tuple));
}

/// Of any alignment: whole words of the column, and at both ends bytes.
__device__ void write_bytes(const RecordStage& stage, const ColumnStretch& column) {
  const std::uint32_t tuple_bytes = column.tuple_bytes;
  const SmallDivisor by_tuple(tuple_bytes);
  const std::uint32_t bytes = column.bytes();
  const auto place_of = [&](std::uint32_t number, std::uint32_t at) {
    return column.from + number * column.record_bytes + at;
  };
  unsigned char* const out = column.out + column.begin;
  const auto to_word = static_cast<std::uint32_t>(-column.begin & 3);  // a column begins with one
  const std::uint32_t head = min(to_word, bytes), words = (bytes - head) / 4;
  for (std::uint32_t i = threadIdx.x; i < words; i += kSplitRecordsThreads) {
    const std::uint32_t byte = head + 4 * i;
    std::uint32_t number = by_tuple.quotient(byte), at = byte - number * tuple_bytes;
    std::uint32_t word = 0;
    if (at + 4 <= tuple_bytes) {
      word = stage.four_at(place_of(number, at));
    } else {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        word |= stage.byte_at(place_of(number, at)) << (8 * b);
        if (++at < tuple_bytes) continue;
        at = 0;
        ++number;
      }
    }
    reinterpret_cast<std::uint32_t*>(out + head)[i] = word;
  }
  const auto write_byte = [&](std::uint32_t byte) {
    const std::uint32_t number = by_tuple.quotient(byte);
    out[byte] =
        static_cast<unsigned char>(stage.byte_at(place_of(number, byte - number * tuple_bytes)));
  };
  const std::uint32_t rest = head + 4 * words;
  if (threadIdx.x < head) write_byte(threadIdx.x);
  if (threadIdx.x < bytes - rest) write_byte(rest + threadIdx.x);
}

std::uint32_t records_of_split(std::uint32_t record_bytes) {
  const std::uint32_t records = std::max(kSplitRecordsUsualStage / record_bytes, 1u);
  return records < kSplitRecordsEvenRecords
             ? records
             : records / kSplitRecordsEvenRecords * kSplitRecordsEvenRecords;
}

__global__ void __launch_bounds__(kSplitRecordsThreads)
    split_records_kernel(const __grid_constant__ SplitArgs args, std::uint32_t step) {
  const RecordStage stage{reinterpret_cast<std::uint32_t*>(device::dynamic_shared())};
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * step; first < args.records;
       first += std::uint64_t{gridDim.x} * step) {
    const std::uint64_t end = min(first + step, args.records);
    const std::uint32_t lead =
        stage.load(args.values + first * args.record_bytes, args.values + end * args.record_bytes);
    __syncthreads();  // all of them are there
    for (std::uint32_t c = 0; c < args.num_columns; ++c) {
      const SplitColumn& column = args.columns[c];
      const ColumnStretch stretch{.from = lead + column.offset,
                                  .record_bytes = args.record_bytes,
                                  .tuple_bytes = column.tuple_bytes,
                                  .out = column.out,
                                  .begin = first * column.tuple_bytes,
                                  .end = end * column.tuple_bytes};
      if (stretch.has_words()) {
        write_words(stage, stretch);
      } else {
        write_bytes(stage, stretch);
      }
    }
    __syncthreads();  // and have been read
  }
}

}  // namespace

cudaError_t launch_split_records(const SplitArgs& args, cudaStream_t stream) {
  if (args.records == 0) return cudaSuccess;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint32_t step = records_of_split(args.record_bytes);
  const auto grid = static_cast<unsigned>(std::min((args.records + step - 1) / step, kMostBlocks));
  return device::launch_kernel_with(split_records_kernel, grid, kSplitRecordsThreads,
                                    RecordStage::room(step * args.record_bytes), stream, args,
                                    step);
}

}  // namespace gdelta::cuda
