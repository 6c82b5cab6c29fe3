// For scan_stress: kernels that make values, and that count the values of a result which break its rule.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "bench/affine_maps.cuh"
#include "bench/stress_tasks.h"

namespace gdelta::bench {

// ---- Data

/// Raw values of any width from a seed; what they are depends on what can be checked.
template <class U>
__global__ void fill(U* to, std::uint64_t count, std::uint64_t seed, Type type, Operator op) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t bits = mix(seed + i);
    U value = static_cast<U>(bits);
    if (is_float(type) && (op == Operator::sum || op == Operator::product)) {
      const U one = static_cast<U>(type == Type::f16    ? 0x3c00
                                   : type == Type::bf16 ? 0x3f80
                                   : type == Type::f32  ? 0x3f800000
                                                        : 0x3ff0000000000000);
      const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
      value = (bits & 1) ? one : static_cast<U>(one | sign);
      if (op == Operator::sum && (bits & 2)) value = 0;
    } else if (op == Operator::product) {
      value |= 1;
    } else if (is_float(type) && static_cast<U>(value << 1) == static_cast<U>(~U{1})) {
      value = 0;  // the key of this NaN stands for "no value yet"
    } else if ((op == Operator::bit_and || op == Operator::bit_or) && (bits >> 40) % 997 != 0) {
      value = op == Operator::bit_and ? static_cast<U>(~U{0}) : U{0};  // so that it takes long
    }
    to[i] = value;
  }
}

__global__ void fill_affine(Affine* to, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t bits = mix(seed + i);
    to[i] = {static_cast<std::uint32_t>(bits) | 1u, static_cast<std::uint32_t>(bits >> 32)};
  }
}

// ---- Checks

template <class U>
__device__ double as_double(U bits, Type type) {
  if constexpr (sizeof(U) == 2) {
    const auto raw = static_cast<unsigned short>(bits);
    return type == Type::f16 ? static_cast<double>(__half2float(__ushort_as_half(raw)))
                             : static_cast<double>(__bfloat162float(__ushort_as_bfloat16(raw)));
  } else if constexpr (sizeof(U) == 4) {
    return static_cast<double>(__uint_as_float(bits));
  } else if constexpr (sizeof(U) == 8) {
    return __longlong_as_double(static_cast<long long>(bits));
  } else {
    return 0;
  }
}

/// Unsigned numbers in the order of the values.
template <class U>
__device__ U sort_key(U bits, Type type) {
  const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if (is_float(type)) return (bits & sign) ? static_cast<U>(~bits) : static_cast<U>(bits | sign);
  return is_signed(type) ? static_cast<U>(bits ^ sign) : bits;
}

template <class U>
__device__ U apply(Operator op, Type type, U a, U b) {
  switch (op) {
    case Operator::max:
      return sort_key(a, type) > sort_key(b, type) ? a : b;
    case Operator::min:
      return sort_key(a, type) < sort_key(b, type) ? a : b;
    case Operator::bit_and:
      return a & b;
    default:
      return a | b;
  }
}

struct CheckArgs {
  Shape shape;
  Rule rule;
  std::uint64_t identity;
  unsigned long long* wrong;
};

/// in, out: without offsets. Counts the values that break the rule.
template <class U>
__global__ void check(const U* in, const U* out, CheckArgs args) {
  const Shape& shape = args.shape;
  const std::uint64_t n = shape.count, s = shape.tuple;
  const auto at = [&](std::uint64_t j) { return shape.backward ? n - 1 - j : j; };
  for (std::uint64_t j = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; j < n;
       j += std::uint64_t{gridDim.x} * blockDim.x) {
    bool good = true;
    if (shape.exclusive) {
      if (j < s) good = out[at(j)] == static_cast<U>(args.identity);
      if (n <= s || j >= n - s) {  // the inclusive value would be behind the end
        if (!good) atomicAdd(args.wrong, 1ull);
        continue;
      }
    }
    const auto y = [&](std::uint64_t i) { return out[at(shape.exclusive ? i + s : i)]; };
    const U x = in[at(j)];
    std::uint64_t binomial = 1, sum = 0, even = 1, odd = x;
    double float_sum = 0;
    U parity = 0;
    switch (args.rule) {
      case Rule::recurrence:
        good &= y(j) == (j < s ? x : apply(shape.op, shape.type, y(j - s), x));
        break;
      case Rule::only_repeats:
        break;
      default:
        for (int m = 0; m <= shape.order; ++m) {
          if (static_cast<std::uint64_t>(m) > j / s) break;
          const U term = y(j - m * s);
          if (args.rule == Rule::differences) {
            sum += m % 2 ? 0 - binomial * term : binomial * term;
          } else if (args.rule == Rule::float_sum) {
            const double value = static_cast<double>(binomial) * as_double(term, shape.type);
            float_sum += m % 2 ? -value : value;
          } else if (args.rule == Rule::ratios) {
            for (std::uint64_t k = 0; k < binomial; ++k) (m % 2 ? odd : even) *= term;
          } else if (binomial % 2) {
            parity ^= term;
          }
          binomial = binomial * (shape.order - m) / (m + 1);
        }
        if (args.rule == Rule::differences) good &= static_cast<U>(sum) == x;
        if (args.rule == Rule::float_sum) good &= float_sum == as_double(x, shape.type);
        if (args.rule == Rule::ratios) good &= static_cast<U>(odd) == static_cast<U>(even);
        if (args.rule == Rule::parity) good &= parity == x;
        if (args.rule == Rule::float_sign) {
          const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
          good &= ((parity ^ x) & sign) == 0 && ((y(j) ^ x) & static_cast<U>(~sign)) == 0;
        }
    }
    if (!good) atomicAdd(args.wrong, 1ull);
  }
}

/// Bytes that should be what they were.
__global__ void check_guard(const unsigned char* bytes, std::size_t count,
                            unsigned long long* wrong) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (bytes[i] != 0xa5) atomicAdd(wrong, 1ull);
  }
}

__global__ void check_same(const unsigned char* a, const unsigned char* b, std::size_t bytes,
                           unsigned long long* wrong) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < bytes;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (a[i] != b[i]) atomicAdd(wrong, 1ull);
  }
}

}  // namespace gdelta::bench
