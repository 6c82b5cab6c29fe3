// What a thread finds alone among starts that rise; find_start of warp.cuh takes a warp.
#pragma once

#include <cstdint>

namespace gdelta::device {

/// The last i of [begin, end) with starts[i] <= item; starts[end] is beyond it. Where all are about as far apart it asks but
/// twice.
template <class Start>
__device__ std::uint32_t find_start_alone(const Start* starts, std::uint32_t begin,
                                          std::uint32_t end, Start item) {
  const Start first = starts[begin], all = starts[end] - first;
  const float share = static_cast<float>(item - first) / static_cast<float>(all);
  const std::uint32_t guess =
      begin + static_cast<std::uint32_t>(share * static_cast<float>(end - begin));
  if (guess < end && starts[guess] <= item && item < starts[guess + 1]) return guess;
  while (end - begin > 1) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    (starts[middle] <= item ? begin : end) = middle;
  }
  return begin;
}

}  // namespace gdelta::device
