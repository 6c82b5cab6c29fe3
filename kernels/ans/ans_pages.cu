// A warp decodes a page of the ans coder, tile by tile and lane by lane: its threads are the states, each
// with eight consecutive residuals, which are summed in registers. A block shares the tables of a column:
// it draws a ticket for a piece of one, whose pages its warps take one after the other. Spec: coders/ans.md.
//
// Words and offsets come through rings in shared memory, fetched ahead. Short runs are stored from registers where a
// tile is whole and has few lanes; others meet in a stage, from which whole tuples leave, as far as a tile fits in.
#include <algorithm>

#include "kernels/ans/ans_ahead.cuh"
#include "kernels/ans/ans_page_check.cuh"
#include "kernels/ans/ans_pieces.h"
#include "kernels/ans/ans_run.cuh"
#include "kernels/ans/ans_store.cuh"
#include "kernels/ans/ans_tables_block.cuh"
#include "kernels/ans/ans_whole_tiles.cuh"
#include "kernels/checksum/compare_page.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_ahead.cuh"
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
/// Columns of which a launch takes pages. Each kind is a kernel of its own.
enum class AnsKind {
  alone,  // of one lane
  few,    // of two to four
  four,   // of four, of four bytes each: their stages leave no room for states
  any,    // of any number
};
constexpr AnsPolicy ans_policy(int value_bytes, AnsKind kind) {
  if (value_bytes == 8) return {8, kind == AnsKind::alone ? 3 : 2};
  return kind == AnsKind::alone || kind == AnsKind::few ? AnsPolicy{16, 2} : AnsPolicy{8, 3};
}
/// Whether whole tiles have loops of their own (ans_whole_tiles.cuh).
constexpr bool has_whole_tiles(AnsKind kind) { return kind != AnsKind::any; }
/// Whether slots have their bins with them.
constexpr bool has_whole_slots(int value_bytes, AnsKind kind) {
  return kind == AnsKind::alone ? value_bytes < 8 : kind == AnsKind::few && value_bytes < 3;
}
/// A slot of those tables.
template <int ValueBytes, AnsKind kKind>
using AnsSlotOf =
    std::conditional_t<!has_whole_slots(ValueBytes, kKind), AnsSlot,
                       std::conditional_t<ValueBytes <= 2, AnsNarrowSlot, AnsWholeSlot>>;
/// A step takes 256 offsets; beside the stage of a tuple there is no room for more. Loops of whole tiles read three words of
/// four bytes from any place; that of lanes alone fetches segments of a whole warp.
template <AnsKind kKind>
using OffsetRing = RingAhead<kKind == AnsKind::alone ? 2048 : 1024, has_whole_tiles(kKind) ? 16 : 0,
                             kKind == AnsKind::alone ? 512 : 256>;
using WordRing =
    RingAhead<1024, 2 * kMaxAnsTile>;  // a step takes two bytes for each residual at most
constexpr std::uint32_t kMostStageBytes = 8192 + kMaxAnsStates * 8;

// ---- Shared memory: the tables, then for each warp its own and its stage

/// A warp's own.
template <class Offsets>
struct AnsWarpShared {
  alignas(16) unsigned char words[WordRing::kSharedBytes];
  alignas(16) unsigned char offsets[Offsets::kSharedBytes];
};
struct AnsArgs {
  UnpackArgs pages;
  std::uint32_t
      stage_bytes;           // for a tile, of wide tuples perhaps for some lanes; 0: none is staged
  std::uint32_t warp_bytes;  // AnsWarpShared, stage, and states of the deltas if it has them
};

template <int ValueBytes, AnsKind kKind>
using AnsTablesOf = AnsSharedTables<WordOf<ValueBytes>, AnsSlotOf<ValueBytes, kKind>,
                                    has_whole_tiles(kKind) && kKind != AnsKind::alone>;

