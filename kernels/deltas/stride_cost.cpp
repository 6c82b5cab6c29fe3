#include "kernels/deltas/stride_cost.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/deltas/stride_cost.cpp"
#include "kernels/cpu/each_target.h"

#ifndef GDELTA_STRIDE_SAMPLES
#define GDELTA_STRIDE_SAMPLES
namespace gdelta {
namespace {

// What is compared with the words before it.
struct StrideSamples {
  StrideSamples(const std::uint32_t* words, std::size_t count, std::size_t spacing) {
    for (int j = 0; j < kStrideSamples; ++j) {
      before[j] = words + j * spacing;
      value[j] = before[j][count];
      if (count > 0) difference[j] = value[j] - before[j][count - 1];
    }
  }

  const std::uint32_t* before[kStrideSamples];
  std::uint32_t value[kStrideSamples];
  std::uint32_t difference[kStrideSamples] = {};
};

}  // namespace
}  // namespace gdelta
#endif

HWY_BEFORE_NAMESPACE();
namespace gdelta {
namespace HWY_NAMESPACE {
namespace {

#if GDELTA_HAS_VECTORS
namespace hn = hwy::HWY_NAMESPACE;

// One subtraction of bytes that stops at 0 takes off the bias and the sign as well.
template <class D>
HWY_INLINE hn::Vec<D> bits_of_vector(D d, hn::Vec<D> differences) {
  const hn::RebindToSigned<D> signed_words;
  const hn::RebindToFloat<D> floats;
  const hn::Repartition<std::uint8_t, D> bytes;
  const auto exponents = hn::ShiftRight<23>(
      hn::BitCast(d, hn::ConvertTo(floats, hn::BitCast(signed_words, differences))));
  return hn::BitCast(d, hn::SaturatedSub(hn::BitCast(bytes, exponents),
                                         hn::BitCast(bytes, hn::Set(d, 0xff00 | 126))));
}
#endif

// Of words [1, count). Bits of all samples have room in a byte.
void add_costs(const StrideSamples& samples, std::size_t count, std::uint32_t* __restrict costs,
               std::uint32_t* __restrict difference_costs) {
  std::size_t k = 1;
#if GDELTA_HAS_VECTORS
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; k + lanes <= count; k += lanes) {
    auto sum = hn::LoadU(d, costs + k), difference_sum = hn::LoadU(d, difference_costs + k);
    for (int j = 0; j < kStrideSamples; ++j) {
      const auto words = hn::LoadU(d, samples.before[j] + k);
      const auto grown = hn::Sub(words, hn::LoadU(d, samples.before[j] + k - 1));
      sum = hn::Add(sum, bits_of_vector(d, hn::Sub(hn::Set(d, samples.value[j]), words)));
      difference_sum = hn::Add(
          difference_sum, bits_of_vector(d, hn::Sub(hn::Set(d, samples.difference[j]), grown)));
    }
    hn::StoreU(sum, d, costs + k);
    hn::StoreU(difference_sum, d, difference_costs + k);
  }
#endif
  for (int j = 0; j < kStrideSamples; ++j) {
    const std::uint32_t* const before = samples.before[j];
    for (std::size_t i = k; i < count; ++i) {
      costs[i] += stride_cost_of(samples.value[j] - before[i]);
      difference_costs[i] += stride_cost_of(samples.difference[j] - (before[i] - before[i - 1]));
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gdelta
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdelta {

void add_stride_costs(const std::uint32_t* words, std::size_t count, std::size_t spacing,
                      std::uint32_t* costs, std::uint32_t* difference_costs) {
  if (count == 0) return;
  const StrideSamples samples(words, count, spacing);
  for (int j = 0; j < kStrideSamples; ++j)
    costs[0] += stride_cost_of(samples.value[j] - samples.before[j][0]);
  GDELTA_BEST(add_costs)(samples, count, costs, difference_costs);
}

}  // namespace gdelta
#endif
