// What the calls of a writer have in common.
#pragma once

#include <new>

#include "gdelta/error.h"

namespace gdelta {

/// Runs one call of the caller at a time. The first error is remembered and given again by later calls.
struct CallGuard {
  Result<void> failure;
  bool finished = false;

  template <class Call>
  Result<void> run(Call call) {
    if (!failure) return failure;
    if (finished) return fail(Errc::invalid_argument, "the stream is finished");
    try {
      failure = call();
    } catch (const std::bad_alloc&) {
      failure = fail(Errc::out_of_memory, "no memory to compress");
    }
    return failure;
  }
};

}  // namespace gdelta
