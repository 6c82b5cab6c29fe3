// The check of a page of the ans coder, from the runs of its tiles: a tile has one for each state, and there
// may be fewer states than a warp has threads.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"
#include "kernels/checksum/page_check.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

/// Threads without a state add nothing.
class AnsPageCheck {
 public:
  /// Runs have so many words.
  __device__ AnsPageCheck(unsigned run_words, int states)
      : run_words_(run_words), states_(static_cast<unsigned>(states)) {}

  /// The thread's run of a tile of 32 states, in registers.
  template <int kWords>
  __device__ void add_of_all_states(const std::uint32_t (&words)[kWords]) {
    constexpr std::uint64_t kBack = inverse_of(check_power(32 * kWords));
    sum_ = sum_ * kBack + run_polynomial(words);
  }
  /// Before other ways to add a tile, whose power is not known at compile time.
  __device__ void open() { back_ = inverse_of(power_of_base(run_words_ * states_)); }
  /// The thread's run, in registers.
  template <int kWords>
  __device__ void add(const std::uint32_t (&words)[kWords]) {
    sum_ = sum_ * back_ + run_polynomial(words);
  }
  /// The first `bytes` of one that lies in shared memory.
  __device__ void add_staged(const unsigned char* run, unsigned bytes) {
    constexpr std::uint64_t kTwo = check_power(2);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(run);
    unsigned left = bytes / 4;
    std::uint64_t own = bytes % 4 == 0 ? 0 : words[left] & ((1u << 8 * (bytes % 4)) - 1);
    if (left % 2 != 0) own = own * kCheckBase + words[--left];
#pragma unroll 2
    for (; left > 0; left -= 2) own = own * kTwo + words[left - 2] + words[left - 1] * kCheckBase;
    sum_ = sum_ * back_ + own;
  }
  /// The check of a page of so many tiles and tuples; the whole warp gets it.
  __device__ std::uint32_t value(unsigned tiles, std::uint64_t tuples, int thread) const {
    const unsigned run = states_ * (tiles - 1) + thread;  // the thread's last one
    return finish_check(tuples, device::warp_sum(sum_ * power_of_base(run_words_ * run)));
  }

 private:
  unsigned run_words_, states_;
  std::uint64_t sum_ = 0;   // by Horner's rule, as PageCheck has it
  std::uint64_t back_ = 0;  // the inverse of the power by which tiles lie apart
};

}  // namespace gdelta::cuda