template <class Tables>
struct AnsBlockShared {
  Tables tables;
  unsigned long long ticket;
  std::uint32_t next_page;  // of the piece that is being decoded
  std::uint32_t ticket_pages;
  alignas(16) unsigned char warps[16];  // more follows; fields of models while tables are built
};

/// What decoding a page moves on.
template <class Offsets>
struct AnsDecodeState {
  const unsigned char* base;  // of the rings' places: at or before the page
  WordRing words;
  Offsets offsets;
  int slot_bits;
  std::uint32_t x;     // the thread's state
  std::uint32_t word;  // byte of the next one, as rings count
  std::uint32_t bit;   // of the next offset
};

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
  const std::uint32_t* from;  // at or before the page
  std::uint32_t last;         // of the words that they are in
  std::uint32_t bit;          // of the next one
  std::uint32_t step;         // bits from lane to lane
  std::uint32_t mask;         // 0: there is one table
  std::uint32_t low, high;    // the words that hold the next one

  /// The first one is in byte `place` behind `base`.
  __device__ void begin(const AnsPageShape& shape, const unsigned char* base, std::uint32_t place) {
    from = reinterpret_cast<const std::uint32_t*>(base);
    last = (place + static_cast<std::uint32_t>(shape.selector_bytes()) - 1) / 4;
    const int thread = min(device::thread_of_warp(), shape.states - 1);
    bit = 8 * place + (kAnsRun * thread >> shape.span_bits) * shape.selector_bits;
    step = shape.spans * shape.selector_bits;
    mask = (1u << shape.selector_bits) - 1;
    low = high = 0;
    if (mask != 0) fetch();
  }
  __device__ std::uint32_t next() {
    if (mask == 0) return 0;
    const std::uint32_t table = __funnelshift_r(low, high, bit) & mask;
    bit += step;
    fetch();
    return table;
  }

 private:
  __device__ void fetch() {
    low = from[min(bit / 32, last)];
    high = from[min(bit / 32 + 1, last)];
  }
};

/// Bits of a page are counted in 32 bits. The most values that a page can have end before.
constexpr std::uint32_t kMostPageBytes = 1u << 28;

/// Opens a page. Gives false if it ends before its words do, is too long to end well, or if a state or a selector is not
/// valid.
template <class Offsets>
__device__ bool open_page(const AnsPageShape& shape, int num_tables, AnsWarpShared<Offsets>& shared,
                          const ColumnTask& task, const PageView& view,
                          AnsDecodeState<Offsets>& page, AnsSelectors& selectors) {
  const int thread = device::thread_of_warp();
  const unsigned char* const bytes = view.bytes + task.state_bytes;
  const std::uint64_t head_bytes = device::warp_uniform(task.state_bytes) + shape.head_bytes();
  if (head_bytes > view.num_bytes || view.num_bytes > kMostPageBytes) return false;
  const auto num_words = device::warp_uniform(load_value<std::uint32_t>(bytes, 4, false));
  if (num_words > (view.num_bytes - head_bytes) / 2) return false;
  page.x = kAnsLowest;
  if (thread < shape.states)
    page.x = load_value<std::uint32_t>(bytes + 4 + kAnsStateBytes * thread, kAnsStateBytes, false);
  const unsigned char* const first_selector = bytes + 4 + kAnsStateBytes * shape.states;
  if (!__all_sync(device::kWholeWarp, page.x >= kAnsLowest) ||
      !selectors_are_valid(shape, first_selector, num_tables))
    return false;
  const std::uint32_t skew = device::warp_uniform(
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(view.bytes) & 15));
  const std::uint32_t first_word = skew + static_cast<std::uint32_t>(head_bytes);
  const std::uint32_t first_offset = first_word + 2 * num_words;
  page.base = view.bytes - skew;
  selectors.begin(shape, page.base, static_cast<std::uint32_t>(first_selector - page.base));
  page.words.begin(shared.words, page.base, first_word, first_offset, thread);
  page.offsets.begin(shared.offsets, page.base, first_offset, skew + view.num_bytes, thread);
  __pipeline_commit();
  page.word = first_word;
  page.bit = 8 * first_offset;
  return true;
}

