// A block takes a stretch of records: what each column has of it goes to shared memory as it lies, and records leave in
// pieces of 16 bytes, whose words are gathered there.
#include "codec/cuda/container/join_records_cuda.h"

#include <algorithm>

#include "codec/cuda/container/chunk_table.h"
#include "codec/cuda/container/small_divisor.cuh"
#include "gdelta/types.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kJoinRecordsThreads = 256;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kBlocksPerSm = 4;  // multiprocessors hold too few threads for more
#else
constexpr int kBlocksPerSm = 6;
#endif
constexpr std::uint32_t kJoinRecordsUsualStage = 32 << 10;
// So many records are whole pieces of any column.
constexpr std::uint32_t kJoinRecordsEvenRecords = 16;
constexpr std::uint32_t kMostStage = kJoinRecordsEvenRecords * kMostJoinedBytes;

std::uint32_t records_of_stretch(std::uint32_t record_bytes) {
  return std::max(kJoinRecordsUsualStage / record_bytes / kJoinRecordsEvenRecords, 1u) *
         kJoinRecordsEvenRecords;
}

/// What a block shares, cut from dynamic shared memory.
struct JoinShared {
  uint4* stage;            // [pieces]: column after column, of each `records` tuples
  std::uint32_t* sources;  // [record_bytes]: from where in the stage the bytes of a record come
  std::uint16_t* owners;   // [pieces]: the column of each
  const unsigned char**
      from;  // [columns]: where the stage's first byte would be, if the column were all of it
  std::uint32_t* ends;  // [columns]: of what the stretch has of the column, in the stage

  __host__ __device__ static std::uint32_t pieces(std::uint32_t records,
                                                  std::uint32_t record_bytes) {
    return records * record_bytes / kJoinPiece;
  }
  static std::uint32_t bytes(std::uint32_t records, const JoinRecordsArgs& args) {
    return (kJoinPiece + 2) * pieces(records, args.record_bytes) + 4 * args.record_bytes +
           (8 + 4) * args.num_columns + 16;
  }
  __device__ JoinShared(unsigned char* memory, std::uint32_t records, const JoinRecordsArgs& args) {
    const std::uint32_t count = pieces(records, args.record_bytes);
    stage = reinterpret_cast<uint4*>(memory);
    from = reinterpret_cast<const unsigned char**>(stage + count);
    ends = reinterpret_cast<std::uint32_t*>(from + args.num_columns);
    sources = ends + args.num_columns;
    owners = reinterpret_cast<std::uint16_t*>(sources + args.record_bytes);
  }
};

/// From where in the stage a byte of the first record comes, and how far from there that of the next record is.
constexpr std::uint32_t make_source(std::uint32_t at, std::uint32_t tuple_bytes) {
  return at | (tuple_bytes << 16);
}
static_assert(kMostStage <= 1 << 16 && kMostJoinedBytes < 1 << 16);

__device__ std::uint32_t tuple_bytes_of(const TableColumn& column) {
  return static_cast<std::uint32_t>(value_bytes(static_cast<ValueType>(column.type))) *
         column.tuple;
}

/// Which pieces a thread stores: each `pieces` behind the one before it, and so many records, if those are whole ones. Then all
/// of its pieces begin at the same byte of a record.
struct PieceStep {
  std::uint32_t pieces = kJoinRecordsThreads;
  std::uint32_t records = 0;  // 0: where each begins is found anew

  __device__ explicit PieceStep(std::uint32_t record_bytes) {
    const std::uint32_t shared_bytes = min(record_bytes & -record_bytes, kJoinPiece);
    const std::uint32_t period = record_bytes / shared_bytes;  // pieces
    if (period > kJoinRecordsThreads) return;
    pieces = kJoinRecordsThreads / period * period;
    records = pieces / period * (kJoinPiece / shared_bytes);
  }
};

