// A warp decodes a page of the ans coder, tile by tile and lane by lane: its threads are the states, each
// with eight consecutive residuals, which are summed in registers. A block shares the tables of a column:
// it draws a ticket for a piece of one, whose pages its warps take one after the other. Spec: coders/ans.md.
//
// Words and offsets come through rings in shared memory, fetched ahead. A lane alone is stored from
// registers; others meet in a stage, from which whole tuples leave, as far as a tile fits in.
#include <algorithm>

#include "kernels/ans/ans_ahead.cuh"
#include "kernels/ans/ans_tables_block.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/pages/page_kernels.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kAnsCoder = 4;

// ---- Policy: changes speed, never bytes

struct AnsPolicy {
  int warps_per_block;
  int blocks_per_sm;  // registers are kept low enough for so many
};
constexpr AnsPolicy ans_policy(int value_bytes, bool alone) {
  if (value_bytes == 8) return {8, alone ? 3 : 2};
  return {8, 3};
}
/// Of offsets. A step takes 256 of them; beside a stage there is no room for more.
constexpr std::uint32_t offset_ring_bytes(int value_bytes, bool alone) {
  return !alone || value_bytes < 3 ? 1024 : value_bytes < 8 ? 2048 : 4096;
}
using WordRing =
    RingAhead<1024, 2 * kMaxAnsTile>;  // a step takes two bytes for each residual at most
constexpr std::uint32_t kMostStageBytes = 8192 + kMaxAnsStates * 8;

// ---- Shared memory: the tables, then for each warp its own and its stage

/// A warp's own.
template <std::uint32_t kOffsetRing>
struct AnsWarpShared {
  alignas(16) unsigned char words[WordRing::kSharedBytes];
  alignas(16) unsigned char offsets[kOffsetRing];
};
struct AnsArgs {
  UnpackArgs pages;
  std::uint32_t stage_bytes;  // for a tile; 0: none is staged
  std::uint32_t warp_bytes;   // AnsWarpShared, stage, and states of the deltas, lane after lane
};

template <int ValueBytes, bool kAlone>
using AnsTablesOf = AnsSharedTables<WordOf<ValueBytes>, (kAlone && ValueBytes < 8)>;

template <class Tables>
struct AnsBlockShared {
  Tables tables;
  unsigned long long ticket;
  std::uint32_t next_page;              // of the piece that is being decoded
  alignas(16) unsigned char warps[16];  // more follows; fields of models while tables are built
};

/// What decoding a page moves on.
template <std::uint32_t kOffsetRing>
struct AnsPageState {
  WordRing words;
  RingAhead<kOffsetRing> offsets;
  int slot_bits;
  std::uint32_t x;     // the thread's state
  std::uint32_t word;  // byte of the next one, as rings count
  std::uint32_t bit;   // of the next offset
};

// ---- Words of two bytes in shared memory, a number of them behind the next one

/// From any address.
struct AnyWords {
  const unsigned char* next;
  __device__ std::uint32_t operator[](std::uint32_t n) const {
    return next[2 * n] | next[2 * n + 1] << 8;
  }
  __device__ void operator+=(std::uint32_t n) { next += 2 * n; }
};
struct EvenWords {
  device::SharedPlace next;
  __device__ std::uint32_t operator[](std::uint32_t n) const { return (next + 2 * n).load_two(); }
  __device__ void operator+=(std::uint32_t n) { next += 2 * n; }
};
/// From the second half of one place and the first of the one behind it.
struct OddWords {
  device::SharedPlace before;
  __device__ std::uint32_t operator[](std::uint32_t n) const {
    const device::SharedPlace place = before + 2 * n;
    return __byte_perm(place.load_two(), place.load_two<2>(), 0x2241);
  }
  __device__ void operator+=(std::uint32_t n) { before += 2 * n; }
};

