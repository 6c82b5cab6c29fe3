#include "kernels/deltas/stride_delta.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

template <int kBytes>
void add_apart(unsigned char* __restrict to, const unsigned char* __restrict from,
               std::size_t count) {
  using Value = PackedValue<kBytes>;
  for (std::size_t i = 0; i < count; ++i)
    Value::store(to + i * kBytes, Value::load(to + i * kBytes) + Value::load(from + i * kBytes));
}

// A stretch of `distance` values reads only what lies before it, so a long stride is a walk down
// columns in vectors.
template <int kBytes>
void sum_once(unsigned char* values, std::size_t num_values, std::size_t distance) {
  using Value = PackedValue<kBytes>;
  if (distance < 32) {
    for (std::size_t j = distance; j < num_values; ++j) {
      Value::store(values + j * kBytes, Value::load(values + j * kBytes) +
                                            Value::load(values + (j - distance) * kBytes));
    }
    return;
  }
  for (std::size_t at = distance; at < num_values; at += distance)
    add_apart<kBytes>(values + at * kBytes, values + (at - distance) * kBytes,
                      std::min(distance, num_values - at));
}

}  // namespace

void sum_stride(unsigned char* values, std::size_t num_values, int value_bytes,
                std::size_t distance, int order) {
  for (int pass = 0; pass < order; ++pass) {
    for_value_bytes(value_bytes, [&](auto bytes) {
      sum_once<decltype(bytes)::value>(values, num_values, distance);
    });
  }
}

}  // namespace gdelta
