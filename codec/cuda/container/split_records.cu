// A block takes stretches of records into shared memory, and writes what each column has of them.
#include <algorithm>

#include "codec/cuda/container/split_records_cuda.h"
#include "gdelta/types.h"
#include "kernels/device/launch.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kMostRecordBytes = kMostSplitColumns * kMaxTupleBytes;
constexpr std::uint32_t kStageBytes = kMostRecordBytes;  // a record at least
constexpr std::uint32_t kPiece = 16;                     // bytes of a load
// Records that begin and end with a piece, in columns with whole words as well.
constexpr std::uint32_t kEvenRecords = 16;

/// The records of a stretch as they lie in memory, from the piece on that the first byte is in. A word more after every 32, so
/// that neither threads with a piece each nor those with a record each of a power of two meet in a bank.
struct RecordStage {
  static constexpr std::uint32_t kWords = kStageBytes / 4 + 2 * kPiece / 4;
  std::uint32_t words[kWords + kWords / 32 + 1];

  __device__ static std::uint32_t place(std::uint32_t word) { return word + word / 32; }
  __device__ std::uint32_t word_at(std::uint32_t word) const { return words[place(word)]; }
  __device__ std::uint32_t byte_at(std::uint32_t at) const {
    return word_at(at / 4) >> (8 * (at % 4)) & 0xff;
  }
  /// Four bytes from any place; touches no word without one of them.
  __device__ std::uint32_t four_at(std::uint32_t at) const {
    const std::uint32_t low = word_at(at / 4), shift = 8 * (at % 4);
    return shift == 0 ? low : __funnelshift_r(low, word_at(at / 4 + 1), shift);
  }

  /// Bytes [begin, end) come to their place behind `begin`'s piece. The block calls it.
  __device__ void load(const unsigned char* begin, const unsigned char* end) {
    const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) % kPiece);
    const unsigned char* const first = begin - lead;
    const auto bytes = static_cast<std::uint32_t>(end - first);
    for (std::uint32_t at = kPiece * threadIdx.x; at < bytes; at += kPiece * kThreads) {
      uint4 piece{0, 0, 0, 0};
      if (at >= lead && at + kPiece <= bytes) {
        piece = *reinterpret_cast<const uint4*>(first + at);
      } else {
        piece = load_edge(first, at, lead, bytes);
      }
      const std::uint32_t to = place(at / 4);  // a piece has no place between its words
      words[to] = piece.x, words[to + 1] = piece.y;
      words[to + 2] = piece.z, words[to + 3] = piece.w;
    }
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

/// Numbers below 2^16 divided by one that is known when the kernel runs.
class SmallDivisor {
 public:
  __device__ explicit SmallDivisor(std::uint32_t divisor)
      : one_(divisor == 1), inverse_(divisor == 1 ? 0 : ~0u / divisor + 1) {}
  __device__ std::uint32_t quotient(std::uint32_t number) const {
    return one_ ? number : __umulhi(number, inverse_);
  }

 private:
  bool one_;
  std::uint32_t inverse_;
};
static_assert(kStageBytes <= 1 << 16);

/// Writes bytes [begin, end) of a column, whole words of it: those of the staged records, whose first is at `lead` of the stage.
__device__ void write_column(const RecordStage& stage, std::uint32_t lead, const SplitArgs& args,
                             const SplitColumn& column, std::uint64_t begin, std::uint64_t end) {
  const std::uint32_t tuple_bytes = column.tuple_bytes;
  const SmallDivisor by_tuple(tuple_bytes);
  const auto bytes = static_cast<std::uint32_t>(end - begin);
  const auto staged = [&](std::uint32_t tuple, std::uint32_t at) {
    return lead + tuple * args.record_bytes + column.offset + at;
  };
  unsigned char* const out = column.out + begin;
  const auto to_word = static_cast<std::uint32_t>(-begin & 3);  // the column begins with a word
  const std::uint32_t head = min(to_word, bytes), words = (bytes - head) / 4;
  for (std::uint32_t i = threadIdx.x; i < words; i += kThreads) {
    const std::uint32_t byte = head + 4 * i;
    std::uint32_t tuple = by_tuple.quotient(byte), at = byte - tuple * tuple_bytes;
    std::uint32_t word = 0;
    if (at + 4 <= tuple_bytes) {
      word = stage.four_at(staged(tuple, at));
    } else {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        word |= stage.byte_at(staged(tuple, at)) << (8 * b);
        const bool is_last = ++at == tuple_bytes;
        tuple += is_last ? 1 : 0;
        at = is_last ? 0 : at;
      }
    }
    reinterpret_cast<std::uint32_t*>(out + head)[i] = word;
  }
  const auto write_byte = [&](std::uint32_t byte) {
    const std::uint32_t tuple = by_tuple.quotient(byte);
    out[byte] =
        static_cast<unsigned char>(stage.byte_at(staged(tuple, byte - tuple * tuple_bytes)));
  };
  const std::uint32_t rest = head + 4 * words;
  if (threadIdx.x < head) write_byte(threadIdx.x);
  if (threadIdx.x < bytes - rest) write_byte(rest + threadIdx.x);
}

__host__ __device__ std::uint32_t records_of_stretch(std::uint32_t record_bytes) {
  const std::uint32_t records = kStageBytes / record_bytes;
  return records < kEvenRecords ? records : records / kEvenRecords * kEvenRecords;
}

__global__ void __launch_bounds__(kThreads)
    split_records_kernel(const __grid_constant__ SplitArgs args) {
  __shared__ RecordStage stage;
  const std::uint32_t step = records_of_stretch(args.record_bytes);
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * step; first < args.records;
       first += std::uint64_t{gridDim.x} * step) {
    const std::uint64_t end = min(first + step, args.records);
    const unsigned char* const begin = args.values + first * args.record_bytes;
    const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) % kPiece);
    stage.load(begin, args.values + end * args.record_bytes);
    __syncthreads();  // all of them are there
    for (std::uint32_t c = 0; c < args.num_columns; ++c) {
      const SplitColumn& column = args.columns[c];
      write_column(stage, lead, args, column, first * column.tuple_bytes, end * column.tuple_bytes);
    }
    __syncthreads();  // and have been read
  }
}

}  // namespace

cudaError_t launch_split_records(const SplitArgs& args, cudaStream_t stream) {
  if (args.records == 0) return cudaSuccess;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  const std::uint64_t step = records_of_stretch(args.record_bytes);
  const auto grid =
      static_cast<unsigned>(std::min((args.records + step - 1) / step, kMostBlocks));
  return device::launch_kernel(split_records_kernel, grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
