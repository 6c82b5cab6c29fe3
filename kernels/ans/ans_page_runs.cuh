// The residuals of a page as its encoder goes through them: tile by tile, lane after lane, eight consecutive ones a
// thread. Of narrow tuples they are made of the values, in registers, whenever they are looked at; of others a kernel has
// left them in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/ans/ans_encode_pages.cuh"
#include "kernels/bitpack/page_runs.cuh"
#include "kernels/device/ptx.cuh"

namespace gdelta::cuda {

static_assert(kAnsRun == kPackRun);

template <class Word>
__device__ inline Word sign_extended(Word residual, int value_bits) {
  using Signed = std::make_signed_t<Word>;
  const int spare = 8 * static_cast<int>(sizeof(Word)) - value_bits;
  return static_cast<Word>(static_cast<Signed>(residual << spare) >> spare);
}

/// A thread's run: in which tile and lane, where it stands among the residuals of all tasks, and how many there are. If the
/// tile is whole, all threads have kAnsRun; `kWhole` says so at compile time.
template <bool kWhole>
struct AnsRunPlace {
  std::uint64_t tile;
  int lane;
  std::uint64_t at;
  int count;

  __device__ bool has(int i) const { return kWhole || i < count; }
};

/// Visits a run by the code for whole tiles, or by that for others.
template <class Word, class Visit>
__device__ inline void visit_run(const AnsPageView& page, const AnsPageShape& shape,
                                 std::uint64_t tile, int lane, const Word (&run)[kAnsRun],
                                 const Visit& visit) {
  const int thread = static_cast<int>(threadIdx.x & 31);
  const auto first = static_cast<std::uint32_t>(tile * shape.tile_tuples());
  const std::uint64_t at =
      page.at + static_cast<std::uint64_t>(lane) * page.tuples + first + kAnsRun * thread;
  if (page.tuples - first >= kMaxAnsTile && shape.states == kMaxAnsStates) {
    visit(AnsRunPlace<true>{tile, lane, at, kAnsRun}, run);
    return;
  }
  const auto left =
      static_cast<int>(min(page.tuples - first, static_cast<std::uint32_t>(shape.tile_tuples())));
  visit(AnsRunPlace<false>{tile, lane, at, min(max(left - kAnsRun * thread, 0), kAnsRun)}, run);
}

/// Runs of tuples of up to four lanes, from their values.
template <class OfShape>
class ValueRuns {
 public:
  using Shape = OfShape;
  using Word = typename Shape::Word;
  using Room = LaneHistory<Shape>;  // a warp's
  static constexpr bool kFromValues = true;
  static constexpr int kValueBytes = Shape::kValueBytes;
  static constexpr int kLoadedWords = Shape::kRunWords * (Shape::kStrides ? 2 : 1);
  /// Blocks of eight warps that a processor should have room for.
  static constexpr int kBlocks = kLoadedWords <= 16 ? 4 : kLoadedWords <= 32 ? 2 : 1;

  /// The whole warp calls it; `room` is as it is at the page's start.
  __device__ ValueRuns(const AnsEncodeArgs<Word>&, const PackTask& task, const AnsPageView& page,
                       const AnsPageShape& shape, Room& room)
      : task_(task), page_(page), shape_(shape), room_(room) {
    room.load(task, page.first, static_cast<int>(threadIdx.x & 31));
  }

  /// The page's states; before its runs are visited.
  __device__ void write_states(unsigned char* out) const {
    const int thread = static_cast<int>(threadIdx.x & 31);
    const int lane = thread / kMaxDeltaOrder, k = thread % kMaxDeltaOrder;
    if (lane >= Shape::kTuple || k >= task_.orders[lane]) return;
    int states_before = 0;
    for (int l = 0; l < lane; ++l) states_before += task_.orders[l];
    store_value<std::uint64_t>(
        out + (states_before + task_.orders[lane] - 1 - k) * Shape::kValueBytes, Shape::kValueBytes,
        false, room_.before[lane][k]);
  }