/// Whether a page has ended as it should.
template <class Page>
__device__ bool ends_well(const Page& page) {
  return page.x == kAnsLowest && page.word == page.words.end() &&
         (page.bit + 7) / 8 == page.offsets.end() && padding_is_zero(page.base, page.bit);
}

/// The residuals of a lane of a tile.
template <class Tables, class Word, class Offsets>
__device__ void decode_lane(const Tables& tables, AnsWarpShared<Offsets>& shared,
                            AnsSelectors& selectors, bool whole, int count,
                            AnsDecodeState<Offsets>& page, Word (&values)[kAnsRun]) {
  __pipeline_wait_prior(0);
  __syncwarp();  // what was asked for a lane ago is there for all, and the stage has been read
  page.words.land();
  page.offsets.land();
  const int thread = device::thread_of_warp();
  page.words.advance(shared.words, page.base, page.word, thread);
  page.offsets.advance(shared.offsets, page.base, page.bit / 8, thread);
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
  const auto decode = [&](auto whole_tile, const auto first) {
    auto next = first;
    ans_page::decode_symbols<whole_tile()>(table, page.slot_bits, tables.slot_mask, next, count,
                                           (1u << thread) - 1, page.x, slots);
    page.word += next.bytes_behind(first);
  };
  if (!whole) {
    decode(std::false_type{}, ans_page::AnyWords{words});
    ans_page::add_offsets<false>(tables, shared.offsets, slots, count, page, values);
    return;
  }
  if ((page.word & 1) != 0) {
    decode(std::true_type{}, ans_page::OddWords{device::SharedPlace(words - 1)});
  } else {
    decode(std::true_type{}, ans_page::EvenWords{device::SharedPlace(words)});
  }
  ans_page::add_offsets<true>(tables, shared.offsets, slots, count, page, values);
}

