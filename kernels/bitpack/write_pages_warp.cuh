// The second look at pages that a warp takes: a page is put together in shared memory, where fields meet
// at any bit, and leaves for its place in whole vectors.
#pragma once

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/bitpack/page_runs.cuh"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kWriteWarps = 4;

/// A window of a page as it will lie in memory: bit 0 is that of the vector of 16 bytes in which the page
/// begins. What lies outside the window is left out. Pages seldom have more than one.
struct PageImage {
  static constexpr std::uint32_t kWords = 2048;
  uint4 vectors[kWords / 4];

  __device__ std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(vectors); }

  __device__ void clear(std::uint32_t num_words, int thread) {
    for (std::uint32_t i = thread; 4 * i < num_words; i += 32) vectors[i] = make_uint4(0, 0, 0, 0);
    __syncwarp();  // bits are zero before fields come
  }
  /// Puts up to 64 bits to where nothing else is put. `first_word` is that of the window.
  __device__ void join(std::uint32_t first_word, std::uint32_t bit, std::uint64_t field) {
    const auto low = static_cast<std::uint32_t>(field);
    const auto high = static_cast<std::uint32_t>(field >> 32);
    const std::uint32_t word = bit / 32 - first_word;
    put(word, low << (bit & 31));
    put(word + 1, __funnelshift_l(low, high, bit & 31));
    put(word + 2, __funnelshift_l(high, 0, bit & 31));
  }

 private:
  __device__ void put(std::uint32_t word, std::uint32_t bits) {
    if (word < kWords && bits != 0) atomicOr(words() + word, bits);
  }
};

/// Zigzagged residuals of a tile on their way from runs to slots: thread 16g + s gets slots 8s ... 8s + 7
/// of group g, which are residuals i, i + 8, i + 16 ... of it. Places are mixed so that threads meet in no
/// bank, whether they write vectors or read words.
template <class Word>
struct SlotTurn {
  static constexpr int kVector = 16 / sizeof(Word);
  static constexpr int kVectorPlaces = kPackRun - kVector;  // the bits of i that name its vector
  alignas(16) Word words[kPackTile];

  __device__ void write(const Word (&run)[kPackRun], int thread) {
    __syncwarp();  // the lane before this one has been read
    const int row = thread ^ (thread / 8);
#pragma unroll
    for (int i = 0; i < kPackRun; i += kVector) {
      union {
        uint4 all;
        Word each[kVector];
      } vector;
#pragma unroll
      for (int j = 0; j < kVector; ++j) vector.each[j] = run[i + j];
      *reinterpret_cast<uint4*>(words + kPackRun * row + (i ^ (thread & kVectorPlaces))) =
          vector.all;
    }
    __syncwarp();  // all runs are there
  }
  __device__ void read(Word (&slots)[kPackRun], int thread) const {
    const int strip = thread / 16 * 2 + thread % 2, residual = thread % 16 / 2;
    const int place = (8 * strip + strip) * kPackRun + residual;
#pragma unroll
    for (int j = 0; j < kPackRun; ++j)
      slots[j] = words[place ^ (kPackRun * j + (j & kVectorPlaces))];
  }
  /// Residual `i` of this thread's run.
  __device__ Word of_run(int i, int thread) const {
    return words[kPackRun * (thread ^ (thread / 8)) + (i ^ (thread & kVectorPlaces))];
  }
};

/// The low `width` bits of a word.
template <class Word>
__device__ inline Word low_bits(int width) {
  return width == 0 ? Word{0} : value_mask<Word>(width);
}

/// A page in the making.
template <class Shape>
struct PageWriter {
  using Word = typename Shape::Word;
  PageImage& image;
  std::uint32_t first_word;  // of the window
  std::uint32_t lead;        // bytes between the first vector's beginning and the page's

  __device__ void join(std::uint32_t byte, std::uint32_t bit, std::uint64_t field) const {
    image.join(first_word, 8 * (lead + byte) + bit, field);
  }