/// The slots of the thread's run, of the table that begins at `table`. Threads without a state, and runs that
/// end early, have `count` below 8. Gives how many words they have taken.
template <bool kWhole, class Slot, class Words>
__device__ std::uint32_t decode_symbols(device::SharedPlace table, int slot_bits,
                                        std::uint32_t slot_mask, Words words, int count,
                                        std::uint32_t& state, Slot (&slots)[kAnsRun]) {
  const unsigned before = (1u << device::thread_of_warp()) - 1;
  std::uint32_t x = state, taken = 0;
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const bool active = kWhole || i < count;
    const Slot slot = slots[i] = load_slot<Slot>(table + sizeof(Slot) * (x & slot_mask));
    const std::uint32_t moved = slot.frequency() * (x >> slot_bits) + slot.place();
    const bool low = active && moved < kAnsLowest;
    const unsigned lows = __ballot_sync(device::kWholeWarp, low);
    const std::uint32_t word = words[__popc(lows & before)];
    if (kWhole || active) x = low ? moved << 16 | word : moved;
    words += __popc(lows);
    taken += __popc(lows);
  }
  state = x;
  return taken;
}

/// Adds the offsets of the thread's run, which stand one after the other from bit `bit` on. `word_at` gives
/// four bytes, by their number.
template <class Word, class WordAt>
__device__ void add_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t bit,
                           const WordAt& word_at, Word (&values)[kAnsRun]) {
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const std::uint32_t w0 = word_at(bit / 32), w1 = word_at(bit / 32 + 1);
    const std::uint32_t low = __funnelshift_r(w0, w1, bit);
    if constexpr (sizeof(Word) == 4) {
      values[i] += bits[i] == 0 ? 0 : low & (0xffffffffu >> (32 - bits[i]));
    } else {
      const std::uint32_t high = __funnelshift_r(w1, word_at(bit / 32 + 2), bit);
      const std::uint64_t field = static_cast<std::uint64_t>(high) << 32 | low;
      values[i] += bits[i] == 0 ? 0 : field & (~std::uint64_t{0} >> (64 - bits[i]));
    }
    bit += bits[i];
  }
}

/// The same for residuals kFirst … kFirst + kCount - 1, if these have at most 64 bits.
template <int kFirst, int kCount, class Word, class WordAt>
__device__ void add_short_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t bit,
                                 const WordAt& word_at, Word (&values)[kAnsRun]) {
  const std::uint32_t w0 = word_at(bit / 32), w1 = word_at(bit / 32 + 1),
                      w2 = word_at(bit / 32 + 2);
  std::uint64_t fields =
      static_cast<std::uint64_t>(__funnelshift_r(w1, w2, bit)) << 32 | __funnelshift_r(w0, w1, bit);
#pragma unroll
  for (int i = kFirst; i < kFirst + kCount; ++i) {
    if constexpr (sizeof(Word) == 4) {
      values[i] += static_cast<std::uint32_t>(fields) & ~__funnelshift_lc(0, 0xffffffffu, bits[i]);
      fields >>= bits[i];  // 32 at most
    } else {
      values[i] += bits[i] == 0 ? 0 : fields & (~std::uint64_t{0} >> (64 - bits[i]));
      fields = bits[i] == 64 ? 0 : fields >> bits[i];
    }
  }
}

/// The residuals of the thread's run.
template <bool kWhole, class Word, class Tables, class Page>
__device__ void add_offsets(const Tables& tables, const unsigned char* ring,
                            const typename Tables::Slot (&slots)[kAnsRun], int count, Page& page,
                            Word (&values)[kAnsRun]) {
  std::uint32_t bits[kAnsRun], total = 0;
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const AnsBin<Word> bin = tables.bin_of(slots[i]);
    const bool there = kWhole || i < count;
    values[i] = there ? bin.lower : 0;
    bits[i] = there ? bin.offset_bits : 0;
    total += bits[i];
  }
  std::uint32_t sum = total;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
  const std::uint32_t bit = page.bit + sum - total;
  page.bit += __shfl_sync(device::kWholeWarp, sum, 31);
  const std::uint32_t behind = page.bit / 8 + 8;  // what reading words may touch
  if (!page.offsets.has(behind)) {
    __pipeline_wait_prior(0);
    __syncwarp();  // what was asked for just now is there for all
    page.offsets.land();
    page.words.land();
    if (!page.offsets.has(behind)) {
      add_fields(
          bits, bit, [&](std::uint32_t n) { return page.offsets.memory_word(n); }, values);
      return;
    }
  }
  const auto word_at = [ring](std::uint32_t n) {
    return reinterpret_cast<const std::uint32_t*>(ring)[n % (decltype(page.offsets)::kBytes / 4)];
  };
  constexpr int kHalf = kAnsRun / 2;
  const std::uint32_t first_half = bits[0] + bits[1] + bits[2] + bits[3];
  if (__all_sync(device::kWholeWarp, total <= 64)) {
    add_short_fields<0, kAnsRun>(bits, bit, word_at, values);
  } else if (__all_sync(device::kWholeWarp, first_half <= 64 && total - first_half <= 64)) {
    add_short_fields<0, kHalf>(bits, bit, word_at, values);
    add_short_fields<kHalf, kHalf>(bits, bit + first_half, word_at, values);
  } else {
    add_fields(bits, bit, word_at, values);
  }
}

