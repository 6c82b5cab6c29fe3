// Results that grow in host memory.
#pragma once

#include <new>
#include <vector>

#include "gdelta/stream.h"

namespace gdelta {

inline Sink append_to(std::vector<std::byte>& out) {
  return [&out](std::span<const std::byte> bytes) -> Result<void> {
    out.insert(out.end(), bytes.begin(), bytes.end());
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