/// Holds a page against its check if kChecks: of lanes alone, and of tuples whose tiles are staged.
template <int ValueBytes, AnsKind kKind, bool kChecks, class Offsets>
__device__ void decode_page(const AnsTablesOf<ValueBytes, kKind>& tables,
                            AnsWarpShared<Offsets>& shared, unsigned char* stage,
                            std::uint32_t stage_bytes, const ColumnTask& task, const LaneMaps* maps,
                            bool has_long_offsets, const PageView& view, const UnpackArgs& args) {
  using Word = WordOf<ValueBytes>;
  constexpr bool kAlone = kKind == AnsKind::alone;
  const int thread = device::thread_of_warp();
  const int tuple = kAlone ? 1 : device::warp_uniform<int>(task.tuple);
  const int num_tables = device::warp_uniform<int>(tables.num_tables);
  const AnsPageShape shape =
      ans_page_shape(view.tuples, tuple, device::warp_uniform<int>(tables.span_bits), num_tables);
  AnsDecodeState<Offsets> page;
  AnsSelectors selectors;
  page.slot_bits = device::warp_uniform<int>(tables.slot_bits);
  if (!open_page(shape, num_tables, shared, task, view, page, selectors)) {
    if (thread == 0) report_page(task, view, args.damaged_at);
    return;
  }
  using States = std::conditional_t<kKind == AnsKind::four, ans_page::ThreadStates<Word>,
                                    ans_page::SharedStates<Word>>;
  States states(stage + stage_bytes);
  for (std::uint32_t k = thread; k < task.state_bytes / ValueBytes; k += 32)
    states.set(k, load_value<Word>(view.bytes + k * ValueBytes, ValueBytes, false));

  const std::uint32_t tuple_bytes = ValueBytes * tuple,
                      record_bytes = device::warp_uniform(task.record_bytes);
  const unsigned char* const orders = task.orders;
  const int same_order =
      device::warp_uniform<int>(kAlone && orders != nullptr ? orders[0] : task.order);
  const std::uint8_t map = task.map;
  const bool big_endian = task.big_endian;
  const bool finished = device::warp_uniform(task.is_finished_later() || maps != nullptr ||
                                             (map == 0 && !big_endian));
  const bool has_maps = device::warp_uniform(maps != nullptr);
  const bool is_whole_record = record_bytes == tuple_bytes;
  const bool in_runs = is_whole_record &&
                       device::warp_uniform((reinterpret_cast<std::uintptr_t>(task.out) & 15) == 0);
  // Wide tuples that the stage has no room for leave some lanes at a time.
  constexpr int kSlabLanes = slab_lanes(ValueBytes);
  const bool is_staged =
      !kAlone && (kKind != AnsKind::any ||
                  kMaxAnsTile * tuple_bytes + kMaxAnsStates * sizeof(Word) <= stage_bytes);
  unsigned char* out = task.out + static_cast<std::uint64_t>(view.first) * record_bytes;
  std::uint32_t left = view.tuples;
  const unsigned run_bytes = kAnsRun * tuple_bytes;
  [[maybe_unused]] AnsPageCheck check(run_bytes / 4, shape.states);
  [[maybe_unused]] const bool odd = (page.word & 1) != 0;  // all words are, then
  if constexpr (has_whole_tiles(kKind) && kAlone) {
    if (in_runs && finished && shape.states == kMaxAnsStates && !has_long_offsets) {
      const std::uint32_t tiles = left / kMaxAnsTile;
      const auto decode = [&](const auto& to_undo, auto is_odd) {
        ans_page::decode_whole_tiles<ValueBytes, kChecks>(to_undo, is_odd, tables, shared,
                                                          selectors, same_order, tiles, page,
                                                          states, stage, out, check);
      };
      if (has_maps && device::warp_uniform(is_looked_up<ValueBytes>(maps->lanes[0]))) {
        if constexpr (may_look_up(ValueBytes, 1))
          decode(ans_page::LookUpOfLane<ValueBytes>(*maps), odd);
      } else if (has_maps &&
                 device::warp_uniform(ans_page::DecimalOfLane<ValueBytes>::is_that_of(*maps))) {
        if constexpr (ans_page::DecimalOfLane<ValueBytes>::kMayBe)
          decode(ans_page::DecimalOfLane<ValueBytes>(*maps), odd);
      } else if (has_maps) {
        decode(ans_page::MapOfLane<ValueBytes>(*maps), odd);
      } else if (odd) {
        decode(ans_page::NoMap{}, std::true_type{});
      } else {
        decode(ans_page::NoMap{}, std::false_type{});
      }
      out += static_cast<std::uint64_t>(tiles) * (kMaxAnsTile * ValueBytes);
      left -= tiles * kMaxAnsTile;
    }
  }
  if constexpr (has_whole_tiles(kKind) && !kAlone) {
    if (in_runs && is_staged && finished && shape.states == kMaxAnsStates && !has_long_offsets) {
      const std::uint32_t tiles = left / kMaxAnsTile;
      std::uint32_t packed_orders = 0;
      for (int lane = 0; lane < tuple; ++lane)
        packed_orders |= (orders == nullptr ? same_order : orders[lane]) << 8 * lane;
      packed_orders = device::warp_uniform(packed_orders);
      const auto decode = [&](auto undoes_maps, auto is_odd) {
        const ans_page::TupleStore<ValueBytes, kChecks, undoes_maps()> to{
            .maps = maps, .stage = stage, .tuple = tuple, .thread = thread};
        ans_page::decode_whole_tuples(to, is_odd, tables, shared, selectors, packed_orders, tiles,
                                      page, states, out, check);
      };
      if (has_maps) {
        decode(std::true_type{}, odd);
      } else if (odd) {
        decode(std::false_type{}, std::true_type{});
      } else {
        decode(std::false_type{}, std::false_type{});
      }
      out += static_cast<std::uint64_t>(tiles) * kMaxAnsTile * tuple_bytes;
      left -= tiles * kMaxAnsTile;
    }
  }
  if constexpr (kChecks) {
    if (left > 0) check.open();
  }
  [[maybe_unused]] ans_page::SkewedRuns<ValueBytes> skewed(out);
#pragma unroll 1
  while (left > 0) {
    const std::uint32_t tuples = min(left, static_cast<std::uint32_t>(shape.tile_tuples()));
    const bool whole = tuples == kMaxAnsTile;
    // A thread without a state has no residuals.
    const int count = thread < shape.states
                          ? max(min(static_cast<int>(tuples) - kAnsRun * thread, kAnsRun), 0)
                          : 0;
    auto lane_states = states.of_first_lane();
#pragma unroll 1
    for (int lane = 0; lane < tuple; ++lane) {
      Word values[kAnsRun];
      decode_lane(tables, shared, selectors, whole, count, page, values);
      const int order =
          kAlone || orders == nullptr ? same_order : device::warp_uniform<int>(orders[lane]);
      ans_page::sum_lane(values, lane_states, order, shape.states - 1);
      lane_states.skip(order);
      if (!finished) {
#pragma unroll
        for (int i = 0; i < kAnsRun; ++i)
          values[i] = finish_value(values[i], ValueBytes, map, big_endian);
      }
      if (kAlone && maps != nullptr) {
        undo_map_of_lane_alone<ValueBytes>(maps->lanes[0], values, [&](std::uint32_t beyond) {
          report_indices(*maps, beyond, count);
        });
        if (maps->big_endian) swap_values(ValueBytes, values);
      }
      if constexpr (kChecks && kAlone) {
        ans_page::RunWords<ValueBytes> run;
        ans_page::pack_lane<ValueBytes>(values, run);
        if (!whole) keep_bytes(run, ValueBytes * count);
        check.add(run);
      }
      if (kAlone && in_runs && whole) {
        ans_page::RunWords<ValueBytes> run;
        ans_page::pack_lane<ValueBytes>(values, run);
        ans_page::store_run<ValueBytes>(run, out + kAnsRun * ValueBytes * thread);
      } else if (kAlone && is_whole_record && whole) {
        ans_page::RunWords<ValueBytes> run;
        ans_page::pack_lane<ValueBytes>(values, run);
        skewed.store(run, out, thread);
      } else if (is_staged) {
        ans_page::scatter_run<ValueBytes>(
            values, count, stage + thread * (run_bytes + sizeof(Word)) + lane * ValueBytes,
            tuple_bytes, ValueBytes != 3);
      } else if constexpr (kAlone) {
        ans_page::scatter_run<ValueBytes>(
            values, count, out + static_cast<std::uint64_t>(kAnsRun * thread) * record_bytes,
            record_bytes, is_value_aligned(out, record_bytes, ValueBytes));
      } else {
        const int of_slab = lane % kSlabLanes, slab = lane - of_slab;
        const std::uint32_t slab_bytes = min(kSlabLanes, tuple - slab) * ValueBytes;
        ans_page::scatter_run<ValueBytes>(
            values, count,
            stage + thread * (kAnsRun * slab_bytes + sizeof(Word)) + of_slab * ValueBytes,
            slab_bytes, ValueBytes != 3);
        if (of_slab + 1 == kSlabLanes || lane + 1 == tuple) {
          __syncwarp();  // the stage is full
          ans_page::store_slab<ValueBytes>(stage, out + slab * ValueBytes, tuples, slab_bytes,
                                           record_bytes);
        }
      }
    }
    if (is_staged) {
      if (maps != nullptr)
        undo_maps_of_tuples<ValueBytes, kAnsRun>(
            *maps, tuple, stage + thread * (run_bytes + sizeof(Word)), ValueBytes != 3);
      if constexpr (kChecks)
        check.add_staged(stage + thread * (run_bytes + sizeof(Word)), tuple_bytes * count);
      __syncwarp();  // the stage is full
      ans_page::store_stage<ValueBytes>(stage, out, tuples, tuple_bytes, record_bytes);
    }
    out += static_cast<std::uint64_t>(tuples) * record_bytes;
    left -= tuples;
    if (kAlone && whole && (left < kMaxAnsTile)) skewed.finish(out, thread);
  }
  __pipeline_wait_prior(0);  // nothing is on its way when the rings begin anew
  if (__any_sync(device::kWholeWarp, !ends_well(page)) && thread == 0)
    report_page(task, view, args.damaged_at);
  if constexpr (kChecks) {
    if (task.path == ColumnPath::page_block_verified)
      compare_page(check, task, view, static_cast<unsigned>(shape.tiles), args.differs_at, thread);
  }
  __syncwarp();  // the stage and the rings are free
}

