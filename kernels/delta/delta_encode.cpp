#include "kernels/delta/delta_encode.h"

#include <algorithm>

namespace gdelta {
namespace {

// Wide enough that a block of results stays in the first cache while the terms are added to it one
// by one; each inner loop is a plain multiply-add over contiguous values, which compilers
// vectorise.
constexpr std::uint64_t kBlock = 2048;

template <class Value>
void encode(int order, std::uint64_t tuple, std::uint64_t count, const Value* in, Value* out) {
  const DeltaCoefficients coefficients = delta_coefficients(order);
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t end = std::min(count, begin + kBlock);
    std::copy(in + begin, in + end, out + begin);
    for (int m = 1; m <= order; ++m) {
      if (tuple > (count - 1) / static_cast<std::uint64_t>(m))
        break;  // the distance is beyond the data
      const std::uint64_t distance = tuple * static_cast<std::uint64_t>(m);
      const Value c = static_cast<Value>(coefficients.c[m]);
      for (std::uint64_t i = std::max(begin, distance); i < end; ++i) {
        out[i] = static_cast<Value>(
            out[i] + static_cast<Value>(static_cast<std::uint64_t>(c) * in[i - distance]));
      }
    }
  }
}

}  // namespace

void delta_encode(int value_bytes, int order, std::uint64_t tuple, std::uint64_t count,
                  const void* in, void* out) {
  const auto run = [&](auto zero) {
    using Value = decltype(zero);
    encode(order, tuple, count, static_cast<const Value*>(in), static_cast<Value*>(out));
  };
  switch (value_bytes) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    default:
      return run(std::uint64_t{});
  }
}

}  // namespace gdelta
