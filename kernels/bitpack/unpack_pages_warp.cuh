// A warp decodes a page, tile by tile. Of each lane a tile takes a strip: two groups, 256 values, or
// four. Half a warp, or a quarter, unpacks a group, so that every thread holds 8 or 16 consecutive
// residuals of each lane, sums them in registers, and stores whole tuples through shared memory.
//
// Sums are made of the primitives of kernels/scan: `step` walks a run, `scan_threads` crosses the
// warp. The order q is q rounds of order 1, which leaves it a run-time number. One round for all
// orders, with the matrices of carry_matrix.h, was measured instead (docs/pages.md): 1 to 4 % faster
// for one lane of order 2, up to 22 % slower for several lanes, which keep a warp busy by themselves
// and have no registers for it. Between pages nothing is carried: they store their states.
//
// Bytes of the groups travel to shared memory by asynchronous copies of 16 bytes, up to three strips
// ahead. A page starts at any byte: the copies are aligned, and the misalignment is a constant number
// of bits added to the position of every field. Warps draw tickets for their pages, because not all
// are equally fast. A warp fetches what a page's column says and where the page lies two pages ahead
// and its states and descriptors one page ahead, so that it does not wait for one before it can ask
// for the next.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "formats/gdelta/chunk_head.h"
#include "kernels/bitpack/finish_value.cuh"
#include "kernels/bitpack/page_search.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/chunk/launch_after.cuh"
#include "kernels/delta/zigzag.h"
#include "kernels/scan/ptx.cuh"
#include "kernels/scan/warp_scan.cuh"

namespace gdelta::cuda {

using format::GroupDescriptor;

// ---- Policy: changes speed, never bytes

struct UnpackWarpPolicy {
  int warps_per_block;
  int blocks_per_sm;  // registers are kept low enough for so many
  int strips_ahead;   // on their way while one is unpacked
  int run_tuples;     // consecutive tuples of a thread: 8 or 16
};
constexpr UnpackWarpPolicy unpack_warp_policy(int value_bytes, int tuple) {
  // Shared memory has no room for more strips of 8-byte values.
  if (value_bytes == 8) return {2, tuple == 1 ? 10 : tuple == 2 ? 9 : tuple == 3 ? 8 : 6, 1, 8};
  // Runs of 16 for one lane: 2 % faster than 8 with three strips ahead, 17 % with exceptions.
  if (tuple == 1) return {4, 6, 1, 16};
  // As many blocks as do not spill; three strips against one: 5 to 9 % faster (docs/pages.md).
  return {4, tuple == 2 ? 6 : 5, 3, 8};
}

// ---- Shared memory

inline constexpr int kStagedBytes = 512;  // of exceptions: one copy of 16 bytes a thread

template <int ValueBytes, int Tuple>
struct UnpackWarpShape {
  static constexpr UnpackWarpPolicy kPolicy = unpack_warp_policy(ValueBytes, Tuple);
  static constexpr int kRunTuples = kPolicy.run_tuples;
  static constexpr int kTileTuples = 32 * kRunTuples;
  static constexpr int kGroupThreads = 128 / kRunTuples;  // that share a group
  static constexpr int kStripGroups = kTileTuples / 128;
  static constexpr int kRunBytes = kRunTuples * Tuple * ValueBytes;
  static constexpr int kPieceBytes = kRunBytes % 16 == 0 ? 16 : 8;  // what a thread stores at once
  static constexpr int kRunPieces = kRunBytes / kPieceBytes;
  static constexpr int kStripWords = kStripGroups * 16 * 8 * ValueBytes / 4;  // of full width
  // Behind the strip: its misalignment, one word that the last field may touch, three zero words
  // that stand for the fields of a group of width 0.
  static constexpr int kZeroWord = kStripWords + 5;
  static constexpr int kBitWords = kStripWords + 8;
  static constexpr int kFetchRounds = (kStripWords / 4 + 1 + 31) / 32;
  static constexpr int kStripBuffers = kPolicy.strips_ahead + 1;
};

/// States and descriptors of a page with their misalignment, in whole copies of 16 bytes.
template <int ValueBytes, int Tuple>
inline constexpr int kPageHeadBytes = (Tuple * 8 * ValueBytes + 2 * kWarpPathGroups + 15 + 15) /
                                      16 * 16;

/// A tile on its way out, and what exceptions add to a strip, each value where its thread finds it.
template <int ValueBytes, int Tuple>
struct UnpackTileShared {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  alignas(16) WordOf<ValueBytes> patch[Shape::kTileTuples];
  alignas(16) unsigned char tile[Shape::kTileTuples * Tuple * ValueBytes];
};
/// With one lane the tile has been stored before the next strip comes.
template <int ValueBytes>
struct UnpackTileShared<ValueBytes, 1> {
  using Shape = UnpackWarpShape<ValueBytes, 1>;
  union {
    alignas(16) WordOf<ValueBytes> patch[Shape::kTileTuples];
    alignas(16) unsigned char tile[Shape::kTileTuples * ValueBytes];
  };
};

template <int ValueBytes, int Tuple>
struct UnpackWarpShared : UnpackTileShared<ValueBytes, Tuple> {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  // Of this page and the two behind it:
  alignas(16) unsigned char tasks[3][sizeof(ColumnTask)];
  std::uint32_t ends[3][4];  // words of the directory that hold a page's end and the one before
  alignas(16) unsigned char head[3][kPageHeadBytes<ValueBytes, Tuple>];
  alignas(16) std::uint32_t bits[Shape::kStripBuffers][Shape::kBitWords];
  alignas(16) unsigned char exceptions[kStagedBytes];  // of the page, where they are no more
};

// ---- Device functions, smallest first

/// The thread's number in its warp, kept in a register: reading it again would cost more.
__device__ inline int thread_of_warp() {
  int thread;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(thread));
  return thread;
}