/// Some pages of a column, one or more of which each warp takes. The whole block calls it.
template <int ValueBytes, AnsKind kKind, bool kChecks>
__device__ void decode_piece(const AnsArgs& args, std::uint32_t number, std::uint32_t first_page,
                             std::uint32_t end_page) {
  const ColumnTask& task = args.pages.tasks[number];
  const LaneMaps* const maps = lane_maps_of(task);
  using WarpShared = AnsWarpShared<OffsetRing<kKind>>;
  auto& shared =
      *reinterpret_cast<AnsBlockShared<AnsTablesOf<ValueBytes, kKind>>*>(device::dynamic_shared());
  const int warp = device::warp_number(), warps = blockDim.x / 32;
  unsigned char* const own = shared.warps + warp * args.warp_bytes;
  end_page = device::warp_uniform(end_page);
  __syncthreads();  // nobody decodes any more
  if (threadIdx.x == 0) shared.next_page = first_page + warps;
  const bool has_long_offsets = device::warp_uniform(
      build_tables(shared.tables, *reinterpret_cast<AnsFieldValues*>(shared.warps), task.fields,
                   task.directory, ans_page::most_offset_bits<OffsetRing<kKind>, ValueBytes>()));
  for (std::uint32_t page = device::warp_uniform(first_page + warp); page < end_page;) {
    decode_page<ValueBytes, kKind, kChecks>(shared.tables, *reinterpret_cast<WarpShared*>(own),
                                            own + sizeof(WarpShared), args.stage_bytes, task, maps,
                                            has_long_offsets, uniform_view(page_view(task, page)),
                                            args.pages);
    if (device::thread_of_warp() == 0) page = atomicAdd(&shared.next_page, 1u);
    page = device::warp_uniform(page);
  }
}