/// Sums of a lane's order over the warp's runs. `states`: y1 … yq. Threads behind `last` have no part in the
/// lane, and get what nobody wants.
template <class Word>
__device__ void sum_lane(Word (&values)[kAnsRun], Word* states, int order, int last) {
#pragma unroll 1
  for (int k = 0; k < order; ++k) {
    Word own = 0;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) own += values[i];
    Word sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
    const Word carry = states[k];
    __syncwarp();  // all threads have read the state
    if (device::thread_of_warp() == last) states[k] = carry + sum;
    Word state = carry + sum - own;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) values[i] = state += values[i];
  }
  __syncwarp();  // the next tile reads the new states
}

/// Whether bits of a byte from `bit` on are zero.
__device__ inline bool padding_is_zero(const unsigned char* bytes, std::uint32_t bit) {
  return bit % 8 == 0 || bytes[bit / 8] >> bit % 8 == 0;
}

/// Whether all selectors of a page name tables, and zero bits follow them; the whole warp calls it.
__device__ inline bool selectors_are_valid(const AnsPageShape& shape,
                                           const unsigned char* selectors, int num_tables) {
  if (shape.selector_bits == 0) return true;
  const auto all = static_cast<std::uint32_t>(shape.selectors());
  bool valid = padding_is_zero(selectors, all * shape.selector_bits);
  for (std::uint32_t n = device::thread_of_warp(); n < all; n += 32) {
    const std::uint32_t bit = n * shape.selector_bits;
    std::uint32_t field = selectors[bit / 8];
    if (bit % 8 + shape.selector_bits > 8) field |= selectors[bit / 8 + 1] << 8;
    valid &= (field >> bit % 8 & ((1u << shape.selector_bits) - 1)) <
             static_cast<std::uint32_t>(num_tables);
  }
  return __all_sync(device::kWholeWarp, valid);
}

/// The tables that a thread's spans choose, lane by lane. Fetched a lane ahead.
struct AnsSelectors {
  const unsigned char* from;
  std::uint32_t bytes;
  std::uint32_t bit;        // of the next one
  std::uint32_t step;       // bits from lane to lane
  std::uint32_t mask;       // 0: there is one table
  std::uint32_t low, high;  // the bytes that hold the next one, put together when they are there

  __device__ void begin(const AnsPageShape& shape, const unsigned char* selectors) {
    from = selectors;
    bytes = static_cast<std::uint32_t>(shape.selector_bytes());
    const int thread = min(device::thread_of_warp(), shape.states - 1);
    bit = (kAnsRun * thread >> shape.span_bits) * shape.selector_bits;
    step = shape.spans * shape.selector_bits;
    mask = (1u << shape.selector_bits) - 1;
    low = high = 0;
    if (mask != 0) fetch();
  }
  __device__ std::uint32_t next() {
    if (mask == 0) return 0;
    const std::uint32_t table = (low | high << 8) >> bit % 8 & mask;
    bit += step;
    fetch();
    return table;
  }

 private:
  __device__ void fetch() {
    const std::uint32_t at = bit / 8;
    low = at < bytes ? from[at] : 0;
    high = at + 1 < bytes ? from[at + 1] : 0;
  }
};