/// Where a group's fields are in the buffer of its strip, in one word so that one shuffle brings it.
struct FieldPlace {
  std::uint32_t word;
  __device__ static FieldPlace make(int width, std::uint32_t first_bit) {
    return {static_cast<std::uint32_t>(width) | (first_bit << 7)};
  }
  __device__ int width() const { return word & 0x7f; }
  __device__ std::uint32_t first_bit() const { return word >> 7; }
};

/// What has to be fetched for a strip, in one word likewise.
struct StripPlace {
  std::uint32_t word;
  __device__ static StripPlace make(int units, std::uint32_t units_before) {
    return {static_cast<std::uint32_t>(units) | (units_before << 16)};
  }
  __device__ int units() const { return word & 0xffff; }  // of 16 bytes
  __device__ std::uint32_t units_before() const { return word >> 16; }
};

/// Where a group's exceptions are among those of the page, in one word likewise.
struct ExceptionPlace {
  std::uint32_t word;
  __device__ static ExceptionPlace make(GroupDescriptor group, std::uint32_t bytes_before) {
    return {bytes_before | (group.bits >> 7 << 16)};
  }
  __device__ std::uint32_t bytes_before() const { return word & 0xffff; }
  __device__ int count() const { return (word >> 16) & 0x7f; }
  __device__ int log2_high_bytes() const { return word >> 23; }
};

/// Where residual `position` of group `part` of a strip keeps its patch: thread after thread, in
/// vectors of 16 bytes that a warp reads without bank conflicts.
template <class Word, int Run>
__device__ inline int patch_slot(int part, std::uint32_t position) {
  constexpr int kVector = 16 / sizeof(Word);
  const int thread = 128 / Run * part + position / Run, i = position % Run;
  return (i / kVector) * (32 * kVector) + thread * kVector + i % kVector;
}

template <class Word>
__device__ inline void add_patch(Word* slot, Word bits) {
  auto* words = reinterpret_cast<unsigned*>(slot);
  atomicOr(words, static_cast<unsigned>(bits));
  if constexpr (sizeof(Word) == 8) atomicOr(words + 1, static_cast<unsigned>(bits >> 32));
}

/// What the exceptions of a group add to its residuals, by the threads that share it: with
/// z = low | high << width and width > 0, undoing zigzag gives that of `low` XOR
/// high << (width - 1); with width 0 it is that of `high` alone, which is left to the reader.
/// Returns whether all positions are in the group.
template <class Word, int Run>
__device__ inline bool scatter_exceptions(Word* patch, const unsigned char* exceptions,
                                          ExceptionPlace place, int width, Word value_bits,
                                          int thread) {
  constexpr int kGroupThreads = 128 / Run;
  bool valid = true;
  const unsigned char* positions = exceptions + place.bytes_before();
  const int log2_bytes = place.log2_high_bytes(), count = place.count();
#pragma unroll 1
  for (int index = thread % kGroupThreads; index < count; index += kGroupThreads) {
    const std::uint32_t position = positions[index];
    const unsigned char* bytes = positions + count + (index << log2_bytes);
    Word high = bytes[0];
#pragma unroll 1  // seldom more than one: short code is worth more
    for (int i = 1; i < 1 << log2_bytes; ++i) high |= static_cast<Word>(bytes[i]) << (8 * i);
    high = width == 0 ? high & value_bits : (high << (width - 1)) & (value_bits >> 1);
    valid &= position < 128;
    if (position < 128)
      add_patch(&patch[patch_slot<Word, Run>(thread / kGroupThreads, position)], high);
  }
  return valid;
}

