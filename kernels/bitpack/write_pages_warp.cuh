// The second look at pages that a warp takes: a page is put together in shared memory, where fields meet
// at any bit, and leaves for its place in whole vectors.
#pragma once

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/bitpack/page_runs.cuh"
#include "kernels/bitpack/run_residuals.cuh"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kWriteWarps = 4;

/// Words of a window: all that pages of bytes can have, and of others as many as leave room for warps.
inline constexpr std::uint32_t window_words(int value_bytes) {
  return value_bytes == 1 ? 1056 : value_bytes == 2 ? 1728 : 2048;
}
/// Blocks that a multiprocessor should have room for, where registers allow for more than they come to by themselves.
template <class Shape>
inline constexpr int kWriteBlocks = Shape::kRegisters > 24    ? 0
                                    : Shape::kValueBytes == 1 ? 8
                                    : Shape::kValueBytes == 2 ? 7
                                                              : 6;

/// A window of a page as it will lie in memory: bit 0 is that of the vector of 16 bytes in which the page
/// begins. Pages seldom have more than one.
template <int kValueBytes>
struct PageImage {
  static constexpr std::uint32_t kWords = window_words(kValueBytes);
  uint4 vectors[kWords / 4 + 1];  // the last one takes zeros behind the last field

  __device__ std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(vectors); }

  __device__ void clear(std::uint32_t num_words, int thread) {
    for (std::uint32_t i = thread; 4 * i < num_words; i += 32) vectors[i] = make_uint4(0, 0, 0, 0);
    __syncwarp();  // bits are zero before fields come
  }
};

/// Zigzagged residuals of a tile on their way from runs to slots: thread s of a group's gets slots kRun × s and on, which
/// are residuals i, i + 8, i + 16 ... of the group. Places are mixed so that threads meet in no bank, whether they
/// write vectors or read words.
template <class Word, int kRun>
struct SlotTurn {
  static constexpr int kVector = 16 / sizeof(Word);
  alignas(16) Word words[32 * kRun];

  __device__ void write(const Word (&run)[kRun], int thread) {
    __syncwarp();  // the lane before this one has been read
#pragma unroll
    for (int i = 0; i < kRun; i += kVector) {
      union {
        uint4 all;
        Word each[kVector];
      } vector;
#pragma unroll
      for (int j = 0; j < kVector; ++j) vector.each[j] = run[i + j];
      *reinterpret_cast<uint4*>(words + place(thread, i)) = vector.all;
    }
    __syncwarp();  // all runs are there
  }
  __device__ void read(Word (&slots)[kRun], int thread) const {
    if constexpr (kRun == 8) {
      const int strip = thread / 16 * 2 + thread % 2, residual = thread % 16 / 2;
      const int first = place(8 * strip, residual);
#pragma unroll
      for (int j = 0; j < kRun; ++j) slots[j] = words[first ^ place_bits(j, 0)];
    } else {
      const int first = place(thread & 24, thread & 7);
#pragma unroll
      for (int j = 0; j < kRun; ++j) slots[j] = words[first ^ place_bits(j / 2, 8 * (j % 2))];
    }
  }
  /// Residual `i` of this thread's run.
  __device__ Word& of_run(int i, int thread) { return words[place(thread, i)]; }

 private:
  /// Where residual i of a thread's run lies. Runs of 16 are of words of four bytes.
  __device__ static int place(int thread, int i) {
    constexpr int kGroup = 8;
    const int group_bits = thread / kGroup;
    if constexpr (kRun == 8) {
      return (kRun * (thread ^ group_bits)) ^ (i ^ (thread & (kRun - kVector)));
    } else {
      return (kRun * (thread ^ group_bits >> 1)) ^ place_of_vector(thread, i) ^
             (group_bits & 1) << 3;
    }
  }
  /// What another thread of the same eight, and another residual, change of it.
  __device__ static constexpr int place_bits(int thread, int i) {
    if constexpr (kRun == 8) return (kRun * thread) ^ (i ^ (thread & (kRun - kVector)));
    return (kRun * thread) ^ place_of_vector(thread, i);
  }
  __device__ static constexpr int place_of_vector(int thread, int i) {
    return i ^ (thread >> 1 & 3) << 2;
  }
};

/// The low `width` bits of a word.
template <class Word>
__device__ inline Word low_bits(int width) {
  if constexpr (sizeof(Word) == 4) return static_cast<Word>((std::uint64_t{1} << width) - 1);
  return width == 0 ? Word{0} : value_mask<Word>(width);
}

