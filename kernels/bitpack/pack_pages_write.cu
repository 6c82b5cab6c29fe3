// The second look at the values: residuals again, and their pages written to where the sizes of all
// before them say.
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/pack_pages_cuda.h"
#include "kernels/bitpack/pack_pages_warp_cuda.h"
#include "kernels/bitpack/pack_units.cuh"
#include "kernels/bitpack/unit_place.cuh"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

/// The bytes of a group as words of the target: fields are joined bit by bit where they meet, and
/// what lies between the target's address and the word before it counts as bits of the first word.
/// All zero between groups.
template <class Word>
struct GroupWords {
  static constexpr int kWords = 4 * 8 * static_cast<int>(sizeof(Word)) + 1;
  std::uint32_t words[kWords];

  __device__ void clear() {
    for (int i = threadIdx.x & 31; i < kWords; i += 32) words[i] = 0;
    __syncwarp();  // words are zero before fields come
  }

  /// Writes 16 × width bytes to any address: whole words if they are the group's alone, else
  /// bytes.
  __device__ void write(const Word (&residuals)[kGroupRegisters], int width, unsigned char* to) {
    const int thread = threadIdx.x & 31;
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) & 3);
    const Word mask = value_mask<Word>(width);
    // Residual 32j + t is in slot 16 (t mod 8) + t / 8 + 4j.
    const int first_bit = (16 * (thread & 7) + (thread >> 3)) * width + 8 * lead;
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j)
      join(first_bit + 4 * j * width, width, residuals[j] & mask);
    __syncwarp();  // all fields are there
    unsigned char* const base = to - lead;
    const int end = lead + 16 * width;
    for (int at = 4 * thread; at < end; at += 4 * 32) {
      const std::uint32_t word = words[at / 4];
      words[at / 4] = 0;
      if (at >= lead && at + 4 <= end) {
        *reinterpret_cast<std::uint32_t*>(base + at) = word;
      } else {
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          if (at + b >= lead && at + b < end)
            base[at + b] = static_cast<unsigned char>(word >> (8 * b));
        }
      }
    }
    __syncwarp();  // words are zero again
  }

 private:
  __device__ void join(int bit, int width, Word field) {
    const int shift = bit & 31;
    std::uint32_t* const word = words + (bit >> 5);
    const auto low = static_cast<std::uint32_t>(field);
    atomicOr(word, low << shift);
    if constexpr (sizeof(Word) == 4) {
      if (shift + width > 32) atomicOr(word + 1, __funnelshift_l(low, 0, shift));
    } else {
      const auto high = static_cast<std::uint32_t>(field >> 32);
      if (shift + width > 32) atomicOr(word + 1, __funnelshift_l(low, high, shift));
      if (shift + width > 64) atomicOr(word + 2, __funnelshift_l(high, 0, shift));
    }
  }
};

/// Positions in rising order, then what does not fit the width.
template <class Word>
__device__ void write_exceptions(const Word (&residuals)[kGroupRegisters],
                                 GroupDescriptor descriptor, unsigned char* to) {
  const int thread = threadIdx.x & 31;
  unsigned char* const highs = to + descriptor.exceptions();
  int before = 0;
#pragma unroll
  for (int j = 0; j < kGroupRegisters; ++j) {
    const Word high = residuals[j] >> descriptor.width();
    const unsigned there = __ballot_sync(device::kWholeWarp, high != 0);
    if (high != 0) {
      const int rank = before + __popc(there & ((1u << thread) - 1));
      to[rank] = static_cast<unsigned char>(32 * j + thread);
      unsigned char* const p = highs + rank * descriptor.high_bytes();
#pragma unroll 1
      for (int b = 0; b < descriptor.high_bytes(); ++b)
        p[b] = static_cast<unsigned char>(high >> (8 * b));
    }
    before += __popc(there);
  }
}

template <class Word>
__device__ void write_unit(const PackArgs& args, std::uint32_t task_number, std::uint64_t unit,
                           GroupWords<Word>& words) {
  const PackTask& task = args.tasks[task_number];
  const int thread = threadIdx.x & 31;
  const std::uint64_t first_unit = args.unit_starts[task_number];
  const UnitView view = unit_view(task, static_cast<std::uint32_t>(unit - first_unit));
  if (view.count == 0) return;
  const UnitPlace place = place_unit(args, task, view, first_unit, args.results[task_number]);

  // Thread g holds what concerns group g: its descriptor and where it begins.
  GroupDescriptor mine{0};
  if (thread < static_cast<int>(view.count)) {
    mine.bits = args.descriptors[unit * kUnitGroups + thread];
    store_value<std::uint64_t>(place.page + task.state_bytes + 2 * (view.begin + thread), 2, false,
                               mine.bits);
  }
  const std::uint32_t group_at = device::warp_prefix(mine.group_bytes()) - mine.group_bytes();
  const std::uint32_t exception_at =
      device::warp_prefix(mine.exception_bytes()) - mine.exception_bytes();

  UnitGroups<false, Word> groups(task, view);
  for (std::uint32_t turn = 0; turn <= view.count; ++turn) {
    GroupValues<Word> group = groups.ahead;
    const std::uint32_t first = groups.first(), lane = groups.lane, number = groups.number;
    const int order = groups.order;
    if (turn < view.count) groups.next();
    if (turn == 0) continue;
    const std::uint32_t g = turn - 1;
    const int first_state =
        number == 0 && order > 0 ? states_before(task, static_cast<int>(lane)) : 0;
    for (int k = 0; k < order; ++k) {
      const Word state = group.difference();
      if (number == 0 && thread == 31)
        store_value<std::uint64_t>(place.page + (first_state + order - 1 - k) * task.value_bytes,
                                   task.value_bytes, false, state);
    }
    Word residuals[kGroupRegisters];
    group.residuals(first, groups.values.records, 8 * groups.values.value_bytes, residuals);
    const GroupDescriptor descriptor{__shfl_sync(device::kWholeWarp, mine.bits, g)};
    if (descriptor.width() > 0)
      words.write(residuals, descriptor.width(),
                  place.groups + __shfl_sync(device::kWholeWarp, group_at, g));
    if (descriptor.exceptions() > 0)
      write_exceptions(residuals, descriptor,
                       place.exceptions + __shfl_sync(device::kWholeWarp, exception_at, g));
  }
}

template <class Word>
__global__ void __launch_bounds__(kPackThreads, sizeof(Word) == 4 ? 3 : 2)
    write_pages_kernel(PackArgs args, PackRange range) {
  __shared__ GroupWords<Word> words[kPackWarps];
  const int warp = threadIdx.x / 32;
  words[warp].clear();
  for_each_unit<kPackWarps>(args, range, [&](std::uint32_t task, std::uint64_t unit) {
    if (args.results[task].kind == SectionKind::pack) write_unit(args, task, unit, words[warp]);
  });
}

}  // namespace

cudaError_t launch_write_pages(const PackArgs& args, const PackRange& range, cudaStream_t stream) {
  if (range.by_pages()) return launch_write_warp(args, range, stream);
  return launch_units(write_pages_kernel<std::uint64_t>, write_pages_kernel<std::uint32_t>, args,
                      range, stream);
}

}  // namespace gdelta::cuda
