// Sums of a page's residuals, tile by tile, in the registers of a warp. They are made of the primitives of
// kernels/scan: `step` walks a run, `scan_threads` crosses the warp. The order q is q rounds of order 1,
// which leaves it a run-time number. One round for all orders, with the matrices of carry_matrix.h, was
// measured instead (docs/history/pages.md): 1 to 4 % faster for one lane of order 2, up to 22 % slower for
// several lanes, which keep a warp busy by themselves and have no registers for it. Between pages
// nothing is carried: they store their states.
#pragma once

#include "kernels/device/halves.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/column_task.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Each thread has one: thread k keeps word k of every lane's state.
template <int ValueBytes, int Tuple, int Run>
struct LaneSums {
  using Word = WordOf<ValueBytes>;

  /// `state` has those of all lanes, behind one another.
  __device__ void open(const ColumnTask& task, const unsigned char* state, int thread) {
    highest = 0;
    same_order = true;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      orders[lane] =
          device::warp_uniform<int>(task.orders != nullptr ? task.orders[lane] : task.order);
      same_order &= orders[lane] == orders[0];
      highest = max(highest, orders[lane]);
      states[lane] = 0;
      if (thread < orders[lane]) {
        for (int i = 0; i < ValueBytes; ++i)
          states[lane] |= static_cast<Word>(state[thread * ValueBytes + i]) << (8 * i);
      }
      state += orders[lane] * ValueBytes;
    }
  }

  /// The same of one order for all lanes, whose states lie so many bytes apart.
  __device__ void open_alike(int order, const unsigned char* state, std::uint32_t lane_bytes,
                             int thread) {
    highest = device::warp_uniform(order);
    same_order = true;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      orders[lane] = highest;
      states[lane] = 0;
      if (thread < highest) {
        for (int i = 0; i < ValueBytes; ++i)
          states[lane] |= static_cast<Word>(state[thread * ValueBytes + i]) << (8 * i);
      }
      state += lane_bytes;
    }
  }

  /// Sums a lane as soon as it has been read, if orders differ.
  __device__ void sum_lane(Word (&run)[Run], int lane, int thread) {
    if (same_order) return;
#pragma unroll 1
    for (int k = 0; k < orders[lane]; ++k)
      sum_tile<Word, 1, Run>(reinterpret_cast<Word(&)[1][Run]>(run),
                             reinterpret_cast<Word(&)[1]>(states[lane]), k, thread);
  }
  /// Sums all lanes side by side, if they have one order.
  __device__ void sum_lanes(Word (&values)[Tuple][Run], int thread) {
    if (!same_order) return;
#pragma unroll 1
    for (int k = 0; k < highest; ++k) {
      if constexpr (Tuple == 4) {  // two at a time fit the registers
#pragma unroll
        for (int lane = 0; lane < Tuple; lane += 2) {
          sum_tile<Word, 2, Run>(reinterpret_cast<Word(&)[2][Run]>(values[lane]),
                                 reinterpret_cast<Word(&)[2]>(states[lane]), k, thread);
        }
      } else {
        sum_tile(values, states, k, thread);
      }
    }
  }

  /// Whether two lanes are best summed in the halves of words, if they have one order (docs/history/pages.md has what others lose by it).
  static constexpr bool kInHalves = device::kAddsHalves && ValueBytes == 2 && Tuple == 2;

  /// Does so, and leaves what pack_run makes of what sum_lanes leaves.
  __device__ void sum_in_halves(const Word (&values)[2][Run], std::uint32_t (&words)[Run],
                                int thread) {
#pragma unroll
    for (int i = 0; i < Run; ++i) words[i] = device::join_halves(values[0][i], values[1][i]);
    std::uint32_t state = device::join_halves(states[0], states[1]);
#pragma unroll 1
    for (int k = 0; k < highest; ++k) device::sum_halves(words, state, k, thread);
    states[0] = state;
    states[1] = state >> 16;
  }

  int orders[Tuple], highest;
  bool same_order;
  Word states[Tuple];
};

}  // namespace gdelta::cuda
