// For benches: a CUDA call that fails ends the program with what failed and where.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/// `leave` ends the program: std::exit(1), or what threads that still run allow.
#define GDELTA_CHECK_OR(call, leave)                                     \
  do {                                                                   \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error_));                          \
      leave;                                                             \
    }                                                                    \
  } while (false)
#define GDELTA_CHECK(call) GDELTA_CHECK_OR(call, std::exit(1))
