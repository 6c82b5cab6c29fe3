// A slab, neighbouring lanes of a tile, on its way through shared memory: threads put a word or two of
// each of their tuples, and take vectors of 16 bytes to where the values go. What is stored is added to
// the check of its page on the way, a vector's words by Horner's rule and the vector by the power of its
// place.
#pragma once

#include <cstdint>

#include "kernels/checksum/page_check.cuh"
#include "kernels/checksum/part_check.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Rows, the lanes of one tuple each, one behind another. A word of padding follows every kRun rows, which
/// one thread writes: rows of `row_bytes` whose runs are whole vectors are then an odd number of words from
/// thread to thread, so that threads write to different banks, and vectors stay whole.
template <int kRun>
struct SlabStage {
  std::uint32_t* words;  // 16-byte aligned

  /// Bytes that a tile of so many rows takes, with what may lie before its first row, and those of full
  /// slabs (SlabCopy).
  GDELTA_HD static constexpr std::size_t bytes(std::size_t rows, std::size_t row_bytes) {
    const std::size_t padded = rows * row_bytes + 2 * 16 + 4 * (rows / kRun + 1);
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
        record_bytes_(task.record_bytes),
        row_bytes_((slab_end - slab) * ValueBytes),
        slab_(slab),
        slab_end_(slab_end),
        thread_(thread) {
    const auto address = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out_));
    alone_ = kHasAlone && row_bytes_ == record_bytes_ && kRun * row_bytes_ % 16 == 0 &&
             (row_bytes_ % 4 != 0 || address % 4 == 0);
    skew_ = alone_ ? address % 16 : 0;
    const unsigned all = address | record_bytes_ | row_bytes_;
    unit_ = all % 16 == 0 ? 16 : row_bytes_ % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
    full_ = kHasFull && unit_ == 16 && row_bytes_ == kFullBytes;
    if constexpr (kVerify) begin_check(task.tuple_bytes() / 4);
  }

  /// The run of tuples of this number, from `lane` on; `values` may have more lanes than the slab has.
  __device__ void put(Stage stage, const Word (&values)[kLanes][kRun], int lane, int number) const {
    const unsigned column = (lane - slab_) * ValueBytes;
    if constexpr (kHasFull) {
      if (full_) return put_full(stage, values, column, number);
    }
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      if (lane + i >= slab_end_) break;
      if constexpr (ValueBytes >= 4) {
        put_as<std::uint32_t>(stage, values[i], column + i * ValueBytes, number);
      } else if (ValueBytes == 2 && skew_ % 2 == 0) {
        put_as<std::uint16_t>(stage, values[i], column + i * ValueBytes, number);
      } else {
        put_as<unsigned char>(stage, values[i], column + i * ValueBytes, number);
      }
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
    tile_weight_ *= tile_step_;
  }

  /// This thread's part of the polynomial over the words of the page, if kVerify.
  __device__ std::uint64_t sum() const { return sum_; }

 private:
  // Full slabs, whose rows are two vectors, leave a vector of padding behind 256 bytes.
  static constexpr unsigned kFullBytes = 32, kFullRun = 8;
  static constexpr bool kHasFull = kRun == kFullRun && kLanes * ValueBytes % 4 == 0;
  // Where several lanes are put at once, slabs are full or a part of the record; the general way would only
  // take registers.
  static constexpr bool kHasAlone = kLanes == 1;
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
    std::uint64_t weight = tile_weight_;
#pragma unroll
    for (unsigned first = 0; first < kTileTuples; first += 16) {
      const unsigned row = first + thread_ / 2;
      if (row >= rows) break;
      const uint4 vector = *reinterpret_cast<const uint4*>(
          reinterpret_cast<const unsigned char*>(stage.words) + row / kFullRun * kFullRunBytes +
          row % kFullRun * kFullBytes + column);
      __stcs(
          reinterpret_cast<uint4*>(out_ + static_cast<std::uint64_t>(row) * record_bytes_ + column),
          vector);
      const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
      add(words, weight);
      if constexpr (kVerify) weight *= step_;
    }
  }

  // Values of less than four bytes may begin anywhere in the words that are stored.
  static constexpr bool kShifted = ValueBytes < 4;

  template <class Unit>
  __device__ void put_as(Stage stage, const Word (&run)[kRun], unsigned column, int number) const {
    const unsigned run_bytes = kRun * row_bytes_;
    unsigned at = skew_ + column;  // since the run's first vector
    unsigned char* const to = &stage.template at<unsigned char>(number * (run_bytes + 4));
#pragma unroll
    for (int tuple = 0; tuple < kRun; ++tuple) {
#pragma unroll
      for (int byte = 0; byte < ValueBytes; byte += sizeof(Unit)) {
        // Where there are bytes before the first row, fewer than 16, a row has four or more: only the last
        // four can lie behind the run's vectors.
        const bool behind = kHasAlone && tuple >= kRun - 4 && at + byte >= run_bytes;
        *reinterpret_cast<Unit*>(to + at + byte + (behind ? 4 : 0)) =
            static_cast<Unit>(run[tuple] >> (8 * byte));
      }
      at += row_bytes_;
    }
  }
  /// Where vectors lie in the stage, which has a word of padding behind those of each run.
  struct Vectors {
    // One by the vectors of a run: a fraction that is exact enough for numbers of vectors below 2^11.
    static constexpr unsigned kBits = 20;
    unsigned fraction;
    __device__ explicit Vectors(unsigned row_bytes)
        : fraction((1u << kBits) / (kRun * row_bytes / 16) + 1) {}
    /// In bytes, as `vector` is if there is no padding.
    __device__ unsigned at(unsigned vector) const {
      return vector + 4 * (vector / 16 * fraction >> kBits);
    }
  };

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
    std::uint64_t weight = tile_weight_;
