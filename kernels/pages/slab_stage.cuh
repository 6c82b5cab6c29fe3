// A slab, neighbouring lanes of a tile, on its way through shared memory: threads put a word or two of
// each of their tuples, and take vectors of 16 bytes to where the values go. What is stored is added to
// the check of its page on the way: what a thread stores of a tile by Horner's rule, the tile by the power of
// its place.
#pragma once

#include <cstdint>

#include "kernels/checksum/page_check.cuh"
#include "kernels/checksum/part_check.h"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Rows, the lanes of one tuple each, one behind another. Padding follows every kRun rows, which one thread
/// writes (SlabCopy).
template <int kRun>
struct SlabStage {
  std::uint32_t* words;  // 16-byte aligned

  /// Bytes that a tile of so many rows takes, with what may lie before its first row, and those of full
  /// slabs (SlabCopy).
  GDELTA_HD static constexpr std::size_t bytes(std::size_t rows, std::size_t row_bytes) {
    const std::size_t padded = rows * row_bytes + 16 + 16 * (rows / kRun);
    const std::size_t full = rows * row_bytes / 256 * 272;
    return ((padded > full ? padded : full) + 15) / 16 * 16;
  }

  template <class Unit>
  __device__ Unit& at(unsigned byte) const {
    return *reinterpret_cast<Unit*>(reinterpret_cast<unsigned char*>(words) + byte);
  }
};

/// Moves a slab of a page from the stage to its place, tile after tile of kTileTuples, of which a thread has kRun.
template <int ValueBytes, int kTileTuples, int kRun, int kLanes, bool kVerify>
class SlabCopy {
 public:
  using Stage = SlabStage<kRun>;
  using Word = WordOf<ValueBytes>;

