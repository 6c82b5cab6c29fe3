// A warp decodes a page. A tile is two groups, 256 tuples, of every lane: half a warp unpacks a
// group, so that every thread holds eight consecutive residuals of each lane, sums them in
// registers, and stores whole tuples through shared memory.
//
// Sums are made of the primitives of kernels/scan: `step` walks a run, `scan_threads` crosses the
// warp. The order q is q rounds of order 1, which leaves it a run-time number. One round for all
// orders, with the matrices of carry_matrix.h, was measured instead (docs/pages.md): 1 to 4 % faster
// for one lane of order 2, up to 22 % slower for several lanes, which keep a warp busy by themselves
// and have no registers for it. Between pages nothing is carried: they store their states.
//
// Bytes of the groups travel to shared memory by asynchronous copies of 16 bytes, up to three pairs
// of groups ahead. A page starts at any byte: the copies are aligned, and the misalignment is a
// constant number of bits added to the position of every field. A warp takes neighbouring pages, and
// fetches where a page lies two pages ahead and its states and descriptors one page ahead, so that
// it does not wait for one before it can ask for the next.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "formats/gdelta/chunk_head.h"
#include "kernels/bitpack/finish_value.cuh"
#include "kernels/bitpack/page_search.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/delta/zigzag.h"
#include "kernels/scan/ptx.cuh"
#include "kernels/scan/warp_scan.cuh"

namespace gdelta::cuda {

using format::GroupDescriptor;

// ---- Policy: changes speed, never bytes

struct UnpackWarpPolicy {
  int warps_per_block;
  int blocks_per_sm;  // registers are kept low enough for so many
  int pairs_ahead;    // of groups, on their way while one is unpacked
};
constexpr UnpackWarpPolicy unpack_warp_policy(int value_bytes, int tuple) {
  // Shared memory has no room for more pairs of 8-byte values.
  if (value_bytes == 8) return {2, tuple <= 2 ? 10 : tuple == 3 ? 8 : 6, 1};
  // As many as hardly spill: codec_cuda_bench decode, H200, 5 to 10 % over one block more.
  constexpr int kBlocks[] = {0, 7, 6, 5, 5};
  // Three pairs against one: 1 % faster for one lane, 5 to 9 % for several, 1 to 2 % slower with
  // exceptions (docs/pages.md).
  return {4, kBlocks[tuple], 3};
}

// ---- Shared memory

inline constexpr int kTileTuples = 256;
inline constexpr int kRunTuples = 8;      // consecutive tuples of a thread
inline constexpr int kStagedBytes = 512;  // of exceptions: one copy of 16 bytes a thread

template <int ValueBytes, int Tuple>
struct UnpackWarpShape {
  static constexpr int kRunBytes = kRunTuples * Tuple * ValueBytes;
  static constexpr int kPieceBytes = kRunBytes % 16 == 0 ? 16 : 8;  // what a thread stores at once
  static constexpr int kRunPieces = kRunBytes / kPieceBytes;
  static constexpr int kPairWords = 2 * 16 * 8 * ValueBytes / 4;  // two groups of full width
  // Behind the pair: its misalignment, one word that the last field may touch, three zero words
  // that stand for the fields of a group of width 0.
  static constexpr int kZeroWord = kPairWords + 5;
  static constexpr int kBitWords = kPairWords + 8;
  static constexpr int kFetchRounds = (kPairWords / 4 + 1 + 31) / 32;
  static constexpr int kPairsAhead = unpack_warp_policy(ValueBytes, Tuple).pairs_ahead;
  static constexpr int kPairBuffers = kPairsAhead + 1;
};

/// States and descriptors of a page with their misalignment, in whole copies of 16 bytes.
template <int ValueBytes, int Tuple>
inline constexpr int kPageHeadBytes = (Tuple * 8 * ValueBytes + 2 * kWarpPathGroups + 15 + 15) /
                                      16 * 16;

template <int ValueBytes, int Tuple>
struct UnpackWarpShared {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  alignas(16) unsigned char head[2][kPageHeadBytes<ValueBytes, Tuple>];
  std::uint32_t ends[2][4];  // words of the directory that hold a page's end and the one before
  alignas(16) std::uint32_t bits[Shape::kPairBuffers][Shape::kBitWords];
  alignas(16) unsigned char exceptions[kStagedBytes];  // of the page, where they are no more
  alignas(16) WordOf<ValueBytes> patch[kTileTuples];   // high bits of exceptions; zero between uses
  alignas(16) unsigned char tile[kTileTuples * Tuple * ValueBytes];
};

// ---- Device functions, smallest first

/// The thread's number in its warp, kept in a register: reading it again would cost more.
__device__ inline int thread_of_warp() {
  int thread;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(thread));
  return thread;
}