/// Where a byte of a tile lies in the stage: runs have a gap behind them, which spreads them over banks.
template <int ValueBytes>
__device__ std::uint32_t staged_at(std::uint32_t byte, std::uint32_t run_bytes) {
  return byte + sizeof(WordOf<ValueBytes>) * (byte / run_bytes);
}

/// The staged tuples of a tile to their places.
template <int ValueBytes>
__device__ void store_stage(const unsigned char* stage, unsigned char* out, std::uint32_t tuples,
                            std::uint32_t tuple_bytes, std::uint32_t record_bytes) {
  const int thread = device::thread_of_warp();
  const std::uint32_t run_bytes = kAnsRun * tuple_bytes;
  if (record_bytes == tuple_bytes && (reinterpret_cast<std::uintptr_t>(out) & 3) == 0) {
    const std::uint32_t bytes = tuples * tuple_bytes;
    std::uint32_t at = 4 * thread;
#pragma unroll 4
    for (; at + 4 <= bytes; at += 128)
      *reinterpret_cast<std::uint32_t*>(out + at) =
          *reinterpret_cast<const std::uint32_t*>(stage + staged_at<ValueBytes>(at, run_bytes));
#pragma unroll 1
    for (; at < bytes; ++at) out[at] = stage[staged_at<ValueBytes>(at, run_bytes)];
    return;
  }
#pragma unroll 1
  for (std::uint32_t n = thread; n < tuples * tuple_bytes; n += 32)
    out[static_cast<std::uint64_t>(n / tuple_bytes) * record_bytes + n % tuple_bytes] =
        stage[staged_at<ValueBytes>(n, run_bytes)];
}

/// Whole runs of a lane alone, of neighbouring bytes that are aligned to 16.
template <int ValueBytes>
__device__ void store_run(const WordOf<ValueBytes> (&values)[kAnsRun], unsigned char* out) {
  using Shape = TileShape<ValueBytes, 1, kAnsRun>;
  std::uint32_t words[Shape::kRunBytes / 4];
  pack_run<ValueBytes, 1>(reinterpret_cast<const WordOf<ValueBytes>(&)[1][kAnsRun]>(values), words);
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    if constexpr (Shape::kPieceBytes == 16) {
      __stcs(reinterpret_cast<uint4*>(out) + i,
             make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]));
    } else {
      __stcs(reinterpret_cast<uint2*>(out) + i, make_uint2(words[2 * i], words[2 * i + 1]));
    }
  }
}

/// The thread's values, `count` of them, each so many bytes behind the one before.
template <int ValueBytes>
__device__ void scatter_run(const WordOf<ValueBytes> (&values)[kAnsRun], int count,
                            unsigned char* out, std::uint32_t step, bool aligned) {
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    if (i < count)
      store_value(out + static_cast<std::uint64_t>(i) * step, ValueBytes, aligned, values[i]);
}

/// Opens a page. Gives false if it ends before its words do, or if a state or a selector is not valid.
template <std::uint32_t kOffsetRing>
__device__ bool open_page(const AnsPageShape& shape, int num_tables,
                          AnsWarpShared<kOffsetRing>& shared, const ColumnTask& task,
                          const PageView& view, AnsPageState<kOffsetRing>& page,
                          AnsSelectors& selectors) {
  const int thread = device::thread_of_warp();
  const unsigned char* const bytes = view.bytes + task.state_bytes;
  const std::uint64_t head_bytes = task.state_bytes + shape.head_bytes();
  if (head_bytes > view.num_bytes) return false;
  const auto num_words = load_value<std::uint32_t>(bytes, 4, false);
  if (num_words > (view.num_bytes - head_bytes) / 2) return false;
  page.x = kAnsLowest;
  if (thread < shape.states)
    page.x = load_value<std::uint32_t>(bytes + 4 + kAnsStateBytes * thread, kAnsStateBytes, false);
  const unsigned char* const first_selector = bytes + 4 + kAnsStateBytes * shape.states;
  if (!__all_sync(device::kWholeWarp, page.x >= kAnsLowest) ||
      !selectors_are_valid(shape, first_selector, num_tables))
    return false;
  selectors.begin(shape, first_selector);
  page.words.begin(shared.words, view.bytes + head_bytes, 2 * num_words);
  page.offsets.begin(shared.offsets, view.bytes + head_bytes + 2 * num_words,
                     view.num_bytes - static_cast<std::uint32_t>(head_bytes) - 2 * num_words);
  __pipeline_commit();
  page.word = page.words.skew();
  page.bit = 8 * page.offsets.skew();
  return true;
}