#pragma unroll 4
    for (unsigned row = grid.row; row < rows; row += grid.rows_at_once) {
      const unsigned from = row * row_bytes_ + grid.column + 4 * (row / kRun);
      unsigned char* const to =
          out_ + static_cast<std::uint64_t>(row) * record_bytes_ + grid.column;
      if constexpr (sizeof(Unit) == 16) {
        const std::uint32_t* const w = &stage.template at<std::uint32_t>(from);
        const std::uint32_t words[4] = {w[0], w[1], w[2], w[3]};
        __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
        add(words, weight);
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
        add(words, weight);
      }
      if constexpr (kVerify) weight *= step_;
    }
  }

  /// Rows that lie one behind another in memory, too: vectors, and the bytes before the first and behind the
  /// last.
  __device__ void store_alone(Stage stage, unsigned rows) {
    const unsigned end = skew_ + rows * row_bytes_, whole_end = end & ~15u;
    unsigned char* const to = out_ - skew_;
    const Vectors vectors(row_bytes_);
    std::uint64_t weight = tile_weight_;
#pragma unroll 2
    for (unsigned at = 16 * thread_; at < end; at += 512) {
      const std::uint32_t* const w = &stage.template at<std::uint32_t>(vectors.at(at));
      std::uint32_t words[4] = {w[0], w[1], w[2], w[3]};
      const bool whole = at >= skew_ && at < whole_end;
      if (whole)
        __stcs(reinterpret_cast<uint4*>(to + at),
               make_uint4(words[0], words[1], words[2], words[3]));
      if constexpr (kVerify) {
        if (!whole) keep_part(words, static_cast<int>(skew_ - at), static_cast<int>(end - at));
        if constexpr (kShifted) {
          add_shifted(words, weight);
        } else {
          add(words, weight);
        }
        weight *= step_;
      }
    }
    if (skew_ != 0) store_bytes(stage, vectors, to, skew_, min(end, 16u), 0);
    if (whole_end != end && (whole_end > 0 || skew_ == 0))
      store_bytes(stage, vectors, to, 0, end, whole_end);
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
      tile_weight_ = power_of_base(4 * thread_) * (kShifted ? kBack : 1);
      for (unsigned word = 0; word < skew_ / 4; ++word) tile_weight_ *= kBack;
      step_ = check_power(128);
      tile_step_ = power_of_base(kTileTuples / 4 * row_bytes_);
    } else {
      const Grid grid(row_bytes_, unit_, thread_);
      tile_weight_ = power_of_base(grid.row * tuple_words + (slab_ * ValueBytes + grid.column) / 4);
      step_ = power_of_base(grid.rows_at_once * tuple_words);
      tile_step_ = power_of_base(kTileTuples * tuple_words);
    }
  }
  template <int kWords>
  __device__ void add(const std::uint32_t (&words)[kWords], std::uint64_t weight) {
    if constexpr (kVerify) {
      sum_ += run_polynomial(words) * weight;
    }
  }
  /// The page's words begin `skew_` bytes into those of the vector, modulo 4: the vector holds the
  /// end of one word and the beginning of another, too.
  __device__ void add_shifted(const std::uint32_t (&words)[4], std::uint64_t weight) {
    if constexpr (kVerify) {
      const unsigned shift = 8 * (skew_ & 3);
      const std::uint32_t pieces[5] = {
          __funnelshift_r(0, words[0], shift), __funnelshift_r(words[0], words[1], shift),
          __funnelshift_r(words[1], words[2], shift), __funnelshift_r(words[2], words[3], shift),
          words[3] >> shift};
      add(pieces, weight);
    }
  }

  unsigned char* out_;  // of the tile's first row
  unsigned record_bytes_, row_bytes_;
  int slab_, slab_end_;
  unsigned thread_;
  bool alone_;     // nothing lies between the rows
  bool full_;      // rows of whole vectors, as many as there can be
  unsigned skew_;  // bytes before the first row in the stage, so that vectors are aligned
  unsigned unit_;
  std::uint64_t tile_weight_ = 0, step_ = 0, tile_step_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace gdelta::cuda