  /// Calls look(values, tuples left) with a run of whole tuples, not yet mapped, and visit(place, residuals) lane
  /// by lane.
  template <class Look, class Visit>
  __device__ void for_each(const Look& look, const Visit& visit) {
    constexpr bool kAhead = Shape::kRunWords <= 24;
    const int thread = static_cast<int>(threadIdx.x & 31);
    const RunLoader<Shape> loader(task_);
    const PackFront<Shape> front(task_);
    const EarlierRuns<Shape> earlier(task_);
    const int before = thread == 0 ? shape_.states - 1 : thread - 1;
    const std::uint32_t step =
        static_cast<std::uint32_t>(shape_.tile_tuples()) * Shape::kTupleBytes;
    std::uint32_t at = page_.first * Shape::kTupleBytes;
    std::uint32_t next[Shape::kRunWords];
    if constexpr (kAhead) loader.load(at, thread, next);
#pragma unroll 1
    for (std::uint64_t tile = 0; tile < shape_.tiles; ++tile, at += step) {
      std::uint32_t words[Shape::kRunWords];
      if constexpr (kAhead) {
#pragma unroll
        for (int i = 0; i < Shape::kRunWords; ++i) words[i] = next[i];
        if (tile + 1 < shape_.tiles) loader.load(at + step, thread, next);
      } else {
        loader.load(at, thread, words);
      }
      const auto first = static_cast<std::uint32_t>(tile * shape_.tile_tuples());
      look(words, page_.tuples - first);
      const auto read = [&](const std::uint32_t(&run)[Shape::kRunWords],
                            Word(&values)[Shape::kTuple][kPackRun]) {
        read_values(front, run, values);
        take_steps(front, values);
      };
      Word values[Shape::kTuple][kPackRun];
      read(words, values);
      if constexpr (Shape::kStrides) earlier.take_from(values, page_.first + first, thread, read);
#pragma unroll
      for (int lane = 0; lane < Shape::kTuple; ++lane) {
        difference(values[lane], lane, front.orders[lane], before);
#pragma unroll
        for (Word& value : values[lane]) value = sign_extended(value, 8 * Shape::kValueBytes);
        visit_run(page_, shape_, tile, lane, values[lane], visit);
      }
    }
  }

 private:
  /// Takes differences of a tile's lane; the history moves on. `before`: the thread that has the run before.
  __device__ void difference(Word (&run)[kAnsRun], int lane, int order, int before) {
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
      Word last = __shfl_sync(device::kWholeWarp, run[kAnsRun - 1], before);
      if ((threadIdx.x & 31) == 0) {
        const Word history = room_.before[lane][k];
        room_.before[lane][k] = last;
        last = history;
      }
#pragma unroll
      for (int i = kAnsRun - 1; i > 0; --i) run[i] -= run[i - 1];
      run[0] -= last;
    }
  }

  const PackTask& task_;
  const AnsPageView& page_;
  const AnsPageShape& shape_;
  Room& room_;
};

/// Runs of any tuples, from AnsEncodeArgs::residuals.
template <class OfWord>
class StoredRuns {
 public:
  using Word = OfWord;
  struct Room {};
  static constexpr bool kFromValues = false;
  static constexpr int kValueBytes = sizeof(Word);  // at most
  static constexpr int kBlocks = 4;

  __device__ StoredRuns(const AnsEncodeArgs<Word>& args, const PackTask& task,
                        const AnsPageView& page, const AnsPageShape& shape, Room&)
      : args_(args), task_(task), page_(page), shape_(shape) {}

  __device__ void write_states(unsigned char* out) const {
    const unsigned char* const states =
        args_.page_states + page_.number * static_cast<std::uint64_t>(args_.state_room);
    for (std::uint32_t i = threadIdx.x & 31; i < task_.state_bytes; i += 32) out[i] = states[i];
  }

  template <class Look, class Visit>
  __device__ void for_each(const Look&, const Visit& visit) {
    const int thread = static_cast<int>(threadIdx.x & 31);
#pragma unroll 1
    for (std::uint64_t tile = 0; tile < shape_.tiles; ++tile) {
      const auto first = static_cast<std::uint32_t>(tile * shape_.tile_tuples());
      const auto left = static_cast<int>(
          min(page_.tuples - first, static_cast<std::uint32_t>(shape_.tile_tuples())));
#pragma unroll 1
      for (int lane = 0; lane < shape_.tuple; ++lane) {
        Word run[kAnsRun];
        load_run(args_.residuals + page_.at + static_cast<std::uint64_t>(lane) * page_.tuples +
                     first + kAnsRun * thread,
                 left - kAnsRun * thread, run);
        visit_run(page_, shape_, tile, lane, run, visit);
      }
    }
  }

 private:
  const AnsEncodeArgs<Word>& args_;
  const PackTask& task_;
  const AnsPageView& page_;
  const AnsPageShape& shape_;
};

}  // namespace gdelta::cuda