/// A page in the making; kWhole: all of it is in the window. What lies outside is left out.
template <class Shape, bool kWhole>
struct PageWriter {
  using Word = typename Shape::Word;
  using Image = PageImage<Shape::kValueBytes>;
  static constexpr int kRun = Shape::kRun;
  Image& image;
  std::uint32_t first_word;  // of the window
  std::uint32_t lead;        // bytes between the first vector's beginning and the page's

  /// Puts up to 64 bits to where nothing else is put.
  __device__ void join(std::uint32_t byte, std::uint32_t bit, std::uint64_t field) const {
    bit += 8 * (lead + byte);
    const auto low = static_cast<std::uint32_t>(field);
    const auto high = static_cast<std::uint32_t>(field >> 32);
    const std::uint32_t last = __funnelshift_l(high, 0, bit & 31);
    put(bit / 32, low << (bit & 31));
    put(bit / 32 + 1, __funnelshift_l(low, high, bit & 31));
    if (last != 0) put(bit / 32 + 2, last);
  }
  __device__ void put_byte(std::uint32_t byte, std::uint32_t value) const {
    byte += lead;
    put(byte / 4, __funnelshift_l(0, value, 8 * byte));  // shifts by the lowest five bits
  }

  /// Fields that follow each other, joined to as few as there are room for; widths in the warp are at most
  /// `widest`.
  __device__ void put_fields(const Word (&fields)[kRun], int width, int widest,
                             std::uint32_t byte) const {
    if constexpr (sizeof(Word) == 8) {
      if (widest > 32) {
#pragma unroll
        for (int i = 0; i < kRun; ++i) join(byte, i * width, fields[i]);
        return;
      }
    }
    if (widest > 16) {
#pragma unroll
      for (int i = 0; i < kRun; i += 2)
        join(byte, i * width,
             static_cast<std::uint32_t>(fields[i]) |
                 static_cast<std::uint64_t>(static_cast<std::uint32_t>(fields[i + 1])) << width);
      return;
    }
    std::uint32_t pairs[kRun / 2];
    join_neighbours(fields, pairs, width);
    if (widest > 8) {
#pragma unroll
      for (int i = 0; i < kRun / 2; i += 2)
        join(byte, 2 * i * width, pairs[i] | static_cast<std::uint64_t>(pairs[i + 1]) << 2 * width);
      return;
    }
    std::uint32_t fours[kRun / 4];
    join_neighbours(pairs, fours, 2 * width);
#pragma unroll
    for (int i = 0; i < kRun / 4; i += 2)
      join(byte, 4 * i * width, fours[i] | static_cast<std::uint64_t>(fours[i + 1]) << 4 * width);
  }

  /// Positions in rising order, then what does not fit the width, each to its group's place. What fits stays behind.
  __device__ void put_exceptions(const Word (&run)[kRun], SlotTurn<Word, kRun>& turn,
                                 GroupDescriptor descriptor, std::uint32_t byte, int thread) const {
    const Word fits = low_bits<Word>(descriptor.width());
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < kRun; ++i) mine |= (run[i] > fits ? 1u : 0u) << i;
    // Those of the group's threads before this one: most threads have one at most.
    const unsigned before = (1u << thread) - (1u << (thread & ~(Shape::kGroupThreads - 1)));
    const int count = __popc(mine);
    int rank = __popc(__ballot_sync(device::kWholeWarp, (count & 1) != 0) & before);
#pragma unroll 1
    for (int bit = 2; __any_sync(device::kWholeWarp, count >= bit); bit *= 2)
      rank += bit * __popc(__ballot_sync(device::kWholeWarp, (count & bit) != 0) & before);
    std::uint32_t high_byte = byte + descriptor.exceptions() + rank * descriptor.high_bytes();
    for (byte += rank; mine != 0; mine &= mine - 1, ++byte) {
      const int i = __popc(~mine & (mine - 1));
      Word& residual = turn.of_run(i, thread);
      Word high = residual >> descriptor.width();
      residual &= fits;
      put_byte(byte, kRun * (thread % Shape::kGroupThreads) + i);
      put_byte(high_byte++, static_cast<std::uint32_t>(high & 0xff));
      if constexpr (Shape::kValueBytes > 1) {
#pragma unroll 1
        for (int b = 1; b < descriptor.high_bytes(); ++b) {
          high >>= 8;
          put_byte(high_byte++, static_cast<std::uint32_t>(high & 0xff));
        }
      }
    }
    __syncwarp();  // nothing is above the width any more
  }

 private:
  /// Of fields of `width` bits fields of twice as many, up to 32.
  template <class Field, int kFields>
  __device__ static void join_neighbours(const Field (&fields)[kFields],
                                         std::uint32_t (&joined)[kFields / 2], int width) {
    // A product and a sum are one instruction, a shift and a sum two.
    const auto shifted = static_cast<std::uint32_t>(device::forget(1 << width));
#pragma unroll
    for (int i = 0; i < kFields / 2; ++i)
      joined[i] = static_cast<std::uint32_t>(fields[2 * i]) +
                  static_cast<std::uint32_t>(fields[2 * i + 1]) * shifted;
  }
  __device__ void put(std::uint32_t word, std::uint32_t bits) const {
    word -= first_word;
    if (kWhole || word < Image::kWords) atomicOr(image.words() + word, bits);
  }
};

