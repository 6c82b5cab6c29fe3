// For benches of scans with a caller's operator: composition of affine maps, which does not commute.
#pragma once

#include <cstdint>

namespace gdelta::bench {

/// x -> a x + b
struct Affine {
  std::uint32_t a, b;
};

struct Compose {
  __host__ __device__ Affine operator()(const Affine& first, const Affine& second) const {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

__device__ inline bool same(const Affine& x, const Affine& y) { return x.a == y.a && x.b == y.b; }

/// Counts the maps that are not those before them, `tuple` back, and the one that came in.
__global__ void check_affine(const Affine* in, const Affine* out, std::uint64_t count,
                             std::uint64_t tuple, bool exclusive, unsigned long long* wrong) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    bool good;
    if (exclusive) {
      good = same(out[i], i < tuple ? Affine{1, 0} : Compose{}(out[i - tuple], in[i - tuple]));
    } else {
      good = same(out[i], i < tuple ? in[i] : Compose{}(out[i - tuple], in[i]));
    }
    if (!good) atomicAdd(wrong, 1ull);
  }
}

}  // namespace gdelta::bench