/// Joins stretches of `records` records, but for the last of a chunk.
class RecordJoiner {
 public:
  /// The block calls it, and waits behind it.
  __device__ RecordJoiner(const JoinRecordsArgs& args, std::uint32_t records,
                          const JoinShared& shared)
      : args_(args),
        shared_(shared),
        chunks_(
            reinterpret_cast<const TableChunk*>(args.table + table_chunks_at(args.num_columns)) +
            args.first_chunk),
        records_(records),
        by_record_(args.record_bytes),
        step_(args.record_bytes) {
    const auto* const columns =
        reinterpret_cast<const TableColumn*>(args.table + table_columns_at());
    for (std::uint32_t c = 0; c < args.num_columns; ++c) {
      const TableColumn column = columns[c];
      const std::uint32_t tuple_bytes = tuple_bytes_of(column), begin = records * column.offset;
      units_ |= tuple_bytes;
      for (std::uint32_t b = threadIdx.x; b < tuple_bytes; b += kJoinRecordsThreads)
        shared.sources[column.offset + b] = make_source(begin + b, tuple_bytes);
      for (std::uint32_t p = threadIdx.x; p < records * tuple_bytes / kJoinPiece;
           p += kJoinRecordsThreads)
        shared.owners[begin / kJoinPiece + p] = static_cast<std::uint16_t>(c);
    }
    if (threadIdx.x < args.num_columns) own_ = columns[threadIdx.x];
    first_slot_ = columns[0].slot;
  }

  /// Records from `first` on of a chunk; false if there are none. The block calls it.
  __device__ bool join(std::uint32_t chunk, std::uint64_t first) const {
    const ColumnTask& task = args_.tasks[first_slot_ * args_.num_chunks + chunk];
    if (task.path == ColumnPath::none || first >= task.records) return false;
    const auto records =
        static_cast<std::uint32_t>(min(std::uint64_t{records_}, task.records - first));
    take_columns(chunk, first, records);
    load();
    unsigned char* const out = args_.out + (chunks_[chunk].decoded_at - chunks_[0].decoded_at) +
                               first * args_.record_bytes;
    device::wait_for_parked();
    __syncthreads();  // the stage is full
    const std::uint32_t bytes = records * args_.record_bytes;
    const auto all = units_ | static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out));
    if (all % 4 == 0) {
      store<std::uint32_t>(out, bytes);
    } else if (all % 2 == 0) {
      store<std::uint16_t>(out, bytes);
    } else {
      store<std::uint8_t>(out, bytes);
    }
    __syncthreads();  // and has been read
    return true;
  }

 private:
  /// Where the units of a piece are in the stage, in the lower half, and how far from there those of the thread's next piece.
  template <class Unit>
  struct PieceSources {
    static constexpr int kUnits = kJoinPiece / sizeof(Unit);
    std::uint32_t units[kUnits];

    __device__ void move() {
#pragma unroll
      for (std::uint32_t& unit : units) unit += unit >> 16;
    }
    __device__ uint4 read(const uint4* stage) const {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(stage);
      std::uint32_t words[4] = {};
#pragma unroll
      for (int i = 0; i < kUnits; ++i) {
        const std::uint32_t unit =
            *reinterpret_cast<const Unit*>(bytes + (units[i] & ((1u << 16) - 1)));
        constexpr int kOfWord = 4 / sizeof(Unit);
        words[i / kOfWord] |= unit << (8 * sizeof(Unit) * (i % kOfWord));
      }
      return {words[0], words[1], words[2], words[3]};
    }
  };

  /// Finds what the stretch has of each column.
  __device__ void take_columns(std::uint32_t chunk, std::uint64_t first,
                               std::uint32_t records) const {
    if (threadIdx.x < args_.num_columns) {
      const std::uint32_t tuple_bytes = tuple_bytes_of(own_), begin = records_ * own_.offset;
      const ColumnTask& task = args_.tasks[own_.slot * args_.num_chunks + chunk];
      shared_.from[threadIdx.x] = task.out + first * tuple_bytes - begin;
      shared_.ends[threadIdx.x] = begin + records * tuple_bytes;
    }
    __syncthreads();  // columns are known
  }

  __device__ void load() const {
    const std::uint32_t pieces = JoinShared::pieces(records_, args_.record_bytes);
    for (std::uint32_t p = threadIdx.x; p < pieces; p += kJoinRecordsThreads) {
      const std::uint32_t c = shared_.owners[p], at = kJoinPiece * p;
      if (at < shared_.ends[c]) device::park(shared_.stage + p, shared_.from[c] + at);
    }
  }

  /// Of the piece whose first byte is number `at` of the stretch.
  template <class Unit>
  __device__ __forceinline__ PieceSources<Unit> sources_at(std::uint32_t at) const {
    PieceSources<Unit> sources;
    std::uint32_t record = by_record_.quotient(at), byte = at - record * args_.record_bytes;
#pragma unroll
    for (std::uint32_t& unit : sources.units) {
      const std::uint32_t source = shared_.sources[byte], tuple_bytes = source >> 16;
      unit = ((source & 0xffff) + record * tuple_bytes) | (step_.records * tuple_bytes << 16);
      byte += sizeof(Unit);
      if (byte < args_.record_bytes) continue;
      byte = 0;
      ++record;
    }
    return sources;
  }
  __device__ unsigned char byte_at(std::uint32_t at) const {
    const std::uint32_t record = by_record_.quotient(at);
    const std::uint32_t source = shared_.sources[at - record * args_.record_bytes];
    return reinterpret_cast<const unsigned char*>(
        shared_.stage)[(source & 0xffff) + record * (source >> 16)];
  }

  /// Whole pieces as memory has them, and at both ends bytes.
  template <class Unit>
  __device__ void store(unsigned char* out, std::uint32_t bytes) const {
    const auto to_piece =
        static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(out)) % kJoinPiece;
    const std::uint32_t head = min(to_piece, bytes), pieces = (bytes - head) / kJoinPiece;
    auto* const to = reinterpret_cast<uint4*>(out + head);
    if (threadIdx.x < min(step_.pieces, pieces)) {
      PieceSources<Unit> sources = sources_at<Unit>(head + kJoinPiece * threadIdx.x);
      for (std::uint32_t p = threadIdx.x;;) {
        to[p] = sources.read(shared_.stage);
        p += step_.pieces;
        if (p >= pieces) break;
        if (step_.records > 0) {
          sources.move();
        } else {
          sources = sources_at<Unit>(head + kJoinPiece * p);
        }
      }
    }
    const std::uint32_t tail = head + kJoinPiece * pieces;
    if (threadIdx.x < head) out[threadIdx.x] = byte_at(threadIdx.x);
    if (threadIdx.x < bytes - tail) out[tail + threadIdx.x] = byte_at(tail + threadIdx.x);
  }

  const JoinRecordsArgs& args_;
  const JoinShared& shared_;
  const TableChunk* chunks_;  // of the call
  TableColumn own_{};         // number threadIdx.x
  std::uint32_t first_slot_;
  std::uint32_t records_;    // of a stretch, a multiple of kJoinRecordsEvenRecords
  std::uint32_t units_ = 0;  // all sizes of tuples: what divides this divides each of them
  SmallDivisor by_record_;
  PieceStep step_;
};

