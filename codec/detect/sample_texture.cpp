#include "codec/detect/sample_texture.h"

#include <algorithm>
#include <array>

#include "kernels/bitpack/lag_bits.h"

namespace gdelta {

namespace {

/// Stretch `i` of the sample; they overlap if it is short.
std::span<const std::byte> stretch(std::span<const std::byte> sample, Stretches stretches,
                                   std::uint64_t i) {
  stretches.bytes = std::min<std::uint64_t>(sample.size(), stretches.bytes);
  return sample.subspan(stretches.place(i, sample.size()), stretches.bytes);
}

struct TextCounts {
  std::uint64_t controls = 0, beyond_ascii = 0, separators = 0;
};

constexpr std::size_t kTextBlock = 64;  // so that bytes hold the counts, which lets them vectorise

void add_text_counts(std::span<const std::byte> block, TextCounts& counts) {
  std::uint8_t controls = 0, beyond_ascii = 0, separators = 0;
  for (const std::byte byte : block) {
    const auto c = std::to_integer<std::uint8_t>(byte);
    const int space = (c == ' ') | (c == '\t') | (c == '\n') | (c == '\r');
    controls = static_cast<std::uint8_t>(controls + (((c < 0x20) & (space ^ 1)) | (c == 0x7f)));
    beyond_ascii = static_cast<std::uint8_t>(beyond_ascii + (c > 0x7f));
    separators = static_cast<std::uint8_t>(separators + (space | (c == ',') | (c == ';')));
  }
  counts.controls += controls;
  counts.beyond_ascii += beyond_ascii;
  counts.separators += separators;
}

/// The middle one of counts up to `largest`. Small ones are counted, which takes less than sorting.
std::uint64_t median_of(std::span<const std::uint64_t> counts, std::uint64_t largest) {
  const std::size_t below = (counts.size() - 1) / 2;
  constexpr std::size_t kFew = 1024;
  if (largest >= kFew) {
    std::vector<std::uint64_t> sorted(counts.begin(), counts.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
  std::array<std::uint16_t, kFew> how_many{};
  for (const std::uint64_t count : counts) ++how_many[count];
  std::size_t median = 0;
  for (std::size_t seen = how_many[0]; seen <= below; seen += how_many[median]) ++median;
  return median;
}

}  // namespace

bool looks_like_text(std::span<const std::byte> sample, Stretches stretches) {
  const std::uint64_t all =
      stretches.count * std::min<std::uint64_t>(sample.size(), stretches.bytes);
  TextCounts counts;
  for (std::uint64_t i = 0; i < stretches.count; ++i) {
    const auto bytes = stretch(sample, stretches, i);
    for (std::size_t at = 0; at < bytes.size(); at += kTextBlock) {
      add_text_counts(bytes.subspan(at, std::min(kTextBlock, bytes.size() - at)), counts);
      if (1000 * counts.controls > all || 20 * counts.beyond_ascii > all) return false;
    }
  }
  return 128 * counts.separators >= all;
}

std::vector<std::uint64_t> byte_periods(std::span<const std::byte> sample, Stretches stretches,
                                        std::uint64_t longest) {
  if (stretches.count == 0 || sample.size() < 4 * kMostPeriod) return {};
  // The same bytes for every lag, whole blocks of them.
  const std::uint64_t least = longest + kRepeatBlock;
  const std::uint64_t stretch_bytes =
      std::min<std::uint64_t>(std::max(stretches.bytes, least), sample.size());
  const std::uint64_t compared = (stretch_bytes - longest) / kRepeatBlock * kRepeatBlock;
  std::array<std::uint64_t, kMostPeriod + 1> repeats{};
  for (std::uint64_t i = 0; i < stretches.count; ++i) {
    const auto bytes = stretch(sample, {stretches.count, stretch_bytes}, i);
    add_lag_repeats(reinterpret_cast<const std::uint8_t*>(bytes.data()) + longest, compared,
                    longest, repeats.data());
  }
  const std::span<const std::uint64_t> of_lags = std::span(repeats).subspan(1, longest);
  const std::uint64_t usual = median_of(of_lags, stretches.count * compared);
  const std::uint64_t most = *std::max_element(of_lags.begin(), of_lags.end());
  if (64 * (most - usual) < stretches.count * compared) return {};
  // The shortest lags whose excess is near the largest: multiples of a period repeat as often.
  std::vector<std::uint64_t> periods;
  for (std::uint64_t lag = 1; lag <= longest && periods.size() < kMostPeriods; ++lag) {
    const bool peak = repeats[lag] > usual && 8 * (repeats[lag] - usual) >= 7 * (most - usual);
    const bool multiple = std::any_of(periods.begin(), periods.end(),
                                      [&](std::uint64_t period) { return lag % period == 0; });
    if (peak && !multiple) periods.push_back(lag);
  }
  return periods;
}

}  // namespace gdelta