/// Zigzag undone for the field that starts `shift` (0 ... 31) bits into words[0]; `half_mask` is
/// the field's mask without its top bit. The sign is the field's lowest bit, moved to the top of its
/// word, by a product with `to_top` = 2^(31 - shift) because shifts are what there is most of, and
/// down again; the rest is read a bit further up.
template <class Word>
__device__ inline Word read_residual(const std::uint32_t* words, unsigned shift,
                                     std::uint32_t to_top, Word half_mask) {
  const std::uint32_t w0 = words[0], w1 = words[1];
  const auto sign = static_cast<std::int32_t>(w0 * to_top) >> 31;
  const std::uint32_t low = __funnelshift_rc(w0, w1, shift + 1);
  if constexpr (sizeof(Word) == 4) {
    return (low & half_mask) ^ static_cast<std::uint32_t>(sign);
  } else {
    const Word high = __funnelshift_rc(w1, words[2], shift + 1);
    return ((low | (high << 32)) & half_mask) ^ static_cast<Word>(static_cast<std::int64_t>(sign));
  }
}

/// The thread's run of a strip whose bytes are `bits`. Neighbouring values of eight lie 16 fields
/// apart; every other one of them starts at one bit of its word.
template <class Word, int Run>
__device__ inline void read_run(const std::uint32_t* bits, FieldPlace place, Word (&run)[Run],
                                int thread) {
  const int width = place.width();
  const Word half_mask = (Word{1} << ((width - 1) & (8 * sizeof(Word) - 1))) - 1;
#pragma unroll
  for (int eight = 0; eight < Run; eight += 8) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int field = Run / 8 * (thread % (128 / Run)) + eight / 8 + 16 * odd;
      const unsigned bit = place.first_bit() + field * width;
      const std::uint32_t* words = bits + (bit >> 5);
      const std::uint32_t to_top = 0x80000000u >> (bit & 31);
#pragma unroll
      for (int i = eight + odd; i < eight + 8; i += 2) {
        run[i] = read_residual<Word>(words, bit & 31, to_top, half_mask);
        words += width;
      }
    }
  }
}

/// Makes the thread's patches zero.
template <class Word, int Run>
__device__ inline void clear_patches(Word* patch, int thread) {
  constexpr int kVector = 16 / sizeof(Word);
#pragma unroll
  for (int i = 0; i < Run; i += kVector)
    reinterpret_cast<uint4*>(patch + 32 * i)[thread] = make_uint4(0, 0, 0, 0);
}

/// Applies the thread's patches.
template <class Word, int Run>
__device__ inline void take_patches(const Word* patch, Word (&run)[Run], bool zigzagged,
                                    int thread) {
  constexpr int kVector = 16 / sizeof(Word);
#pragma unroll
  for (int i = 0; i < Run; i += kVector) {
    union {
      uint4 all;
      Word words[kVector];
    } read;
    read.all = reinterpret_cast<const uint4*>(patch + 32 * i)[thread];
    if (zigzagged) {
#pragma unroll
      for (int j = 0; j < kVector; ++j) read.words[j] = zigzag_decode(read.words[j]);
    }
#pragma unroll
    for (int j = 0; j < kVector; ++j) run[i + j] ^= read.words[j];
  }
}

/// One sum of order 1 over the warp's residuals of each of several lanes, side by side. Thread k
/// keeps y(k+1) of a lane's state.
template <class Word, int Lanes, int Run>
__device__ inline void sum_tile(Word (&runs)[Lanes][Run], Word (&states)[Lanes], int k,
                                int thread) {
  using Algebra = scan::SumAlgebra<Word, Word>;
  Word own[Lanes], sums[Lanes];
#pragma unroll
  for (int lane = 0; lane < Lanes; ++lane) {
    own[lane] = 0;
#pragma unroll
    for (int i = 0; i < Run; ++i) scan::step<Algebra, 1>(runs[lane][i], own + lane);
    sums[lane] = own[lane];
  }
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
#pragma unroll
    for (int lane = 0; lane < Lanes; ++lane) scan::add_from_below(sums[lane], distance);
  }
#pragma unroll
  for (int lane = 0; lane < Lanes; ++lane) {
    const Word carry = __shfl_sync(kWholeWarp, states[lane], k);
    const Word after = carry + __shfl_sync(kWholeWarp, sums[lane], 31);
    if (thread == k) states[lane] = after;
    Word state = carry + (sums[lane] - own[lane]);
#pragma unroll
    for (int i = 0; i < Run; ++i) {
      scan::step<Algebra, 1>(runs[lane][i], &state);
      runs[lane][i] = state;
    }
  }
}