/// Whether a page has ended as it should.
template <class Page>
__device__ bool ends_well(const Page& page) {
  return page.x == kAnsLowest && page.word == page.words.end() &&
         (page.bit + 7) / 8 == page.offsets.end() &&
         padding_is_zero(page.offsets.memory(), page.bit);
}

/// The residuals of a lane of a tile.
template <class Tables, class Word, std::uint32_t kOffsetRing>
__device__ void decode_lane(const Tables& tables, AnsWarpShared<kOffsetRing>& shared,
                            AnsSelectors& selectors, bool whole, int count,
                            AnsPageState<kOffsetRing>& page, Word (&values)[kAnsRun]) {
  __pipeline_wait_prior(0);
  __syncwarp();  // what was asked for a lane ago is there for all, and the stage has been read
  page.words.land();
  page.offsets.land();
  page.words.advance(shared.words, page.word);
  page.offsets.advance(shared.offsets, page.bit / 8);
  __pipeline_commit();
  if (!page.words.has(page.word + 2 * kMaxAnsTile)) {
    __pipeline_wait_prior(0);
    __syncwarp();  // and what was asked for just now
    page.words.land();
    page.offsets.land();
  }
  using Slot = typename Tables::Slot;
  const device::SharedPlace table(tables.slots + (selectors.next() << page.slot_bits));
  const unsigned char* const words = shared.words + page.word % WordRing::kBytes;
  Slot slots[kAnsRun];
  const auto decode = [&](auto whole_tile, auto words) {
    return decode_symbols<whole_tile()>(table, page.slot_bits, tables.slot_mask, words, count,
                                        page.x, slots);
  };
  if (!whole) {
    page.word += 2 * decode(std::false_type{}, AnyWords{words});
    add_offsets<false>(tables, shared.offsets, slots, count, page, values);
    return;
  }
  page.word +=
      2 * ((page.word & 1) != 0 ? decode(std::true_type{}, OddWords{device::SharedPlace(words - 1)})
                                : decode(std::true_type{}, EvenWords{device::SharedPlace(words)}));
  add_offsets<true>(tables, shared.offsets, slots, count, page, values);
}

