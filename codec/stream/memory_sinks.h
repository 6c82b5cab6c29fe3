// Results in host memory: in a vector that grows, or in the caller's memory.
#pragma once

#include <algorithm>
#include <new>
#include <span>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta {

inline Sink append_to(std::vector<std::byte>& out) {
  return [&out](std::span<const std::byte> bytes) -> Result<void> {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  };
}

/// `room` is what is left.
inline Sink copy_into(std::span<std::byte>& room) {
  return [&room](std::span<const std::byte> bytes) -> Result<void> {
    if (bytes.size() > room.size())
      return fail(
          Errc::output_too_small,
          "the stream is longer than the room for it: compress_bound tells what is always enough");
    std::ranges::copy(bytes, room.begin());
    room = room.subspan(bytes.size());
    return {};
  };
}

template <class Value, class Call>
Result<Value> with_memory_errors(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory for the result");
  }
}

}  // namespace gdelta