/// The tuples of a thread as bytes in memory order.
template <int ValueBytes, int Tuple, int Run>
__device__ inline void pack_run(const WordOf<ValueBytes> (&values)[Tuple][Run],
                                std::uint32_t* words) {
  constexpr int kValues = Run * Tuple;
#pragma unroll
  for (int word = 0; word < kValues * ValueBytes / 4; ++word) words[word] = 0;
#pragma unroll
  for (int n = 0; n < kValues; ++n) {
    const auto value = values[n % Tuple][n / Tuple];
    const int bit = 8 * ValueBytes * n, word = bit / 32, shift = bit % 32;
    if constexpr (ValueBytes == 8) {
      words[word] = static_cast<std::uint32_t>(value);
      words[word + 1] = static_cast<std::uint32_t>(value >> 32);
    } else {
      const std::uint32_t kept = value & (0xffffffffu >> (32 - 8 * ValueBytes));
      words[word] |= kept << shift;
      if (shift + 8 * ValueBytes > 32) words[word + 1] |= kept >> (32 - shift);
    }
  }
}

/// Where a piece of the tile lies in shared memory: neighbouring pieces of a thread are spread so
/// that eight threads that write and eight that read hit different banks.
template <int RunPieces>
__device__ inline int piece_slot(int piece) {
  return RunPieces % 2 == 0 ? piece ^ ((piece >> 3) & 7) : piece;
}

/// Piece `i` of the thread's run; where runs are powers of two, `i` is in bits of its own.
template <int RunPieces>
__device__ inline int piece_slot(int thread, int i) {
  if constexpr (RunPieces == 2 || RunPieces == 4 || RunPieces == 8)
    return piece_slot<RunPieces>(RunPieces * thread) ^ i;
  return piece_slot<RunPieces>(RunPieces * thread + i);
}

template <int ValueBytes, int Tuple>
__device__ inline void store_tile_bytes(const unsigned char* tile, unsigned char* out,
                                        std::uint32_t tuples, std::uint32_t record_bytes,
                                        int thread) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr std::uint32_t kTupleBytes = ValueBytes * Tuple;
  const auto piece_byte = [](std::uint32_t at) {
    return piece_slot<Shape::kRunPieces>(at / Shape::kPieceBytes) * Shape::kPieceBytes +
           at % Shape::kPieceBytes;
  };
  const auto aligned_to = [&](std::uint32_t bytes) {
    return ((reinterpret_cast<std::uintptr_t>(out) | record_bytes) & (bytes - 1)) == 0;
  };
  const auto copy = [&](auto unit) {
    using Unit = decltype(unit);
    constexpr std::uint32_t kUnits = kTupleBytes / sizeof(Unit);
#pragma unroll 1
    for (std::uint32_t n = thread; n < tuples * kUnits; n += 32) {
      *reinterpret_cast<Unit*>(out + static_cast<std::uint64_t>(n / kUnits) * record_bytes +
                               n % kUnits * sizeof(Unit)) =
          *reinterpret_cast<const Unit*>(tile + piece_byte(n * sizeof(Unit)));
    }
  };
  if (record_bytes == kTupleBytes && (reinterpret_cast<std::uintptr_t>(out) & 3) == 0) {
    const std::uint32_t bytes = tuples * kTupleBytes;
    std::uint32_t at = 4 * thread;
#pragma unroll 4
    for (; at + 4 <= bytes; at += 128) {
      *reinterpret_cast<std::uint32_t*>(out + at) =
          *reinterpret_cast<const std::uint32_t*>(tile + piece_byte(at));
    }
#pragma unroll 1
    for (; at < bytes; ++at) out[at] = tile[piece_byte(at)];
    return;
  }
  if constexpr (kTupleBytes % 4 == 0) {
    if (aligned_to(4)) return copy(std::uint32_t{});
  }
  if constexpr (kTupleBytes % 2 == 0) {
    if (aligned_to(2)) return copy(std::uint16_t{});
  }
  copy(static_cast<unsigned char>(0));
}

/// Stores a tile of which all is wanted to where its bytes are neighbours and aligned to pieces.
template <int ValueBytes, int Tuple>
__device__ inline void store_whole_tile(const unsigned char* tile, unsigned char* out, int thread) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  using Piece = std::conditional_t<Shape::kPieceBytes == 16, uint4, uint2>;
  const auto* pieces = reinterpret_cast<const Piece*>(tile);
  auto* to = reinterpret_cast<Piece*>(out) + thread;
  // The slot of piece 32 i + thread, in which only bit 2 depends on i.
  const int spread = Shape::kRunPieces % 2 == 0 ? thread ^ (thread >> 3) : thread;
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i)
    to[32 * i] = pieces[32 * i + (Shape::kRunPieces % 2 == 0 ? spread ^ (4 * (i & 1)) : spread)];
}