template <int ValueBytes, bool kAlone, std::uint32_t kOffsetRing>
__device__ void decode_page(const AnsTablesOf<ValueBytes, kAlone>& tables,
                            AnsWarpShared<kOffsetRing>& shared, unsigned char* stage,
                            std::uint32_t stage_bytes, const ColumnTask& task, const LaneMaps* maps,
                            const PageView& view, unsigned long long* damaged_at) {
  using Word = WordOf<ValueBytes>;
  const int thread = device::thread_of_warp(), tuple = kAlone ? 1 : task.tuple;
  const AnsPageShape shape =
      ans_page_shape(view.tuples, tuple, tables.span_bits, tables.num_tables);
  AnsPageState<kOffsetRing> page;
  AnsSelectors selectors;
  page.slot_bits = tables.slot_bits;
  if (!open_page(shape, tables.num_tables, shared, task, view, page, selectors)) {
    if (thread == 0) report_page(task, view, damaged_at);
    return;
  }
  Word* const states = reinterpret_cast<Word*>(stage + stage_bytes);
  for (std::uint32_t k = thread; k < task.state_bytes / ValueBytes; k += 32)
    states[k] = load_value<Word>(view.bytes + k * ValueBytes, ValueBytes, false);

  const std::uint32_t tuple_bytes = ValueBytes * tuple, record_bytes = task.record_bytes;
  const unsigned char* const orders = task.orders;
  const int same_order = kAlone && orders != nullptr ? orders[0] : task.order;
  const std::uint8_t map = task.map;
  const bool big_endian = task.big_endian;
  const bool finished = task.is_finished_later() || maps != nullptr || (map == 0 && !big_endian);
  const bool is_whole_record = record_bytes == tuple_bytes;
  const bool in_runs =
      kAlone && is_whole_record && (reinterpret_cast<std::uintptr_t>(task.out) & 15) == 0;
  const bool is_staged =
      !kAlone && kMaxAnsTile * tuple_bytes + kMaxAnsStates * sizeof(Word) <= stage_bytes;
  unsigned char* out = task.out + static_cast<std::uint64_t>(view.first) * record_bytes;
#pragma unroll 1
  for (std::uint32_t left = view.tuples; left > 0;) {
    const std::uint32_t tuples = min(left, static_cast<std::uint32_t>(shape.tile_tuples()));
    const bool whole = tuples == kMaxAnsTile;
    // A thread without a state has no residuals.
    const int count = thread < shape.states
                          ? max(min(static_cast<int>(tuples) - kAnsRun * thread, kAnsRun), 0)
                          : 0;
    Word* lane_states = states;
#pragma unroll 1
    for (int lane = 0; lane < tuple; ++lane) {
      Word values[kAnsRun];
      decode_lane(tables, shared, selectors, whole, count, page, values);
      const int order = kAlone || orders == nullptr ? same_order : orders[lane];
      sum_lane(values, lane_states, order, shape.states - 1);
      lane_states += order;
      if (!finished) {
#pragma unroll
        for (int i = 0; i < kAnsRun; ++i)
          values[i] = finish_value(values[i], ValueBytes, map, big_endian);
      }
      if (kAlone && maps != nullptr) undo_lane_map(*maps, 0, ValueBytes, values);
      if (in_runs && whole) {
        store_run<ValueBytes>(values, out + kAnsRun * ValueBytes * thread);
      } else if (is_staged) {
        scatter_run<ValueBytes>(
            values, count,
            stage + thread * (kAnsRun * tuple_bytes + sizeof(Word)) + lane * ValueBytes,
            tuple_bytes, ValueBytes != 3);
      } else {
        unsigned char* const first = out + lane * ValueBytes;
        scatter_run<ValueBytes>(values, count,
                                first + static_cast<std::uint64_t>(kAnsRun * thread) * record_bytes,
                                record_bytes, is_value_aligned(first, record_bytes, ValueBytes));
      }
    }
    if (is_staged) {
      if (maps != nullptr)
        undo_maps_of_tuples<ValueBytes, kAnsRun>(
            *maps, tuple, stage + thread * (kAnsRun * tuple_bytes + sizeof(Word)), ValueBytes != 3);
      __syncwarp();  // the stage is full
      store_stage<ValueBytes>(stage, out, tuples, tuple_bytes, record_bytes);
    }
    out += static_cast<std::uint64_t>(tuples) * record_bytes;
    left -= tuples;
  }
  __pipeline_wait_prior(0);  // nothing is on its way when the rings begin anew
  if (__any_sync(device::kWholeWarp, !ends_well(page)) && thread == 0)
    report_page(task, view, damaged_at);
  __syncwarp();  // the stage and the rings are free
}

/// Some pages of a column, one or more of which each warp takes. The whole block calls it.
template <int ValueBytes, bool kAlone>
__device__ void decode_piece(const AnsArgs& args, std::uint32_t number, std::uint32_t first_page,
                             std::uint32_t end_page) {
  const ColumnTask& task = args.pages.tasks[number];
  const LaneMaps* const maps = lane_maps_of(task);
  using WarpShared = AnsWarpShared<offset_ring_bytes(ValueBytes, kAlone)>;
  auto& shared =
      *reinterpret_cast<AnsBlockShared<AnsTablesOf<ValueBytes, kAlone>>*>(device::dynamic_shared());
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned char* const own = shared.warps + warp * args.warp_bytes;
  __syncthreads();  // nobody decodes any more
  if (threadIdx.x == 0) shared.next_page = first_page + warps;
  build_tables(shared.tables, *reinterpret_cast<AnsFieldValues*>(shared.warps), task.fields,
               task.directory);
  for (std::uint32_t page = first_page + warp; page < end_page;) {
    decode_page<ValueBytes, kAlone>(shared.tables, *reinterpret_cast<WarpShared*>(own),
                                    own + sizeof(WarpShared), args.stage_bytes, task, maps,
                                    page_view(task, page), args.pages.damaged_at);
    if (device::thread_of_warp() == 0) page = atomicAdd(&shared.next_page, 1u);
    page = __shfl_sync(device::kWholeWarp, page, 0);
  }
}