/// Where a group's fields are in the buffer of its pair, in one word so that one shuffle brings it.
struct FieldPlace {
  std::uint32_t word;
  __device__ static FieldPlace make(int width, std::uint32_t first_bit) {
    return {static_cast<std::uint32_t>(width) | (first_bit << 7)};
  }
  __device__ int width() const { return word & 0x7f; }
  __device__ std::uint32_t first_bit() const { return word >> 7; }
};

/// What has to be fetched for a pair, in one word likewise.
struct PairPlace {
  std::uint32_t word;
  __device__ static PairPlace make(int units, bool exceptions, std::uint32_t units_before) {
    return {static_cast<std::uint32_t>(units) | (exceptions ? 0x100u : 0u) | (units_before << 16)};
  }
  __device__ int units() const { return word & 0xff; }  // of 16 bytes
  __device__ bool has_exceptions() const { return (word & 0x100) != 0; }
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

/// Where residual `position` of half `half` keeps its patch: thread after thread, in vectors of 16
/// bytes that a warp reads without bank conflicts.
template <class Word>
__device__ inline int patch_slot(int half, std::uint32_t position) {
  constexpr int kVector = 16 / sizeof(Word);
  const int thread = 16 * half + (position >> 3), i = position & 7;
  return (i / kVector) * (32 * kVector) + thread * kVector + i % kVector;
}

template <class Word>
__device__ inline void add_patch(Word* slot, Word bits) {
  auto* words = reinterpret_cast<unsigned*>(slot);
  atomicOr(words, static_cast<unsigned>(bits));
  if constexpr (sizeof(Word) == 8) atomicOr(words + 1, static_cast<unsigned>(bits >> 32));
}

/// What the exceptions of a group add to its residuals, half a warp a group: with
/// z = low | high << width and width > 0, undoing zigzag gives that of `low` XOR
/// high << (width - 1); with width 0 it is that of `high` alone, which is left to the reader.
/// Returns whether all positions are in the group.
template <class Word>
__device__ inline bool scatter_exceptions(Word* patch, const unsigned char* exceptions,
                                          ExceptionPlace place, int width, Word value_bits,
                                          int thread) {
  bool valid = true;
  const unsigned char* positions = exceptions + place.bytes_before();
  const int log2_bytes = place.log2_high_bytes(), count = place.count();
#pragma unroll 1
  for (int index = thread & 15; index < count; index += 16) {
    const std::uint32_t position = positions[index];
    const unsigned char* bytes = positions + count + (index << log2_bytes);
    Word high = bytes[0];
#pragma unroll 1  // seldom more than one: short code is worth more
    for (int i = 1; i < 1 << log2_bytes; ++i) high |= static_cast<Word>(bytes[i]) << (8 * i);
    high = width == 0 ? high & value_bits : (high << (width - 1)) & (value_bits >> 1);
    valid &= position < 128;
    if (position < 128) add_patch(&patch[patch_slot<Word>(thread >> 4, position)], high);
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

/// Applies the thread's patches and makes them zero again.
template <class Word>
__device__ inline void take_patches(Word* patch, Word (&run)[kRunTuples], bool zigzagged,
                                    int thread) {
  constexpr int kVector = 16 / sizeof(Word);
#pragma unroll
  for (int i = 0; i < kRunTuples; i += kVector) {
    auto* vector = reinterpret_cast<uint4*>(patch + 32 * i) + thread;
    union {
      uint4 all;
      Word words[kVector];
    } read;
    read.all = *vector;
    *vector = make_uint4(0, 0, 0, 0);
    if (zigzagged) {
#pragma unroll
      for (int j = 0; j < kVector; ++j) read.words[j] = zigzag_decode(read.words[j]);
    }
#pragma unroll
    for (int j = 0; j < kVector; ++j) run[i + j] ^= read.words[j];
  }
}

/// One sum of order 1 over the warp's 256 residuals of each of several lanes, side by side. Thread k
/// keeps y(k+1) of a lane's state.
template <class Word, int Lanes>
__device__ inline void sum_tile(Word (&runs)[Lanes][kRunTuples], Word (&states)[Lanes], int k,
                                int thread) {
  using Algebra = scan::SumAlgebra<Word, Word>;
  Word own[Lanes], sums[Lanes];
#pragma unroll
  for (int lane = 0; lane < Lanes; ++lane) {
    own[lane] = 0;
#pragma unroll
    for (int i = 0; i < kRunTuples; ++i) scan::step<Algebra, 1>(runs[lane][i], own + lane);
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
    for (int i = 0; i < kRunTuples; ++i) {
      scan::step<Algebra, 1>(runs[lane][i], &state);
      runs[lane][i] = state;
    }
  }
}

/// Eight tuples of a thread as bytes in memory order.
template <int ValueBytes, int Tuple>
__device__ inline void pack_run(const WordOf<ValueBytes> (&values)[Tuple][kRunTuples],
                                std::uint32_t* words) {
  constexpr int kValues = kRunTuples * Tuple;
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
__device__ inline void store_tile_bytes(const UnpackWarpShared<ValueBytes, Tuple>& shared,
                                        unsigned char* out, std::uint32_t tuples,
                                        std::uint32_t record_bytes, int thread) {
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
          *reinterpret_cast<const Unit*>(shared.tile + piece_byte(n * sizeof(Unit)));
    }
  };
  if (record_bytes == kTupleBytes && (reinterpret_cast<std::uintptr_t>(out) & 3) == 0) {
    const std::uint32_t bytes = tuples * kTupleBytes;
    std::uint32_t at = 4 * thread;
#pragma unroll 4
    for (; at + 4 <= bytes; at += 128) {
      *reinterpret_cast<std::uint32_t*>(out + at) =
          *reinterpret_cast<const std::uint32_t*>(shared.tile + piece_byte(at));
    }
#pragma unroll 1
    for (; at < bytes; ++at) out[at] = shared.tile[piece_byte(at)];
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
__device__ inline void store_whole_tile(const UnpackWarpShared<ValueBytes, Tuple>& shared,
                                        unsigned char* out, int thread) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  using Piece = std::conditional_t<Shape::kPieceBytes == 16, uint4, uint2>;
  const auto* pieces = reinterpret_cast<const Piece*>(shared.tile);
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
  const int thread = thread_of_warp(), half = thread >> 4;
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

  // Thread k works out, once a page, what the steps need of group k and of its pair with the next.
  FieldPlace my_place;
  PairPlace my_pair;
  {
    const std::uint32_t left = __shfl_up_sync(kWholeWarp, mine.bits, 1);
    const std::uint32_t right = __shfl_down_sync(kWholeWarp, mine.bits, 1);
    const int row = thread % groups;
    const GroupDescriptor other{row + 1 == groups ? 0 : right};
    const int pair_units = mine.width() + other.width();
    my_pair = PairPlace::make(pair_units + (skew != 0 && pair_units > 0 ? 1 : 0),
                              mine.exceptions() + other.exceptions() > 0, before & 0xffff);
    const std::uint32_t first_bit =
        8 * skew + (row % 2 == 0 ? 0 : 128 * GroupDescriptor{left}.width());
    my_place =
        FieldPlace::make(mine.width(), mine.width() == 0 ? 32 * Shape::kZeroWord : first_bit);
  }
  const FieldPlace no_group = FieldPlace::make(0, 32 * Shape::kZeroWord);
  // Exceptions of most pages fit the shared memory that waits for them.
  const ExceptionPlace my_exceptions = ExceptionPlace::make(mine, before >> 16);
  const int exceptions_skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(exceptions) & 15);
  if ((all >> 16) + exceptions_skew <= kStagedBytes) {
    if (16 * thread < static_cast<int>(all >> 16) + exceptions_skew)
      __pipeline_memcpy_async(shared.exceptions + 16 * thread,
                              exceptions - exceptions_skew + 16 * thread, 16);
    exceptions = shared.exceptions + exceptions_skew;
  }
  constexpr int kAhead = Shape::kPairsAhead;
  const int tiles = (groups + 1) / 2;
  std::uint32_t patched = 0;  // a bit for each pair from this one on: it has exceptions
  FieldPlace next_place;
  const auto locate = [&](int tile, int lane) {
    next_place.word =
        __shfl_sync(kWholeWarp, my_place.word, (lane * groups + 2 * tile + half) & 31);
    if (half != 0 && 2 * tile + 1 >= groups) next_place = no_group;
  };
  const auto fetch = [&](int tile, int lane, int buffer) {
    if (tile >= tiles) {
      __pipeline_commit();  // nothing, so that what is waited for can be counted
      return;
    }
    const PairPlace place{__shfl_sync(kWholeWarp, my_pair.word, lane * groups + 2 * tile)};
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
    __pipeline_commit();
    if (place.has_exceptions()) patched |= 1u << kAhead;
  };
  const bool plain = task.num_strides > 0 || (!task.ordered && !task.big_endian);
  const bool in_pieces =
      task.record_bytes == ValueBytes * Tuple &&
      (reinterpret_cast<std::uintptr_t>(task.out) & (Shape::kPieceBytes - 1)) == 0;
  unsigned char* out = task.out + static_cast<std::uint64_t>(page.first) * task.record_bytes;
  const std::uint64_t tile_step = static_cast<std::uint64_t>(kTileTuples) * task.record_bytes;
  std::uint32_t left = page.tuples;
  bool bad_position = false;
  int buffer = 0;
  // Pairs in the order of their use.
#pragma unroll
  for (int n = 0; n < kAhead; ++n) {
    fetch(n / Tuple, n % Tuple, n);
    patched >>= 1;
  }
  locate(0, 0);

#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    Word values[Tuple][kRunTuples];
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const FieldPlace place = next_place;
      const std::uint32_t* bits = shared.bits[buffer];
      // The pair's bytes are there for the whole warp, and nobody reads those before it any more.
      __pipeline_wait_prior(kAhead - 1);
      __syncwarp();
      fetch(tile + (lane + kAhead) / Tuple, (lane + kAhead) % Tuple,
            (buffer + kAhead) % Shape::kPairBuffers);
      locate(tile + (lane + 1) / Tuple, (lane + 1) % Tuple);
      const bool has_exceptions = (patched & 1) != 0;
      patched >>= 1;
      buffer = (buffer + 1) % Shape::kPairBuffers;

      const int width = place.width();
      const Word half_mask = (Word{1} << ((width - 1) & (8 * sizeof(Word) - 1))) - 1;
      const unsigned even = place.first_bit() + (thread & 15) * width, odd = even + 16 * width;
      const std::uint32_t* even_words = bits + (even >> 5);
      const std::uint32_t* odd_words = bits + (odd >> 5);
      const std::uint32_t even_top = 0x80000000u >> (even & 31);
      const std::uint32_t odd_top = 0x80000000u >> (odd & 31);
      auto& run = values[lane];
#pragma unroll
      for (int i = 0; i < kRunTuples; i += 2) {
        run[i] = read_residual<Word>(even_words, even & 31, even_top, half_mask);
        run[i + 1] = read_residual<Word>(odd_words, odd & 31, odd_top, half_mask);
        even_words += width;
        odd_words += width;
      }

      if (has_exceptions) {
        ExceptionPlace from{
            __shfl_sync(kWholeWarp, my_exceptions.word, (lane * groups + 2 * tile + half) & 31)};
        if (half != 0 && 2 * tile + 1 >= groups) from = {0};
        bad_position |= !scatter_exceptions(shared.patch, exceptions, from, width,
                                            value_mask<Word>(8 * ValueBytes), thread);
        __syncwarp();  // all patches are in
        take_patches(shared.patch, run, width == 0, thread);
      }
      if (!same_order) {
#pragma unroll 1
        for (int k = 0; k < orders[lane]; ++k)
          sum_tile<Word, 1>(reinterpret_cast<Word(&)[1][kRunTuples]>(run),
                            reinterpret_cast<Word(&)[1]>(states[lane]), k, thread);
      }
    }
    if (same_order) {
#pragma unroll 1
      for (int k = 0; k < highest; ++k) {
        if constexpr (Tuple == 4) {  // two at a time fit the registers
#pragma unroll
          for (int lane = 0; lane < Tuple; lane += 2) {
            sum_tile<Word, 2>(reinterpret_cast<Word(&)[2][kRunTuples]>(values[lane]),
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
        for (int i = 0; i < kRunTuples; ++i)
          values[lane][i] =
              finish_value(values[lane][i], ValueBytes, task.ordered, task.big_endian);
      }
    }

    std::uint32_t words[Shape::kRunBytes / 4];
    pack_run<ValueBytes, Tuple>(values, words);
    __syncwarp();  // the tile before this one has been read
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
    if (in_pieces && left >= kTileTuples) {
      store_whole_tile<ValueBytes, Tuple>(shared, out, thread);
    } else {
      const auto wanted = min(left, static_cast<std::uint32_t>(kTileTuples));
      store_tile_bytes<ValueBytes, Tuple>(shared, out, wanted, task.record_bytes, thread);
    }
    out += tile_step;
    left -= kTileTuples;
  }
  if (__any_sync(kWholeWarp, bad_position) && thread == 0) report_page(task, page, damaged_at);
}

// ---- Kernel and launcher

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * unpack_warp_policy(ValueBytes, Tuple).warps_per_block,
                                  unpack_warp_policy(ValueBytes, Tuple).blocks_per_sm)
    unpack_pages_warp_kernel(UnpackArgs args) {
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  const int warp = threadIdx.x / 32, thread = threadIdx.x & 31;
  auto& mine = shared[warp];
  for (int i = thread; i < kTileTuples; i += 32) mine.patch[i] = 0;
  for (auto& bits : mine.bits) {
    if (thread < 3) bits[Shape::kZeroWord + thread] = 0;
  }
  __syncwarp();

  // Each warp takes a stretch of pages; warps of different blocks come first, so that few pages use
  // many multiprocessors.
  const std::uint64_t first_page = args.starts[args.first_task];
  const std::uint64_t pages = args.starts[args.end_task] - first_page;
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * kWarps;
  const std::uint64_t each = (pages + warps - 1) / warps;
  std::uint64_t page = (static_cast<std::uint64_t>(warp) * gridDim.x + blockIdx.x) * each;
  if (page >= pages) return;
  const std::uint64_t end = first_page + min(page + each, pages);
  page += first_page;

  const auto task_of = [&](std::uint32_t task, std::uint64_t of_page) {
    while (of_page >= args.starts[task + 1]) ++task;
    return task;
  };
  const auto number_in = [&](std::uint32_t task, std::uint64_t of_page) {
    return static_cast<std::uint32_t>(of_page - args.starts[task]);
  };
  std::uint32_t task = find_start(args.starts, args.first_task, args.end_task, page);
  std::uint32_t next_task = task;
  fetch_ends(mine.ends[0], args.tasks[task], number_in(task, page));
  if (page + 1 < end) {
    next_task = task_of(task, page + 1);
    fetch_ends(mine.ends[1], args.tasks[next_task], number_in(next_task, page + 1));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();  // both have come
  PageView next = fetched_view(mine.ends[0], args.tasks[task], number_in(task, page));
  fetch_head(mine.head[0], args.tasks[task], next);
  __pipeline_commit();
  for (int slot = 0; page < end; ++page, slot ^= 1) {
    const PageView view = next;
    __pipeline_wait_prior(0);
    __syncwarp();  // this page's head has come, and where the next one lies
    std::uint32_t after_task = next_task;
    if (page + 1 < end) {
      next =
          fetched_view(mine.ends[slot ^ 1], args.tasks[next_task], number_in(next_task, page + 1));
      fetch_head(mine.head[slot ^ 1], args.tasks[next_task], next);
    }
    if (page + 2 < end) {
      after_task = task_of(next_task, page + 2);
      fetch_ends(mine.ends[slot], args.tasks[after_task], number_in(after_task, page + 2));
    }
    decode_page<ValueBytes, Tuple>(mine, args.tasks[task], view, mine.head[slot], args.damaged_at);
    __pipeline_commit();
    task = next_task;
    next_task = after_task;
  }
}

template <int ValueBytes, int Tuple>
cudaError_t launch_unpack_warp_of(const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  int device = 0, processors = 0, resident = 0;
  if (auto error = cudaGetDevice(&device)) return error;
  if (auto error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
    return error;
  if (auto error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &resident, unpack_pages_warp_kernel<ValueBytes, Tuple>, 32 * kWarps, 0))
    return error;
  const std::uint64_t most = static_cast<std::uint64_t>(processors) * resident;
  // Where there are few pages, a warp of each block gets one.
  const auto blocks = static_cast<unsigned>(max_pages < most ? max_pages : most);
  if (blocks == 0) return cudaSuccess;
  unpack_pages_warp_kernel<ValueBytes, Tuple><<<blocks, 32 * kWarps, 0, stream>>>(args);
  return cudaGetLastError();
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