/// Asks for the words of the directory that say where a page lies.
__device__ inline void fetch_ends(std::uint32_t* ends, const ColumnTask& task, std::uint32_t page) {
  const int thread = threadIdx.x & 31;
  const unsigned char* from = task.directory + (page == 0 ? 0 : 4 * (page - 1));
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const int words = (page == 0 ? 1 : 2) + ((address & 3) != 0 ? 1 : 0);
  if (thread < words)
    __pipeline_memcpy_async(
        ends + thread,
        reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3}) + thread, 4);
}

/// page_view from what fetch_ends has brought.
__device__ inline PageView fetched_view(const std::uint32_t* ends, const ColumnTask& task,
                                        std::uint32_t page) {
  const unsigned shift = 8 * (reinterpret_cast<std::uintptr_t>(task.directory) & 3);
  const std::uint32_t first = __funnelshift_r(ends[0], ends[1], shift);
  PageView view;
  view.section_begin = page == 0 ? 0 : first;
  view.num_bytes =
      (page == 0 ? first : __funnelshift_r(ends[1], ends[2], shift)) - view.section_begin;
  view.bytes = task.section + view.section_begin;
  const std::uint32_t page_tuples = 128 * task.page_groups;
  view.first = page * page_tuples;
  view.tuples = min(page_tuples, task.records - view.first);
  view.groups = (view.tuples + 127) / 128;
  return view;
}

/// Asks for a page's states and descriptors, as far as the page goes.
__device__ inline void fetch_head(unsigned char* head, const ColumnTask& task,
                                  const PageView& page) {
  const std::uint32_t skew = reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t bytes =
      min(task.state_bytes + 2 * page.groups * task.tuple, page.num_bytes) + skew;
#pragma unroll 1
  for (std::uint32_t at = 16 * (threadIdx.x & 31); at < bytes; at += 512)
    __pipeline_memcpy_async(head + at, page.bytes - skew + at, 16);
}

/// `head`: what fetch_head has brought.
template <int ValueBytes, int Tuple>
__device__ void decode_page(UnpackWarpShared<ValueBytes, Tuple>& shared, const ColumnTask& task,
                            const PageView& page, const unsigned char* head,
                            unsigned long long* damaged_at) {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  const int thread = thread_of_warp(), part = thread / Shape::kGroupThreads;
  const int groups = static_cast<int>(page.groups), all_groups = groups * Tuple;
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;

  // Descriptors: one a thread, checked, and what lies before each group.
  const std::uint32_t head_bytes = task.state_bytes + 2 * all_groups;
  if (page.num_bytes < head_bytes) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }
  GroupDescriptor mine{0};
  if (thread < all_groups) {
    const unsigned char* p = head + task.state_bytes + 2 * thread;
    mine.bits = p[0] | (p[1] << 8);
  }
  // Widths add up to at most 32 × 127, exception bytes to 32 × 127 × 9: both fit 16 bits.
  const std::uint32_t cost =
      static_cast<std::uint32_t>(mine.width()) |
      (static_cast<std::uint32_t>(mine.exceptions() > 0 ? mine.exception_bytes() : 0) << 16);
  std::uint32_t before = cost;
  scan::scan_threads<scan::SumAlgebra<std::uint32_t, std::uint32_t>, 1>(thread, 1, 32, &before);
  const std::uint32_t all = __shfl_sync(kWholeWarp, before, 31);
  before -= cost;
  const bool fits = head_bytes + 16 * (all & 0xffff) + (all >> 16) == page.num_bytes;
  if (!__all_sync(kWholeWarp, fits && mine.valid(8 * ValueBytes))) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }

  // Thread k keeps word k of every lane's state.
  int orders[Tuple], highest = 0;
  bool same_order = true;
  Word states[Tuple];
  const unsigned char* state = head;