/// Decodes those pieces of all columns that begin among the pages of a ticket.
template <int ValueBytes, AnsKind kKind, bool kChecks>
__device__ void decode_pieces(const AnsArgs& args, std::uint64_t first, std::uint64_t behind,
                              std::uint32_t piece_pages) {
  const UnpackArgs& pages = args.pages;
  for (std::uint64_t next = first; next < behind;) {
    const std::uint32_t number = device::warp_uniform(
        device::find_start(pages.starts, pages.first_task, pages.end_task, next));
    const std::uint64_t begin = pages.starts[number], stop = pages.starts[number + 1];
    const AnsPieces pieces(static_cast<std::uint32_t>(stop - begin), blockDim.x / 32, piece_pages);
    std::uint32_t piece = pages.tasks[number].coder == kAnsCoder
                              ? pieces.piece_from(static_cast<std::uint32_t>(next - begin))
                              : pieces.pieces;
    for (; piece < pieces.pieces && begin + pieces.first_page(piece) < behind; ++piece)
      decode_piece<ValueBytes, kKind, kChecks>(args, number, pieces.first_page(piece),
                                               pieces.first_page(piece + 1));
    next = stop;
  }
}

/// How many pages a ticket is for: two rounds of a block's warps, so that tables are built less often, if there
/// is enough to do for all blocks; where columns have less than a round, a column's, since a block decodes one after the
/// other.
__device__ inline std::uint32_t pages_of_ticket(std::uint64_t pages, std::uint32_t columns) {
  const std::uint32_t warps = blockDim.x / 32;
  if (pages > std::uint64_t{8} * warps * gridDim.x) return 2 * warps;
  const std::uint32_t of_column = (static_cast<std::uint32_t>(pages) + columns - 1) / columns;
  return of_column < warps ? max(of_column, 1u) : warps;
}

