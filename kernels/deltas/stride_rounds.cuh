// A block undoes the strides of a column in rounds, some tuples after the other, so that each link finds in the second-level
// cache what the one before it, or the pages of the round, have left there.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/deltas/stride_sums.cuh"
#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/deltas/stride_walk.cuh"

namespace gdelta::cuda {

/// Whether a column's strides can be undone so.
__device__ inline bool fits_stride_rounds(const ColumnTask& task) {
  for (int link = 0; link < task.num_strides; ++link)
    if (task.value_bytes == 3 && !has_quads<3>(task, task.strides[link].stride)) return false;
  return fits_stride_sums(task, sum_bytes_in_rounds(task)) &&
         (task.value_bytes == 3 || is_value_aligned(task.out, task.record_bytes, task.value_bytes));
}

/// Whether a task has two links that one block undoes together (stride_pairs_cuda.h), if that is launched.
__device__ inline bool is_stride_pair(const ColumnTask& task) {
  return task.num_strides == 2 && fits_stride_rounds(task);
}

/// Values that nobody will read soon, if `streams`.
template <class Values>
struct RoundValues : Values {
  explicit __device__ RoundValues(bool s) : Values(0), streams(s) {}
  __device__ void store(unsigned char* p, const typename Values::Word& word) const {
    if (streams) {
      Values::template store<true>(p, word);
    } else {
      Values::template store<false>(p, word);
    }
  }

  bool streams;
};

/// Of three bytes four neighbours go together.
template <int kThreads>
class StrideRounds {
  template <int ValueBytes>
  using Value =
      std::conditional_t<ValueBytes == 4, std::uint32_t,
                         std::conditional_t<ValueBytes == 2, std::uint16_t, std::uint8_t>>;
  template <int ValueBytes>
  using Values = std::conditional_t<
      ValueBytes == 8, AlignedValues<std::uint64_t>,
      std::conditional_t<ValueBytes == 3, QuadValues<3, 4>, AlignedValues<Value<ValueBytes>>>>;

 public:
  struct Shared {
    union {
      Sums<Quad, kThreads, 1> of_quads;
      Sums<std::uint64_t, kThreads, 1> of_longs;
      Sums<std::uint32_t, kThreads, 1> of_words;
    } sums;
    alignas(16) unsigned char carried[kStrideSumsBytes];
  };

  /// Before the first round; the block waits before it.
  __device__ static void open(Shared& shared) {
    auto* const words = reinterpret_cast<std::uint32_t*>(shared.carried);
    for (std::uint32_t i = threadIdx.x; i < kStrideSumsBytes / 4; i += kThreads) words[i] = 0;
  }

  /// Tuples that threads which walk down a link's columns together take at once; 0 if each walks alone.
  template <int ValueBytes>
  __device__ static std::uint32_t tile_tuples(const ColumnTask& task, int link) {
    const std::uint32_t stride = task.strides[link].stride;
    const std::uint32_t columns = stride * task.tuple / Walk<Values<ValueBytes>>::kAcross;
    return columns <= most_together(kThreads)
               ? kThreads / columns * Values<ValueBytes>::kTileRows * stride
               : 0;
  }

  /// Undoes strides, then map and byte order, of the tuples behind those of the round before. All stores of the block are
  /// there, and are when it returns. `streams`: nobody will read the values soon.
  template <int ValueBytes>
  __device__ static void undo(Shared& shared, const ColumnTask& task, const LaneMaps* lane_maps,
                              const TupleRange& range, bool streams) {
    unsigned char* carried = shared.carried;
    for (int link = task.num_strides; link-- > 0;) {
      const LinkRange of_link{lane_maps, range, carried, link, streams && link == 0};
      undo_link<Values<ValueBytes>>(task, of_link,
                                    sums_of(shared, typename Values<ValueBytes>::Word{}));
      carried += stride_sums_bytes(task, task.strides[link], sum_bytes_in_rounds(task));
      __syncthreads();  // the link is undone
    }
  }

 private:
  struct LinkRange {
    const LaneMaps* lane_maps;
    const TupleRange& range;
    unsigned char* carried;
    int link;
    bool streams;
  };

  __device__ static auto& sums_of(Shared& shared, const Quad&) { return shared.sums.of_quads; }
  __device__ static auto& sums_of(Shared& shared, std::uint64_t) { return shared.sums.of_longs; }
  __device__ static auto& sums_of(Shared& shared, std::uint32_t) { return shared.sums.of_words; }

  template <class OfLink>
  __device__ static void undo_link(const ColumnTask& task, const LinkRange& of,
                                   Sums<typename OfLink::Word, kThreads, 1>& sums) {
    constexpr TeamPlace<1> kAlone{0, 1};
    const std::uint32_t stride = task.strides[of.link].stride;
    using Columns = Walk<RoundValues<OfLink>, true>;
    const Columns walk{.task = task,
                       .lane_maps = of.lane_maps,
                       .in_memory = RoundValues<OfLink>(of.streams),
                       .stride = stride,
                       .columns = stride * task.tuple / Columns::kAcross,
                       .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes,
                       .last = of.link == 0,
                       .range = of.range,
                       .carried = reinterpret_cast<typename OfLink::Word*>(of.carried)};
    if (walk.columns > most_together(kThreads)) {
      walk_down<kThreads>(walk, kAlone);
    } else {
      walk_in_tiles<kThreads>(walk, kAlone, sums);
    }
  }
};

}  // namespace gdelta::cuda