#pragma unroll
  for (int lane = 0; lane < Tuple; ++lane) {
    orders[lane] = task.orders != nullptr ? task.orders[lane] : task.order;
    same_order &= orders[lane] == orders[0];
    highest = max(highest, orders[lane]);
    states[lane] = 0;
    if (thread < orders[lane]) {
      for (int i = 0; i < ValueBytes; ++i)
        states[lane] |= static_cast<Word>(state[thread * ValueBytes + i]) << (8 * i);
    }
    state += orders[lane] * ValueBytes;
  }

  const unsigned char* group_bytes = page.bytes + head_bytes;
  const unsigned char* exceptions = group_bytes + 16 * (all & 0xffff);
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(group_bytes) & 15);
  const uint4* const fetch_from = reinterpret_cast<const uint4*>(group_bytes - skew) + thread;

  // Thread k works out, once a page, what is needed of group k and of the strip that it begins.
  constexpr int kRun = Shape::kRunTuples, kStripGroups = Shape::kStripGroups;
  FieldPlace my_place;
  StripPlace my_strip;
  {
    const int row = thread % groups;
    const int first = row - row % kStripGroups, last = min(first + kStripGroups, groups) - 1;
    const std::uint32_t my_units = before & 0xffff;
    const std::uint32_t units_before =
        __shfl_sync(kWholeWarp, my_units, (thread - row + first) & 31);
    const std::uint32_t units_after =
        __shfl_sync(kWholeWarp, my_units + mine.width(), (thread - row + last) & 31);
    const int units = units_after - units_before;
    my_strip = StripPlace::make(units + (skew != 0 && units > 0 ? 1 : 0), units_before);
    const std::uint32_t first_bit = 8 * skew + 128 * (my_units - units_before);
    my_place =
        FieldPlace::make(mine.width(), mine.width() == 0 ? 32 * Shape::kZeroWord : first_bit);
  }
  const FieldPlace no_group = FieldPlace::make(0, 32 * Shape::kZeroWord);
  const std::uint32_t patched = __ballot_sync(kWholeWarp, mine.exceptions() > 0);
  // Exceptions of most pages fit the shared memory that waits for them.
  const ExceptionPlace my_exceptions = ExceptionPlace::make(mine, before >> 16);
  const int exceptions_skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(exceptions) & 15);
  const int staged = static_cast<int>(all >> 16) + exceptions_skew;
  if (patched != 0 && staged <= kStagedBytes) {
    if (16 * thread < staged)
      __pipeline_memcpy_async(shared.exceptions + 16 * thread,
                              exceptions - exceptions_skew + 16 * thread, 16);
    exceptions = shared.exceptions + exceptions_skew;
  }
  constexpr int kAhead = Shape::kPolicy.strips_ahead;
  constexpr unsigned kBuffers = Shape::kStripBuffers;
  static_assert((kBuffers & (kBuffers - 1)) == 0);
  const unsigned tiles = (page.groups + kStripGroups - 1) / kStripGroups;
  // The thread's group of a strip; behind the last group of the last lane, threads keep the place of
  // a group that is not there.
  const auto group_at = [&](unsigned tile, int lane) {
    return (lane * groups + kStripGroups * tile + part) & 31;
  };
  const auto is_missing = [&](unsigned tile, int lane) {
    return lane != Tuple - 1 && kStripGroups * tile + part >= page.groups;
  };
  FieldPlace next_place;
  const auto locate = [&](unsigned tile, int lane) {
    next_place.word = __shfl_sync(kWholeWarp, my_place.word, group_at(tile, lane));
    if (is_missing(tile, lane)) next_place = no_group;
  };
  const auto fetch = [&](unsigned tile, int lane, unsigned buffer) {
    if (tile < tiles) {
      const StripPlace place{
          __shfl_sync(kWholeWarp, my_strip.word, lane * groups + kStripGroups * tile)};
      const int units = place.units();
      const uint4* from = fetch_from + place.units_before();
      std::uint32_t* to = shared.bits[buffer] + 4 * thread;
      if (thread < units) __pipeline_memcpy_async(to, from, 16);
      if (units > 32) {
#pragma unroll
        for (int round = 1; round < Shape::kFetchRounds; ++round) {
          if (thread + 32 * round < units)
            __pipeline_memcpy_async(to + 128 * round, from + 32 * round, 16);
        }
      }
    }
    __pipeline_commit();  // even of nothing, so that what is waited for can be counted
  };
  const bool plain = task.num_strides > 0 || (!task.ordered && !task.big_endian);
  const bool in_pieces =
      task.record_bytes == ValueBytes * Tuple &&
      (reinterpret_cast<std::uintptr_t>(task.out) & (Shape::kPieceBytes - 1)) == 0;
  unsigned char* out = task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes;
  const std::uint64_t tile_step =
      static_cast<std::uint64_t>(Shape::kTileTuples) * task.record_bytes;
  std::uint32_t left = page.tuples;
  bool bad_position = false;
  // Strips in the order of their use.
#pragma unroll
  for (int n = 0; n < kAhead; ++n) fetch(n / Tuple, n % Tuple, n);
  unsigned strip = 0;
  locate(0, 0);