  /// Eight fields that follow each other, joined to as few as there are room for; widths in the warp
  /// are at most `widest`.
  __device__ void put_fields(const Word (&fields)[kPackRun], int width, int widest,
                             std::uint32_t byte) const {
    const std::uint32_t bit = 8 * (lead + byte);
    if constexpr (sizeof(Word) == 8) {
      if (widest > 32) {
#pragma unroll
        for (int i = 0; i < kPackRun; ++i) image.join(first_word, bit + i * width, fields[i]);
        return;
      }
    }
    std::uint64_t pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pairs[i] = static_cast<std::uint32_t>(fields[2 * i]) |
                 static_cast<std::uint64_t>(static_cast<std::uint32_t>(fields[2 * i + 1])) << width;
    if (widest > 16) {
#pragma unroll
      for (int i = 0; i < 4; ++i) image.join(first_word, bit + 2 * i * width, pairs[i]);
      return;
    }
    const std::uint64_t first = pairs[0] | pairs[1] << 2 * width;
    const std::uint64_t second = pairs[2] | pairs[3] << 2 * width;
    if (widest > 8) {
      image.join(first_word, bit, first);
      image.join(first_word, bit + 4 * width, second);
    } else {
      image.join(first_word, bit, first | second << 4 * width);
    }
  }

  /// Positions in rising order, then what does not fit the width, each to its group's place; 16 threads
  /// have a group.
  __device__ void put_exceptions(const Word (&run)[kPackRun], const SlotTurn<Word>& turn,
                                 GroupDescriptor descriptor, std::uint32_t byte, int thread) const {
    const Word fits = low_bits<Word>(descriptor.width());
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < kPackRun; ++i) mine |= (run[i] > fits ? 1u : 0u) << i;
    int rank = __popc(mine);
#pragma unroll
    for (int distance = 1; distance < 16; distance *= 2) {
      const int before = __shfl_up_sync(device::kWholeWarp, rank, distance, 16);
      if (thread % 16 >= distance) rank += before;
    }
    rank -= __popc(mine);
    const std::uint32_t highs = byte + descriptor.exceptions();
    for (; mine != 0; mine &= mine - 1, ++rank) {
      const int i = __popc(~mine & (mine - 1));
      join(byte + rank, 0, kPackRun * (thread % 16) + i);
      join(highs + rank * descriptor.high_bytes(), 0, turn.of_run(i, thread) >> descriptor.width());
    }
  }
};

template <class Shape>
struct WritePageShared {
  PageImage image;
  SlotTurn<typename Shape::Word> turn;
  LaneHistory<Shape> history;
};

/// Where the parts of a page lie in it, and what thread g knows of group g.
struct PageParts {
  std::uint32_t groups;  // bytes before the first group
  GroupDescriptor mine;
  std::uint32_t group_at;
  std::uint32_t exception_at;
};

__device__ inline PageParts page_parts(const PackArgs& args, const PackTask& task,
                                       const UnitView& view, std::uint64_t unit, int thread) {
  PageParts parts;
  parts.groups = task.state_bytes + 2 * view.all_groups;
  parts.mine.bits =
      thread < static_cast<int>(view.count) ? args.descriptors[unit * kUnitGroups + thread] : 0u;
  const std::uint32_t group_end = device::warp_prefix<std::uint32_t>(parts.mine.group_bytes());
  const std::uint32_t exception_end =
      device::warp_prefix<std::uint32_t>(parts.mine.exception_bytes());
  parts.group_at = parts.groups + group_end - parts.mine.group_bytes();
  parts.exception_at = parts.groups + __shfl_sync(device::kWholeWarp, group_end, 31) +
                       exception_end - parts.mine.exception_bytes();
  return parts;
}

/// States and descriptors.
template <class Shape>
__device__ inline void put_head(const PageWriter<Shape>& page, const PackTask& task,
                                const UnitView& view, const PageParts& parts,
                                const LaneHistory<Shape>& history, int thread) {
  const int lane = thread / kMaxDeltaOrder, k = thread % kMaxDeltaOrder;
  if (lane < Shape::kTuple && k < task.orders[lane]) {
    std::uint32_t states = 0;
    for (int l = 0; l <= lane; ++l) states += task.orders[l];
    page.join((states - 1 - k) * Shape::kValueBytes, 0,
              history.before[lane][k] & value_mask<typename Shape::Word>(8 * Shape::kValueBytes));
  }
  if (thread < static_cast<int>(view.count))
    page.join(task.state_bytes + 2 * thread, 0, parts.mine.bits);
}

