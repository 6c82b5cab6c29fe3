// Threads of the CUDA backend must not end by an exception, nor must its calls.
#pragma once

#include <new>

#include "codec/cuda/cuda_error.h"

namespace gdelta::cuda {

/// Errors   those of `run`; out_of_memory where it throws std::bad_alloc
template <class Run>
Result<void> within_memory(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "memory is too short for a batch of chunks");
  }
}

}  // namespace gdelta::cuda