  /// Stores lanes [slab, slab_end) of the page.
  __device__ SlabCopy(const ColumnTask& task, const PageView& page, int slab, int slab_end,
                      int thread)
      : out_(task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes +
             slab * ValueBytes),
        record_bytes_(device::warp_uniform(task.record_bytes)),
        row_bytes_((slab_end - slab) * ValueBytes),
        slab_(slab),
        slab_end_(slab_end),
        thread_(thread) {
    const unsigned address =
        device::warp_uniform(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out_)));
    alone_ = row_bytes_ == record_bytes_ && kRun * row_bytes_ % 16 == 0 &&
             (row_bytes_ % 4 != 0 || address % 4 == 0);
    skew_ = alone_ ? address % 16 : 0;
    pad_ = padding(kRun * row_bytes_);
    const unsigned all = address | record_bytes_ | row_bytes_;
    unit_ = all % 16 == 0 ? 16 : row_bytes_ % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
    full_ = kHasFull && unit_ == 16 && row_bytes_ == kFullBytes;
    if constexpr (kVerify) begin_check(device::warp_uniform<unsigned>(task.tuple) * ValueBytes / 4);
  }

  /// The run of tuples of this number, from `lane` on; `values` may have more lanes than the slab has.
  __device__ void put(Stage stage, const Word (&values)[kLanes][kRun], int lane, int number) const {
    const unsigned column = (lane - slab_) * ValueBytes;
    if constexpr (kHasFull) {
      if (full_) return put_full(stage, values, column, number);
    }
    if (skew_ == 0) {
      if constexpr (kHasWords) {
        if (row_bytes_ % 4 == 0) return put_words(stage, values, column, number);
      }
      put_lanes<kUnit, false>(stage, values, lane, number);
    } else if (kUnit == 1 || skew_ % kUnit != 0) {
      put_lanes<ValueBytes >= 4 ? 4 : 1, true>(stage, values, lane, number);
    } else {
      put_lanes<kUnit, true>(stage, values, lane, number);
    }
  }

  /// The first `rows` of a tile that is whole in the stage; the next call is for the tile behind it.
  __device__ void store(Stage stage, unsigned rows) {
    if (full_) {
      store_full(stage, rows);
    } else if (alone_) {
      store_alone(stage, rows);
    } else if (unit_ == 16) {
      store_rows<uint4>(stage, rows);
    } else if (unit_ == 4) {
      store_rows<std::uint32_t>(stage, rows);
    } else if (unit_ == 2) {
      store_rows<std::uint16_t>(stage, rows);
    } else {
      store_rows<unsigned char>(stage, rows);
    }
    out_ += static_cast<std::uint64_t>(kTileTuples) * record_bytes_;
  }

  /// This thread's part of the polynomial over the words of the page, if kVerify.
  __device__ std::uint64_t sum() const { return sum_; }

 private:
  static constexpr unsigned kMostRowBytes = 64;
  // Full slabs, whose rows are two vectors, leave a vector of padding behind 256 bytes.
  static constexpr unsigned kFullBytes = 32, kFullRun = 8;
  static constexpr bool kHasFull = kRun == kFullRun && kLanes * ValueBytes % 4 == 0;
  static constexpr unsigned kFullRunBytes = kFullRun * kFullBytes + 16;

  __device__ void put_full(Stage stage, const Word (&values)[kLanes][kRun], unsigned column,
                           int number) const {
    constexpr int kTupleWords = kLanes * ValueBytes / 4;
    std::uint32_t words[kRun * kTupleWords];
    pack_run<ValueBytes, kLanes>(values, words);
    unsigned char* const to =
        reinterpret_cast<unsigned char*>(stage.words) + kFullRunBytes * number + column;
#pragma unroll
    for (int tuple = 0; tuple < kRun; ++tuple) {
      const std::uint32_t* const from = words + kTupleWords * tuple;
      if constexpr (kTupleWords == 2) {
        *reinterpret_cast<uint2*>(to + kFullBytes * tuple) = make_uint2(from[0], from[1]);
      } else {
        *reinterpret_cast<std::uint32_t*>(to + kFullBytes * tuple) = from[0];
      }
    }
  }
  __device__ void store_full(Stage stage, unsigned rows) {
    const unsigned column = thread_ % 2 * 16;
    std::uint64_t of_tile = 0;
    const auto store_row = [&](unsigned row) {
      const uint4 vector = *reinterpret_cast<const uint4*>(
          reinterpret_cast<const unsigned char*>(stage.words) + row / kFullRun * kFullRunBytes +
          row % kFullRun * kFullBytes + column);
      __stcs(
          reinterpret_cast<uint4*>(out_ + static_cast<std::uint64_t>(row) * record_bytes_ + column),
          vector);
      const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
      add(words, of_tile);
    };
    const unsigned first_row = thread_ / 2;
    if (rows == kTileTuples) {
#pragma unroll
      for (int first = kTileTuples - 16; first >= 0; first -= 16) {
        if constexpr (kVerify) of_tile *= step_;
        store_row(first + first_row);
      }
    } else {
#pragma unroll 1
      for (int first = kTileTuples - 16; first >= 0; first -= 16) {
        if constexpr (kVerify) of_tile *= step_;
        if (first + first_row < rows) store_row(first + first_row);
      }
    }
    add_tile(of_tile);
  }

  // Values of less than four bytes may begin anywhere in the words that are stored.
  static constexpr bool kShifted = ValueBytes < 4;
  static constexpr int kUnit = ValueBytes == 3 ? 1 : ValueBytes;  // what values are put as
  // Threads have words of neighbouring lanes of short values.
  static constexpr bool kHasWords = kLanes > 1 && ValueBytes < 4 && kLanes* ValueBytes % 4 == 0;

  /// Bytes behind the rows of a run. Rows that are an odd number of vectors from thread to thread meet eight
  /// different banks, and vectors stay whole; those of bytes are an odd number of words apart.
  __device__ static unsigned padding(unsigned run_bytes) {
    if (!kWholeVectors || run_bytes % 16 != 0) return 4;
    return run_bytes % 32 == 0 ? 16 : 0;
  }
  static constexpr bool kWholeVectors = ValueBytes > 1;

  /// Lanes one by one, by units of kBytes; kSkewed: there are bytes before the first row.
  template <int kBytes, bool kSkewed>
  __device__ void put_lanes(Stage stage, const Word (&values)[kLanes][kRun], int lane,
                            int number) const {
    using Unit = std::conditional_t<
        kBytes == 8, std::uint64_t,
        std::conditional_t<kBytes == 4, std::uint32_t,
                           std::conditional_t<kBytes == 2, std::uint16_t, unsigned char>>>;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      if (lane + i >= slab_end_) break;
      put_as<Unit, kSkewed>(stage, values[i], (lane + i - slab_) * ValueBytes, number);
    }
  }
  template <class Unit, bool kSkewed>
  __device__ void put_as(Stage stage, const Word (&run)[kRun], unsigned column, int number) const {
    const unsigned run_bytes = kRun * row_bytes_;
    unsigned at = skew_ + column;  // since the run's first vector
    unsigned char* to = &stage.template at<unsigned char>(number * (run_bytes + pad_) + at);
#pragma unroll
    for (int tuple = 0; tuple < kRun; ++tuple) {
#pragma unroll
      for (int byte = 0; byte < ValueBytes; byte += sizeof(Unit)) {
        // Where there are bytes before the first row, fewer than 16, a row has four or more: only the last
        // four can lie behind the run's vectors.
        const bool behind = kSkewed && tuple >= kRun - 4 && at + byte >= run_bytes;
        *reinterpret_cast<Unit*>(to + byte + (behind ? pad_ : 0)) =
            static_cast<Unit>(run[tuple] >> (8 * byte));
      }
      at += row_bytes_;
      to += row_bytes_;
    }
  }
  /// All lanes of a thread as far as they are there, which end with a word.
  __device__ void put_words(Stage stage, const Word (&values)[kLanes][kRun], unsigned column,
                            int number) const {
    constexpr int kTupleWords = kLanes * ValueBytes / 4;
    std::uint32_t words[kRun * kTupleWords];
    pack_run<ValueBytes, kLanes>(values, words);
    unsigned char* to =
        &stage.template at<unsigned char>(number * (kRun * row_bytes_ + pad_) + column);
#pragma unroll
    for (int tuple = 0; tuple < kRun; ++tuple) {
#pragma unroll
      for (int word = 0; word < kTupleWords; ++word) {
        if (column + 4 * word < row_bytes_)
          *reinterpret_cast<std::uint32_t*>(to + 4 * word) = words[kTupleWords * tuple + word];
      }
      to += row_bytes_;
    }
  }
  /// Where vectors lie in the stage, which has padding behind those of each run.
  struct Vectors {
    // One by the vectors of a run: exact enough if their product with the vectors of a tile is below 2^20.
    static constexpr unsigned kBits = 20;
    static_assert(kTileTuples * kRun <= (32 << 10));
    unsigned fraction, pad;
    __device__ Vectors(unsigned row_bytes, unsigned of_run)
        : fraction((1u << kBits) / (kRun * row_bytes / 16) + 1), pad(of_run) {}
    /// In bytes, as `vector` is if there is no padding.
    __device__ unsigned at(unsigned vector) const {
      return vector + pad * (vector / 16 * fraction >> kBits);
    }
  };
  /// A vector of the stage.
  __device__ static void read_vector(Stage stage, unsigned at, std::uint32_t (&words)[4]) {
    if constexpr (kWholeVectors) {
      const uint4 vector = stage.template at<uint4>(at);
      words[0] = vector.x, words[1] = vector.y, words[2] = vector.z, words[3] = vector.w;
    } else {
      const std::uint32_t* const w = &stage.template at<std::uint32_t>(at);
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = w[i];
    }
  }

  /// Where a thread finds its units of a slab's rows: neighbours take neighbours, and each stays in its
  /// column.
  struct Grid {
    unsigned row, column, rows_at_once;  // column in bytes
    __device__ Grid(unsigned row_bytes, unsigned unit, unsigned thread) {
      const unsigned units = row_bytes / unit;
      row = thread / units;
      column = thread % units * unit;
      rows_at_once = 32 / units;
      if (row >= rows_at_once) row = ~0u / 2;  // has none
    }
  };

  template <class Unit>
  __device__ void store_rows(Stage stage, unsigned rows) {
    const Grid grid(row_bytes_, sizeof(Unit), thread_);
    std::uint64_t of_tile = 0;
    const auto store_row = [&](unsigned row) {
      const unsigned from = row * row_bytes_ + grid.column + pad_ * (row / kRun);
      unsigned char* const to =
          out_ + static_cast<std::uint64_t>(row) * record_bytes_ + grid.column;
      if constexpr (sizeof(Unit) == 16) {
        std::uint32_t words[4];
        read_vector(stage, from, words);
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        add(words, of_tile);
      } else {
        const Unit value = stage.template at<Unit>(from);
        if (sizeof(Unit) < 4 || is_aligned(to, sizeof(Unit))) {
          *reinterpret_cast<Unit*>(to) = value;
        } else {
#pragma unroll
          for (unsigned b = 0; b < sizeof(Unit); ++b)
            to[b] = static_cast<unsigned char>(value >> (8 * b));
        }
        const std::uint32_t words[1] = {value};
        add(words, of_tile);
      }
    };
    if constexpr (kVerify) {  // from the last to the first
      if (grid.row < rows) {
        const unsigned last = (rows - 1 - grid.row) / grid.rows_at_once;
#pragma unroll 4
        for (int turn = static_cast<int>(last); turn >= 0; --turn) {
          of_tile *= step_;
          store_row(grid.row + turn * grid.rows_at_once);
        }
      }
      add_tile(of_tile);
    } else {
#pragma unroll 4
      for (unsigned row = grid.row; row < rows; row += grid.rows_at_once) store_row(row);
    }
  }

  /// Rows that lie one behind another in memory, too: vectors, and the bytes before the first and behind the
  /// last.
  __device__ void store_alone(Stage stage, unsigned rows) {
    const unsigned end = skew_ + rows * row_bytes_, whole_end = end & ~15u;
    unsigned char* const to = out_ - skew_;
    const Vectors vectors(row_bytes_, pad_);
    if constexpr (kVerify) {
      add_tile(store_checked(stage, vectors, to, end));
    } else {
#pragma unroll 4
      for (unsigned at = (skew_ == 0 ? 0 : 16) + 16 * thread_; at < whole_end; at += 512)
        store_vector(stage, vectors, to, at);
    }
    if (skew_ != 0) store_bytes(stage, vectors, to, skew_, min(end, 16u), 0);
    if (whole_end != end && (whole_end > 0 || skew_ == 0))
      store_bytes(stage, vectors, to, 0, end, whole_end);
  }
  /// Stores the vectors of bytes [skew_, end) that are whole, and returns the thread's sum of all of them.
  __device__ std::uint64_t store_checked(Stage stage, const Vectors& vectors, unsigned char* to,
                                         unsigned end) const {
    std::uint64_t of_tile = 0;
    auto at = static_cast<int>(16 * thread_);
    at += (static_cast<int>(end) - 1 - at) & ~511;
    // From the last to the first.
    if (skew_ == 0 && end % 16 == 0) {
#pragma unroll 2
      for (; at >= 0; at -= 512) {
        std::uint32_t words[4];
        of_tile *= step_;
        store_vector(stage, vectors, to, at, words);
        add(words, of_tile);
      }
      return of_tile;
    }
#pragma unroll 1
    for (; at >= 0; at -= 512) {
      std::uint32_t words[4];
      of_tile *= step_;
      if (at >= static_cast<int>(skew_) && at + 16 <= static_cast<int>(end)) {
        store_vector(stage, vectors, to, at, words);
      } else {
        read_vector(stage, vectors.at(at), words);
        keep_part(words, static_cast<int>(skew_) - at, static_cast<int>(end) - at);
      }
      if (kShifted && skew_ % 4 != 0) {
        add_shifted(words, of_tile);
      } else {
        add(words, of_tile);
      }
    }
    return of_tile;
  }
  __device__ static void store_vector(Stage stage, const Vectors& vectors, unsigned char* to,
                                      unsigned at, std::uint32_t (&words)[4]) {
    read_vector(stage, vectors.at(at), words);
    __stcs(reinterpret_cast<uint4*>(to + at), make_uint4(words[0], words[1], words[2], words[3]));
  }
  __device__ static void store_vector(Stage stage, const Vectors& vectors, unsigned char* to,
                                      unsigned at) {
    std::uint32_t words[4];
    store_vector(stage, vectors, to, at, words);
  }
  /// Bytes [begin, end) as far as they are in the vector that begins at `vector`.
  __device__ void store_bytes(Stage stage, const Vectors& vectors, unsigned char* to,
                              unsigned begin, unsigned end, unsigned vector) const {
    const unsigned at = vector + thread_;
    if (thread_ < 16 && at >= begin && at < end)
      to[at] = stage.template at<unsigned char>(vectors.at(vector) + thread_);
  }
  /// Zeroes what is not in bytes [begin, end) of a vector, which may be negative or beyond it.
  __device__ static void keep_part(std::uint32_t (&words)[4], int begin, int end) {
    keep_bytes(words, end);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int gone = begin - 4 * i;
      if (gone >= 4) words[i] = 0;
      if (gone > 0 && gone < 4) words[i] &= ~0u << (8 * gone);
    }
  }

  __device__ static bool is_aligned(const void* p, unsigned to) {
    return (reinterpret_cast<std::uintptr_t>(p) & (to - 1)) == 0;
  }

  // ---- The check

  /// Words of the page lie `tuple_words` apart from tuple to tuple.
  __device__ void begin_check(unsigned tuple_words) {
    if (alone_ && !full_) {
      constexpr std::uint64_t kBack = inverse_of(kCheckBase);
      tile_weight_ =
          small_power<check_power(4)>(thread_) * (kShifted && skew_ % 4 != 0 ? kBack : 1);
      for (unsigned word = 0; word < skew_ / 4; ++word) tile_weight_ *= kBack;
      step_ = check_power(128);
      static_assert(kMostRowBytes < 128);
      tile_step_ = small_power<check_power(kTileTuples / 4), 7>(row_bytes_);
    } else {
      const Grid grid(row_bytes_, unit_, thread_);
      tile_weight_ = power_of_base(grid.row * tuple_words + (slab_ * ValueBytes + grid.column) / 4);
      step_ = power_of_base(grid.rows_at_once * tuple_words);
      tile_step_ = power_of_base(kTileTuples * tuple_words);
    }
  }
  /// Adds words to the thread's sum of a tile, which counts from its first word on.
  template <int kWords>
  __device__ static void add(const std::uint32_t (&words)[kWords], std::uint64_t& of_tile) {
    if constexpr (kVerify) of_tile += run_polynomial(words);
  }
  __device__ void add_tile(std::uint64_t of_tile) {
    if constexpr (kVerify) {
      sum_ += of_tile * tile_weight_;
      tile_weight_ *= tile_step_;
    }
  }
  /// The page's words begin `skew_` bytes into those of the vector, modulo 4: the vector holds the
  /// end of one word and the beginning of another, too.
  __device__ void add_shifted(const std::uint32_t (&words)[4], std::uint64_t& of_tile) const {
    if constexpr (kVerify) {
      const unsigned shift = 8 * (skew_ & 3);
      const std::uint32_t pieces[5] = {
          __funnelshift_r(0, words[0], shift), __funnelshift_r(words[0], words[1], shift),
          __funnelshift_r(words[1], words[2], shift), __funnelshift_r(words[2], words[3], shift),
          words[3] >> shift};
      add(pieces, of_tile);
    }
  }

  unsigned char* out_;  // of the tile's first row
  unsigned record_bytes_, row_bytes_;
  int slab_, slab_end_;
  unsigned thread_;
  bool alone_;     // nothing lies between the rows
  bool full_;      // rows of whole vectors, as many as there can be
  unsigned skew_;  // bytes before the first row in the stage, so that vectors are aligned
  unsigned pad_;
  unsigned unit_;
  std::uint64_t tile_weight_ = 0, step_ = 0, tile_step_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace gdelta::cuda