template <class Shape>
struct WritePageShared {
  PageImage<Shape::kValueBytes> image;
  SlotTurn<typename Shape::Word, Shape::kRun> turn;
  RunResiduals<Shape> residuals;
};

/// Where a group and its exceptions lie among those of the page, in bytes, in one word.
struct GroupPlaces {
  std::uint32_t word;
  __device__ static GroupPlaces of(GroupDescriptor group) {
    return {static_cast<std::uint32_t>(group.group_bytes() | group.exception_bytes() << 16)};
  }
  __device__ std::uint32_t group() const { return word & 0xffff; }
  __device__ std::uint32_t exceptions() const { return word >> 16; }
};
static_assert(kUnitGroups * kGroupValues * 8 < 1 << 16);  // bytes of groups
static_assert(kUnitGroups * 127 * (1 + 8) < 1 << 16);     // and of exceptions

/// Where the parts of a page lie in it, and what thread g knows of group g.
struct PageParts {
  std::uint32_t groups;      // bytes before the first group
  std::uint32_t exceptions;  // and before the first exception
  GroupDescriptor mine;
  GroupPlaces places;
};

__device__ inline PageParts page_parts(const PackArgs& args, const PackTask& task,
                                       const UnitView& view, std::uint64_t unit, int thread) {
  PageParts parts;
  parts.groups = task.state_bytes + 2 * view.all_groups;
  parts.mine.bits =
      thread < static_cast<int>(view.count) ? args.descriptors[unit * kUnitGroups + thread] : 0u;
  const GroupPlaces own = GroupPlaces::of(parts.mine);
  const GroupPlaces ends{device::warp_prefix<std::uint32_t>(own.word)};
  parts.exceptions =
      parts.groups + GroupPlaces{__shfl_sync(device::kWholeWarp, ends.word, 31)}.group();
  parts.places = {ends.word - own.word};
  return parts;
}

/// States, from byte `first` on.
template <class Shape, bool kWhole>
__device__ inline void put_states(const PageWriter<Shape, kWhole>& page,
                                  const PackFront<Shape>& front, std::uint32_t first,
                                  const LaneHistory<Shape>& history, int thread) {
  const DeltaState own = front.state_of(thread);
  if (own.exists())
    page.join(first + own.number() * Shape::kValueBytes, 0,
              history.before[own.lane][own.k] >> Shape::kSpareBits);
}

/// Fields and exceptions of `tuples` from the page's first on, of which shared.residuals has the history.
template <class Shape, bool kWhole>
__device__ void put_groups(const typename Shape::Task& task, const PackFront<Shape>& front,
                           const EarlierRuns<Shape>& earlier, const UnitView& view,
                           std::uint32_t tuples, const PageParts& parts,
                           const PageWriter<Shape, kWhole>& page, WritePageShared<Shape>& shared,
                           int thread) {
  using Word = typename Shape::Word;
  // A tile ahead in registers is too little by itself. Larger tiles would push out what others have asked for.
  constexpr int kFar = !Shape::kStrip && Shape::kValueBytes >= 4 && Shape::kRunWords <= 16 ? 2 : 0;
  for_each_tile<Shape, kFar>(
      task, view.first, tuples, thread,
      [&](std::uint32_t tile, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
        Word residuals[Shape::kTuple][Shape::kRun];
        shared.residuals.take(front, earlier, words, view.first + Shape::kTile * tile, left, thread,
                              residuals);
        const std::uint32_t in_lane = Shape::kTileGroups * tile + thread / Shape::kGroupThreads;
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane) {
          if (!Shape::has_lane(task, lane)) break;
          shared.turn.write(residuals[lane], thread);
          const int group = static_cast<int>(lane * view.groups + in_lane);
          GroupDescriptor descriptor{__shfl_sync(device::kWholeWarp, parts.mine.bits, group & 31)};
          if (in_lane >= view.groups) descriptor.bits = 0;
          const GroupPlaces places{__shfl_sync(device::kWholeWarp, parts.places.word, group & 31)};
          if (__any_sync(device::kWholeWarp, descriptor.exceptions() > 0))
            page.put_exceptions(residuals[lane], shared.turn, descriptor,
                                parts.exceptions + places.exceptions(), thread);
          const int width = descriptor.width();
          int widest = width;
#pragma unroll
          for (int threads = Shape::kGroupThreads; threads < 32; threads *= 2)
            widest = max(widest, __shfl_xor_sync(device::kWholeWarp, widest, threads));
          Word slots[Shape::kRun];
          shared.turn.read(slots, thread);
          page.put_fields(slots, width, widest,
                          parts.groups + places.group() +
                              thread % Shape::kGroupThreads * (width * Shape::kRun / 8));
        }
      });
}