/// Columns are cut into pieces of about as many pages as a ticket is for: of whole rounds of the block's warps, so
/// that no round but a column's last leaves some idle. Those pieces that begin among the ticket's pages.
template <int ValueBytes, bool kAlone>
__device__ void decode_pieces(const AnsArgs& args, std::uint64_t first, std::uint64_t behind,
                              std::uint64_t ticket_pages) {
  const UnpackArgs& pages = args.pages;
  const std::uint64_t warps = blockDim.x / 32;
  for (std::uint64_t next = first; next < behind;) {
    const std::uint32_t number =
        device::find_start(pages.starts, pages.first_task, pages.end_task, next);
    const std::uint64_t begin = pages.starts[number], stop = pages.starts[number + 1];
    const ColumnTask& task = pages.tasks[number];
    const std::uint64_t rounds = (stop - begin + warps - 1) / warps;
    const std::uint64_t pieces = (stop - begin + ticket_pages - 1) / ticket_pages;
    const auto page_of = [&](std::uint64_t piece) {
      return min(rounds * piece / pieces * warps, stop - begin);
    };
    std::uint64_t piece = (next - begin) / warps * pieces / rounds;
    while (piece < pieces && begin + page_of(piece) < next) ++piece;
    for (; task.coder == kAnsCoder && piece < pieces && begin + page_of(piece) < behind; ++piece)
      decode_piece<ValueBytes, kAlone>(args, number, static_cast<std::uint32_t>(page_of(piece)),
                                       static_cast<std::uint32_t>(page_of(piece + 1)));
    next = stop;
  }
}

/// How many pages a ticket is for: two rounds of a block's warps, so that tables are built less often, if there
/// is enough to do for all blocks.
__device__ inline std::uint64_t pages_of_ticket(std::uint64_t pages) {
  const std::uint64_t warps = blockDim.x / 32;
  return pages > 8 * warps * gridDim.x ? 2 * warps : warps;
}

template <int ValueBytes, bool kAlone>
__global__ void __launch_bounds__(32 * ans_policy(ValueBytes, kAlone).warps_per_block,
                                  ans_policy(ValueBytes, kAlone).blocks_per_sm)
    decode_ans_pages_kernel(AnsArgs args) {
  device::start_successor();
  auto& shared =
      *reinterpret_cast<AnsBlockShared<AnsTablesOf<ValueBytes, kAlone>>*>(device::dynamic_shared());
  device::wait_for_predecessor();
  const UnpackArgs& pages = args.pages;
  const std::uint64_t begin = pages.starts[pages.first_task], end = pages.starts[pages.end_task];
  const std::uint64_t ticket_pages = pages_of_ticket(end - begin);
  for (;;) {
    __syncthreads();  // the ticket before has been read
    if (threadIdx.x == 0) shared.ticket = atomicAdd(pages.tickets, 1ull);
    __syncthreads();  // this one is there
    const std::uint64_t ticket = shared.ticket, first = begin + ticket * ticket_pages;
    if (first >= end) {
      // Every block draws one for which there is no page; the last of those makes the count zero again.
      const std::uint64_t with_pages = (end - begin + ticket_pages - 1) / ticket_pages;
      if (threadIdx.x == 0 && ticket == with_pages + gridDim.x - 1) *pages.tickets = 0;
      return;
    }
    decode_pieces<ValueBytes, kAlone>(args, first, min(first + ticket_pages, end), ticket_pages);
  }
}

// ---- Launching

constexpr std::size_t kReservedShared = 1024;  // of each block, by the device