template <int ValueBytes, AnsKind kKind, bool kChecks>
__global__ void __launch_bounds__(32 * ans_policy(ValueBytes, kKind).warps_per_block,
                                  ans_policy(ValueBytes, kKind).blocks_per_sm)
    decode_ans_pages_kernel(AnsArgs args) {
  device::start_successor();
  auto& shared =
      *reinterpret_cast<AnsBlockShared<AnsTablesOf<ValueBytes, kKind>>*>(device::dynamic_shared());
  device::wait_for_predecessor();
  const UnpackArgs& pages = args.pages;
  const std::uint64_t begin = pages.starts[pages.first_task];
  const std::uint64_t all = pages.starts[pages.end_task] - begin;
  if (threadIdx.x == 0)
    shared.ticket_pages = pages_of_ticket(all, pages.end_task - pages.first_task);
  for (;;) {
    __syncthreads();  // the ticket before has been read
    if (threadIdx.x == 0) shared.ticket = atomicAdd(pages.tickets, 1ull);
    __syncthreads();  // this one is there
    const std::uint64_t ticket = shared.ticket;
    const std::uint32_t ticket_pages = shared.ticket_pages;
    const std::uint64_t first = ticket * ticket_pages;
    if (first >= all) {
      // Every block draws one for which there is no page; the last of those makes the count zero again.
      const std::uint64_t others =
          std::uint64_t{gridDim.x - 1} * ticket_pages;  // and its own is no less
      if (threadIdx.x == 0 && first - others - all < ticket_pages) *pages.tickets = 0;
      return;
    }
    decode_pieces<ValueBytes, kKind, kChecks>(args, begin + first,
                                              begin + min(first + ticket_pages, all),
                                              max(ticket_pages, blockDim.x / 32));
  }
}

// ---- Launching

constexpr std::size_t kReservedShared = 1024;  // of each block, by the device

template <int ValueBytes, AnsKind kKind>
std::size_t shared_bytes(int warps, std::uint32_t warp_bytes) {
  return sizeof(AnsBlockShared<AnsTablesOf<ValueBytes, kKind>>) +
         std::max(sizeof(AnsFieldValues), std::size_t{warp_bytes} * warps);
}

/// A warp's part of it.
template <int ValueBytes, AnsKind kKind>
std::uint32_t warp_bytes_of(std::uint32_t stage_bytes, int most_tuple) {
  const std::size_t states =
      kKind == AnsKind::four ? 0 : most_tuple * kMaxDeltaOrder * sizeof(WordOf<ValueBytes>);
  return static_cast<std::uint32_t>(sizeof(AnsWarpShared<OffsetRing<kKind>>) + stage_bytes +
                                    states);
}

struct AnsGrid {
  int warps_per_block, blocks_per_sm;
};