template <class Shape>
__device__ void write_window(const PackTask& task, const UnitView& view, const PageParts& parts,
                             const PageWriter<Shape>& page, WritePageShared<Shape>& shared,
                             int thread) {
  using Word = typename Shape::Word;
  const std::uint32_t tuples =
      device::warp_uniform(min(kGroupValues * task.page_groups, task.records - view.first));
  const PackFront<Shape> front(task);
  shared.history.load(task, view.first, thread);
  put_head(page, task, view, parts, shared.history, thread);
  __syncwarp();  // states have been read before the history moves on
  for_each_tile<Shape>(
      task, view.first, tuples, thread,
      [&](std::uint32_t tile, std::uint32_t left, const std::uint32_t(&words)[Shape::kRunWords]) {
        Word values[Shape::kTuple][kPackRun];
        read_values(front, words, values);
        const bool has_group = 2 * tile + thread / 16 < view.groups;
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane) {
          const auto& run = values[lane];
          shared.history.difference(values[lane], lane, front.orders[lane], thread);
          zigzag_run<Shape::kValueBytes>(values[lane], left, thread);
          shared.turn.write(run, thread);
          const int group = static_cast<int>(lane * view.groups + 2 * tile) + thread / 16;
          GroupDescriptor descriptor{__shfl_sync(device::kWholeWarp, parts.mine.bits, group & 31)};
          if (!has_group) descriptor.bits = 0;
          const std::uint32_t group_at =
              __shfl_sync(device::kWholeWarp, parts.group_at, group & 31);
          const std::uint32_t exception_at =
              __shfl_sync(device::kWholeWarp, parts.exception_at, group & 31);
          if (__any_sync(device::kWholeWarp, descriptor.exceptions() > 0))
            page.put_exceptions(run, shared.turn, descriptor, exception_at, thread);
          const int width = descriptor.width();
          const int widest = max(width, __shfl_xor_sync(device::kWholeWarp, width, 16));
          const Word fits = low_bits<Word>(width);
          Word slots[kPackRun];
          shared.turn.read(slots, thread);
#pragma unroll
          for (Word& slot : slots) slot &= fits;
          page.put_fields(slots, width, widest, group_at + thread % 16 * width);
        }
      });
}

/// Stores vectors [0, vectors) of an image from `to` on, which is aligned to them, but no byte before
/// `begin` or from `end` on.
__device__ inline void store_image(const PageImage& image, std::uint32_t vectors, unsigned char* to,
                                   const unsigned char* begin, const unsigned char* end,
                                   int thread) {
  for (std::uint32_t i = thread; i < vectors; i += 32) {
    unsigned char* const at = to + 16 * i;
    if (at >= begin && at + 16 <= end) {
      *reinterpret_cast<uint4*>(at) = image.vectors[i];
    } else {
      const auto* bytes = reinterpret_cast<const unsigned char*>(image.vectors + i);
#pragma unroll 1
      for (int b = 0; b < 16; ++b)
        if (at + b >= begin && at + b < end) at[b] = bytes[b];
    }
  }
}

template <class Shape>
__device__ void write_page(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                           WritePageShared<Shape>& shared) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const UnitView view =
      unit_view(task, static_cast<std::uint32_t>(unit - args.unit_starts[task_number]));
  const std::uint32_t* const ends = args.page_ends + task.first_page;
  unsigned char* const section = args.out + args.results[task_number].section_at;
  unsigned char* const begin = section + (view.page == 0 ? 0 : ends[view.page - 1]);
  unsigned char* const end = section + ends[view.page];
  const PageParts parts = page_parts(args, task, view, unit, thread);
  const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) & 15);
  const auto words = static_cast<std::uint32_t>((end - begin + lead + 15) / 16 * 4);
#pragma unroll 1
  for (std::uint32_t first = 0; first < words; first += PageImage::kWords) {
    const std::uint32_t count = min(words - first, PageImage::kWords);
    shared.image.clear(count, thread);
    write_window<Shape>(task, view, parts, {shared.image, first, lead}, shared, thread);
    __syncwarp();  // all fields are there
    store_image(shared.image, count / 4, begin - lead + 4 * first, begin, end, thread);
    __syncwarp();  // and have been read
  }
}

template <class Shape>
__global__ void __launch_bounds__(32 * kWriteWarps)
    write_pages_warp_kernel(PackArgs args, PackRange range) {
  __shared__ WritePageShared<Shape> shared[kWriteWarps];
  device::start_successor();
  for_each_unit<kWriteWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.results[task].kind == SectionKind::pack)
      write_page(args, task, unit, shared[threadIdx.x / 32]);
  });
  device::wait_for_predecessor();
}

}  // namespace gdelta::cuda