#pragma unroll 1
  for (unsigned tile = 0; tile < tiles; ++tile) {
    Word values[Tuple][kRun];
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const FieldPlace place = next_place;
      const std::uint32_t* bits = shared.bits[strip & (kBuffers - 1)];
      // The strip's bytes are there for the whole warp, and nobody reads those before it, patches,
      // or the tile before this one any more.
      __pipeline_wait_prior(kAhead - 1);
      __syncwarp();
      fetch(tile + (lane + kAhead) / Tuple, (lane + kAhead) % Tuple,
            (strip + kAhead) & (kBuffers - 1));
      locate(tile + (lane + 1) / Tuple, (lane + 1) % Tuple);
      ++strip;

      auto& run = values[lane];
      read_run<Word, kRun>(bits, place, run, thread);
      const bool has_exceptions =
          ((patched >> (lane * groups + kStripGroups * tile)) & ((1u << kStripGroups) - 1)) != 0;
      if (has_exceptions) {
        ExceptionPlace from{__shfl_sync(kWholeWarp, my_exceptions.word, group_at(tile, lane))};
        if (is_missing(tile, lane)) from = {0};
        clear_patches<Word, kRun>(shared.patch, thread);
        __syncwarp();  // all patches are zero
        bad_position |=
            !scatter_exceptions<Word, kRun>(shared.patch, exceptions, from, place.width(),
                                            value_mask<Word>(8 * ValueBytes), thread);
        __syncwarp();  // all patches are in
        take_patches<Word, kRun>(shared.patch, run, place.width() == 0, thread);
      }
      if (!same_order) {
#pragma unroll 1
        for (int k = 0; k < orders[lane]; ++k)
          sum_tile<Word, 1, kRun>(reinterpret_cast<Word(&)[1][kRun]>(run),
                                  reinterpret_cast<Word(&)[1]>(states[lane]), k, thread);
      }
    }
    if (same_order) {
#pragma unroll 1
      for (int k = 0; k < highest; ++k) {
        if constexpr (Tuple == 4) {  // two at a time fit the registers
#pragma unroll
          for (int lane = 0; lane < Tuple; lane += 2) {
            sum_tile<Word, 2, kRun>(reinterpret_cast<Word(&)[2][kRun]>(values[lane]),
                                    reinterpret_cast<Word(&)[2]>(states[lane]), k, thread);
          }
        } else {
          sum_tile(values, states, k, thread);
        }
      }
    }
    if (!plain) {
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
        for (int i = 0; i < kRun; ++i)
          values[lane][i] =
              finish_value(values[lane][i], ValueBytes, task.ordered, task.big_endian);
      }
    }

    std::uint32_t words[Shape::kRunBytes / 4];
    pack_run<ValueBytes, Tuple>(values, words);
    __syncwarp();  // patches, or the tile before this one, have been read
#pragma unroll
    for (int i = 0; i < Shape::kRunPieces; ++i) {
      const int slot = piece_slot<Shape::kRunPieces>(thread, i);
      if constexpr (Shape::kPieceBytes == 16) {
        reinterpret_cast<uint4*>(shared.tile)[slot] =
            make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
      } else {
        reinterpret_cast<uint2*>(shared.tile)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
      }
    }
    __syncwarp();  // the tile is whole
    if (in_pieces && left >= Shape::kTileTuples) {
      store_whole_tile<ValueBytes, Tuple>(shared.tile, out, thread);
    } else {
      const auto wanted = min(left, static_cast<std::uint32_t>(Shape::kTileTuples));
      store_tile_bytes<ValueBytes, Tuple>(shared.tile, out, wanted, task.record_bytes, thread);
    }
    out += tile_step;
    left -= Shape::kTileTuples;
  }
  if (__any_sync(kWholeWarp, bad_position) && thread == 0) report_page(task, page, damaged_at);
}

/// The task of a page that does not lie before `task`; the whole warp calls it and gets it.
__device__ inline std::uint32_t advance_task(const UnpackArgs& args, std::uint32_t task,
                                             std::uint64_t page, int thread) {
  const std::uint32_t probe = task + 1 + thread;
  const unsigned before =
      __ballot_sync(kWholeWarp, probe < args.end_task && args.starts[probe] <= page);
  if (before == kWholeWarp) return find_start(args.starts, task + 32, args.end_task, page);
  return task + __popc(before);
}

/// Asks for a page's task and for where the page lies.
template <int ValueBytes, int Tuple>
__device__ inline void fetch_task(UnpackWarpShared<ValueBytes, Tuple>& shared,
                                  const ColumnTask& task, std::uint32_t page, int slot) {
  static_assert(sizeof(ColumnTask) % 16 == 0);
  const int at = 16 * (threadIdx.x & 31);
  const auto* from = reinterpret_cast<const unsigned char*>(&task);
  if (at < static_cast<int>(sizeof(ColumnTask)))
    __pipeline_memcpy_async(shared.tasks[slot] + at, from + at, 16);
  fetch_ends(shared.ends[slot], task, page);
}

