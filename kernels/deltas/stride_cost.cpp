#include "kernels/deltas/stride_cost.h"

#include <bit>

#include "kernels/cpu/cpu_targets.h"

namespace gdelta {
namespace {

// The bits come from the exponent of a float: one instruction of a vector unit, and exact enough to
// rank. A value just below a power of two counts as one bit more, on every machine.
GDELTA_ALWAYS_INLINE void add_costs(std::uint32_t value, const std::uint32_t* __restrict before,
                                    std::size_t count, std::uint32_t* __restrict costs) {
  for (std::size_t k = 0; k < count; ++k) {
    const auto difference = static_cast<float>(static_cast<std::int32_t>(value - before[k]));
    const auto exponent =
        static_cast<std::int32_t>((std::bit_cast<std::uint32_t>(difference) >> 23) & 0xff);
    costs[k] += static_cast<std::uint32_t>(exponent > 126 ? exponent - 126 : 0);
  }
}

#if GDELTA_HAS_AVX2_CODE
GDELTA_AVX2 void add_costs_avx2(std::uint32_t value, const std::uint32_t* before, std::size_t count,
                                std::uint32_t* costs) {
  add_costs(value, before, count, costs);
}
#endif

}  // namespace

void add_stride_costs(std::uint32_t value, const std::uint32_t* before, std::size_t count,
                      std::uint32_t* costs) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx2()) return add_costs_avx2(value, before, count, costs);
#endif
  add_costs(value, before, count, costs);
}

}  // namespace gdelta