template <int ValueBytes, bool kAlone>
std::size_t shared_bytes(int warps, std::uint32_t warp_bytes) {
  return sizeof(AnsBlockShared<AnsTablesOf<ValueBytes, kAlone>>) +
         std::max(sizeof(AnsFieldValues), std::size_t{warp_bytes} * warps);
}

struct AnsGrid {
  int warps_per_block, blocks_per_sm;
};

/// The most warps of a multiprocessor for which registers and shared memory have room, in large blocks rather
/// than small ones.
template <int ValueBytes, bool kAlone>
cudaError_t choose_grid(std::uint32_t warp_bytes, AnsGrid& grid) {
  constexpr AnsPolicy kPolicy = ans_policy(ValueBytes, kAlone);
  int most = 0, all = 0;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(most))
    return error;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMaxSharedMemoryPerMultiprocessor>(all))
    return error;
  grid = {.warps_per_block = 1, .blocks_per_sm = 1};
  for (int warps = 1; warps <= kPolicy.warps_per_block; ++warps) {
    const std::size_t bytes = shared_bytes<ValueBytes, kAlone>(warps, warp_bytes);
    if (bytes > static_cast<std::size_t>(most)) break;
    const int blocks = std::min(kPolicy.blocks_per_sm * kPolicy.warps_per_block / warps,
                                static_cast<int>(all / (bytes + kReservedShared)));
    if (blocks * warps >= grid.blocks_per_sm * grid.warps_per_block)
      grid = {.warps_per_block = warps, .blocks_per_sm = blocks};
  }
  return cudaSuccess;
}

template <int ValueBytes, bool kAlone>
cudaError_t launch(AnsArgs args, int most_tuple, std::uint64_t max_pages, cudaStream_t stream) {
  using Word = WordOf<ValueBytes>;
  constexpr auto kKernel = decode_ans_pages_kernel<ValueBytes, kAlone>;
  if (const cudaError_t error = device::raise_shared_limit(kKernel)) return error;
  int processors = 0;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  args.warp_bytes =
      static_cast<std::uint32_t>(sizeof(AnsWarpShared<offset_ring_bytes(ValueBytes, kAlone)>) +
                                 args.stage_bytes + most_tuple * kMaxDeltaOrder * sizeof(Word));
  AnsGrid grid;
  if (const cudaError_t error = choose_grid<ValueBytes, kAlone>(args.warp_bytes, grid))
    return error;
  const std::uint64_t bundles = (max_pages + grid.warps_per_block - 1) / grid.warps_per_block;
  const auto blocks = static_cast<unsigned>(
      std::min(bundles, static_cast<std::uint64_t>(processors) * grid.blocks_per_sm));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(
      blocks, 32 * grid.warps_per_block,
      shared_bytes<ValueBytes, kAlone>(grid.warps_per_block, args.warp_bytes), stream, args);
}

template <int ValueBytes>
cudaError_t launch_class(const PageClass& pages, AnsArgs args, std::uint64_t max_pages,
                         cudaStream_t stream) {
  if (pages.most_tuple == 1) return launch<ValueBytes, true>(args, 1, max_pages, stream);
  const std::uint32_t tile =
      kMaxAnsTile * ValueBytes * pages.most_tuple + kMaxAnsStates * sizeof(WordOf<ValueBytes>);
  args.stage_bytes = tile <= kMostStageBytes ? (tile + 15) / 16 * 16 : 0;
  return launch<ValueBytes, false>(args, pages.most_tuple, max_pages, stream);
}

}  // namespace

cudaError_t launch_ans_pages_block(const PageClass& pages, const UnpackArgs& args,
                                   std::uint64_t max_pages, cudaStream_t stream) {
  const AnsArgs own{.pages = args, .stage_bytes = 0, .warp_bytes = 0};
  switch (pages.value_bytes) {
    case 1:
      return launch_class<1>(pages, own, max_pages, stream);
    case 2:
      return launch_class<2>(pages, own, max_pages, stream);
    case 3:
      return launch_class<3>(pages, own, max_pages, stream);
    case 4:
      return launch_class<4>(pages, own, max_pages, stream);
    default:
      return launch_class<8>(pages, own, max_pages, stream);
  }
}

}  // namespace gdelta::cuda