// ---- Kernel and launcher

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * unpack_warp_policy(ValueBytes, Tuple).warps_per_block,
                                  unpack_warp_policy(ValueBytes, Tuple).blocks_per_sm)
    unpack_pages_warp_kernel(UnpackArgs args) {
  scan::start_successor();
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  const int warp = threadIdx.x / 32, thread = thread_of_warp();
  auto& mine = shared[warp];
  for (auto& bits : mine.bits) {
    if (thread < 3) bits[Shape::kZeroWord + thread] = 0;
  }
  __syncwarp();
  scan::wait_for_predecessor();

  // Two pages of a warp are given, those behind them are drawn: a ticket is there before it is
  // needed. Warps of different blocks come first, so that few pages use many multiprocessors.
  const std::uint64_t first_page = args.starts[args.first_task];
  const std::uint64_t end = args.starts[args.end_task];
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * kWarps;
  const std::uint64_t first_drawn = first_page + 2 * warps;
  const std::uint64_t page = first_page + static_cast<std::uint64_t>(warp) * gridDim.x + blockIdx.x;
  std::uint64_t next_page = page + warps;
  unsigned long long ticket = 0;  // of thread 0
  if (thread == 0 && first_drawn < end) ticket = atomicAdd(args.tickets, 1ull);

  const auto task_in = [&](int slot) -> const ColumnTask& {
    return *reinterpret_cast<const ColumnTask*>(mine.tasks[slot]);
  };
  const auto number_in = [&](std::uint32_t task, std::uint64_t of_page) {
    return static_cast<std::uint32_t>(of_page - args.starts[task]);
  };
  const auto view_of = [&](int slot, std::uint32_t number) {
    return fetched_view(mine.ends[slot], task_in(slot), number);
  };
  const auto slot_behind = [](int slot) { return slot == 2 ? 0 : slot + 1; };
  if (page < end) {
    std::uint32_t task = find_start(args.starts, args.first_task, args.end_task, page);
    std::uint32_t number = number_in(task, page), next_number = 0;
    fetch_task(mine, args.tasks[task], number, 0);
    if (next_page < end) {
      task = advance_task(args, task, next_page, thread);
      next_number = number_in(task, next_page);
      fetch_task(mine, args.tasks[task], next_number, 1);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    fetch_head(mine.head[0], task_in(0), view_of(0, number));
    __pipeline_commit();
    int next_slot = 0;
    for (bool last = false; !last;) {
      __pipeline_wait_prior(0);
      __syncwarp();  // this page's head has come, and the next one's task and where it lies
      const int slot = next_slot;
      const PageView view = view_of(slot, number);
      last = next_page >= end;
      if (!last) {
        next_slot = slot_behind(slot);
        number = next_number;
        fetch_head(mine.head[next_slot], task_in(next_slot), view_of(next_slot, number));
        next_page = first_drawn + __shfl_sync(kWholeWarp, ticket, 0);
        if (next_page < end) {
          if (thread == 0) ticket = atomicAdd(args.tickets, 1ull);
          task = advance_task(args, task, next_page, thread);
          next_number = number_in(task, next_page);
          fetch_task(mine, args.tasks[task], next_number, slot_behind(next_slot));
        }
      }
      decode_page<ValueBytes, Tuple>(mine, task_in(slot), view, mine.head[slot], args.damaged_at);
      __pipeline_commit();
    }
  }
  // Where tickets are drawn, every warp draws one for which there is no page; the last of those makes
  // the count zero again.
  if (thread == 0 && first_drawn < end && ticket == end - first_drawn + warps - 1)
    *args.tickets = 0;
}

template <int ValueBytes, int Tuple>
cudaError_t launch_unpack_warp_of(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  constexpr auto kKernel = unpack_pages_warp_kernel<ValueBytes, Tuple>;
  int most = 0;
  if (auto error = resident_blocks<kKernel>(32 * kWarps, most)) return error;
  // Where there are few pages, a warp of each block gets one.
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return launch_after<kKernel>(blocks, 32 * kWarps, stream, args);
}

template <int ValueBytes>
cudaError_t launch_unpack_warp_width(int tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                     cudaStream_t stream) {
  switch (tuple) {
    case 1:
      return launch_unpack_warp_of<ValueBytes, 1>(args, max_pages, stream);
    case 2:
      return launch_unpack_warp_of<ValueBytes, 2>(args, max_pages, stream);
    case 3:
      return launch_unpack_warp_of<ValueBytes, 3>(args, max_pages, stream);
    case 4:
      return launch_unpack_warp_of<ValueBytes, 4>(args, max_pages, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

// One width a translation unit.
cudaError_t launch_unpack_warp_1(int, const UnpackArgs&, std::uint64_t, cudaStream_t);
cudaError_t launch_unpack_warp_2(int, const UnpackArgs&, std::uint64_t, cudaStream_t);
cudaError_t launch_unpack_warp_3(int, const UnpackArgs&, std::uint64_t, cudaStream_t);
cudaError_t launch_unpack_warp_4(int, const UnpackArgs&, std::uint64_t, cudaStream_t);
cudaError_t launch_unpack_warp_8(int, const UnpackArgs&, std::uint64_t, cudaStream_t);

}  // namespace gdelta::cuda