/// Chunks have `stretches` of so many records each, about: of longer ones a block takes each so many.
__global__ void __launch_bounds__(kJoinRecordsThreads, kBlocksPerSm)
    join_records_kernel(const __grid_constant__ JoinRecordsArgs args, std::uint32_t records,
                        std::uint32_t stretches) {
  device::start_successor();
  const JoinShared shared(device::dynamic_shared(), records, args);
  device::wait_for_predecessor();
  const RecordJoiner joiner(args, records, shared);
  __syncthreads();  // where bytes come from is known
  const std::uint64_t items = std::uint64_t{args.num_chunks} * stretches;
  for (std::uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto chunk = static_cast<std::uint32_t>(item / stretches);
    std::uint64_t first = item % stretches * records;
    while (joiner.join(chunk, first)) first += std::uint64_t{stretches} * records;
  }
}

}  // namespace

cudaError_t launch_join_records(const JoinRecordsArgs& args, std::uint64_t decoded_bytes,
                                cudaStream_t stream) {
  if (args.num_chunks == 0) return cudaSuccess;
  // As many as an H200 has room for, of records that are short.
  constexpr std::uint64_t kMostBlocks = 8 * 132, kMostStretches = 1 << 16;
  const std::uint32_t records = records_of_stretch(args.record_bytes);
  const std::uint64_t of_chunk = decoded_bytes / args.num_chunks / args.record_bytes;
  const auto stretches = static_cast<std::uint32_t>(
      std::clamp((of_chunk + records - 1) / records, std::uint64_t{1}, kMostStretches));
  const std::uint64_t items = std::uint64_t{args.num_chunks} * stretches;
  return device::launch_after_with<join_records_kernel>(
      static_cast<unsigned>(std::min(items, kMostBlocks)), kJoinRecordsThreads,
      JoinShared::bytes(records, args), stream, args, records, stretches);
}

}  // namespace gdelta::cuda