/// The most warps of a multiprocessor that have a page each, for which registers and shared memory have room, in large blocks
/// rather than small ones, a power of two in each: so many pages have most columns. A block has one column at a time.
template <int ValueBytes, AnsKind kKind>
cudaError_t choose_grid(std::uint32_t warp_bytes, std::uint64_t column_pages, AnsGrid& grid) {
  constexpr AnsPolicy kPolicy = ans_policy(ValueBytes, kKind);
  int most = 0, all = 0;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(most))
    return error;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMaxSharedMemoryPerMultiprocessor>(all))
    return error;
  grid = {.warps_per_block = 1, .blocks_per_sm = 1};
  std::uint64_t busy = 0;
  for (int warps = 1; warps <= kPolicy.warps_per_block; warps *= 2) {
    const std::size_t bytes = shared_bytes<ValueBytes, kKind>(warps, warp_bytes);
    if (bytes > static_cast<std::size_t>(most)) break;
    const int blocks = std::min(kPolicy.blocks_per_sm * kPolicy.warps_per_block / warps,
                                static_cast<int>(all / (bytes + kReservedShared)));
    const std::uint64_t most_busy =
        blocks * (column_pages == 0 ? warps : std::min<std::uint64_t>(warps, column_pages));
    if (most_busy < busy) continue;
    busy = most_busy;
    grid = {.warps_per_block = warps, .blocks_per_sm = blocks};
  }
  return cudaSuccess;
}

template <int ValueBytes, AnsKind kKind, bool kChecks>
cudaError_t launch(AnsArgs args, const PageClass& pages, std::uint64_t max_pages,
                   cudaStream_t stream) {
  constexpr auto kKernel = decode_ans_pages_kernel<ValueBytes, kKind, kChecks>;
  if (const cudaError_t error = device::raise_shared_limit(kKernel)) return error;
  int processors = 0;
  if (const cudaError_t error =
          device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  args.warp_bytes = warp_bytes_of<ValueBytes, kKind>(args.stage_bytes, pages.most_tuple);
  AnsGrid grid;
  if (const cudaError_t error =
          choose_grid<ValueBytes, kKind>(args.warp_bytes, pages.column_pages, grid))
    return error;
  const std::uint64_t bundles = (max_pages + grid.warps_per_block - 1) / grid.warps_per_block;
  const auto blocks = static_cast<unsigned>(
      std::min(bundles, static_cast<std::uint64_t>(processors) * grid.blocks_per_sm));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(
      blocks, 32 * grid.warps_per_block,
      shared_bytes<ValueBytes, kKind>(grid.warps_per_block, args.warp_bytes), stream, args);
}

template <int ValueBytes, AnsKind kKind>
cudaError_t launch_kind(const AnsArgs& args, const PageClass& pages, std::uint64_t max_pages,
                        cudaStream_t stream) {
  return args.pages.differs_at != nullptr
             ? launch<ValueBytes, kKind, true>(args, pages, max_pages, stream)
             : launch<ValueBytes, kKind, false>(args, pages, max_pages, stream);
}

template <int ValueBytes>
cudaError_t launch_class(const PageClass& pages, AnsArgs args, std::uint64_t max_pages,
                         cudaStream_t stream) {
  const int most_tuple = pages.most_tuple;
  args.stage_bytes = ans_page::runs_lie_far_apart<ValueBytes, 1>() ? kMaxAnsTile * ValueBytes : 0;
  if (most_tuple == 1)
    return launch_kind<ValueBytes, AnsKind::alone>(args, pages, max_pages, stream);
  const auto stage_of = [](int lanes) {
    return static_cast<std::uint32_t>(kMaxAnsTile * ValueBytes * lanes +
                                      kMaxAnsStates * sizeof(WordOf<ValueBytes>) + 15) /
           16 * 16;
  };
  static_assert(kMaxAnsTile * ans_page::kSlabBytes<ValueBytes> +
                    kMaxAnsStates * sizeof(WordOf<ValueBytes>) <=
                kMostStageBytes);
  args.stage_bytes = stage_of(most_tuple);
  if (args.stage_bytes > kMostStageBytes) args.stage_bytes = stage_of(slab_lanes(ValueBytes));
  if (is_wide(most_tuple))
    return launch<ValueBytes, AnsKind::any, false>(args, pages, max_pages, stream);
  if constexpr (ValueBytes == 4) {
    if (most_tuple == 4)
      return launch_kind<ValueBytes, AnsKind::four>(args, pages, max_pages, stream);
  }
  return launch_kind<ValueBytes, AnsKind::few>(args, pages, max_pages, stream);
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