template <class Shape, bool kWhole>
__device__ void write_window(const PackTask& task, const UnitView& view, const PageParts& parts,
                             const PageWriter<Shape, kWhole>& page, WritePageShared<Shape>& shared,
                             int thread) {
  const std::uint32_t tuples =
      device::warp_uniform(min(kGroupValues * task.page_groups, task.records - view.first));
  const PackFront<Shape> front(task);
  const EarlierRuns<Shape> earlier(task);
  shared.residuals.load(task, front, view.first, thread);
  put_states(page, front, 0, shared.residuals.lanes, thread);
  if (thread < static_cast<int>(view.count))
    page.join(task.state_bytes + 2 * thread, 0, parts.mine.bits);
  __syncwarp();  // states have been read before the history moves on
  put_groups(task, front, earlier, view, tuples, parts, page, shared, thread);
}

/// Stores bytes [from, end) of an image to the same places from `to` on, which is aligned to vectors: whole vectors,
/// and at both ends bytes.
template <class Image>
__device__ inline void store_image(const Image& image, std::uint32_t from, std::uint32_t end,
                                   unsigned char* to, int thread) {
  const std::uint32_t first = (from + 15) / 16, behind = end / 16;
#pragma unroll 1
  for (std::uint32_t i = first + thread; i < behind; i += 32)
    reinterpret_cast<uint4*>(to)[i] = image.vectors[i];
  const auto* const bytes = reinterpret_cast<const unsigned char*>(image.vectors);
  const std::uint32_t at = thread < 16 ? from + thread : 16 * max(first, behind) + thread - 16;
  if (at < (thread < 16 ? min(16 * first, end) : end)) to[at] = bytes[at];
}

template <class Shape>
__device__ void write_page(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                           WritePageShared<Shape>& shared) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const UnitView view =
      unit_view<true>(task, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  const std::uint32_t* const ends = args.page_ends + task.first_page;
  unsigned char* const section = args.out + args.results[task_number].section_at;
  unsigned char* const begin = section + (view.page == 0 ? 0 : ends[view.page - 1]);
  unsigned char* const end = section + ends[view.page];
  const PageParts parts = page_parts(args, task, view, unit, thread);
  const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) & 15);
  const std::uint32_t end_byte = lead + static_cast<std::uint32_t>(end - begin);
  const std::uint32_t words = (end_byte + 15) / 16 * 4;
  const auto write = [&](auto page, std::uint32_t count) {
    shared.image.clear(count, thread);
    write_window(task, view, parts, page, shared, thread);
    __syncwarp();  // all fields are there
    const std::uint32_t from = 4 * page.first_word;
    store_image(shared.image, max(lead, from) - from, min(end_byte - from, 4 * count),
                begin - lead + from, thread);
    __syncwarp();  // and have been read
  };
  constexpr std::uint32_t kWindow = PageImage<Shape::kValueBytes>::kWords;
  if (words <= kWindow) {
    write(PageWriter<Shape, true>{shared.image, 0, lead}, words);
    return;
  }
#pragma unroll 1
  for (std::uint32_t first = 0; first < words; first += kWindow)
    write(PageWriter<Shape, false>{shared.image, first, lead}, min(words - first, kWindow));
}

template <class Shape>
__global__ void __launch_bounds__(32 * kWriteWarps, kWriteBlocks<Shape>)
    write_pages_warp_kernel(PackArgs args, PackRange range) {
  __shared__ WritePageShared<Shape> shared[kWriteWarps];
  device::start_successor();
  for_each_unit_of<Shape, kWriteWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.results[task].kind != SectionKind::pack) return;
    write_page(args, task, unit, shared[threadIdx.x / 32]);
  });
  device::wait_for_predecessor();
}

}  // namespace gdelta::cuda
