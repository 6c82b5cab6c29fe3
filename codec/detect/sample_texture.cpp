#include "codec/detect/sample_texture.h"

#include <algorithm>
#include <array>

#include "kernels/bitpack/lag_bits.h"

namespace gdelta {

namespace {

constexpr std::uint64_t kNumStretches = 4;

/// Stretch `i` of the sample; they overlap where it is short.
std::span<const std::byte> stretch(std::span<const std::byte> sample, std::uint64_t stretch_bytes,
                                   std::uint64_t i) {
  const std::uint64_t bytes = std::min<std::uint64_t>(sample.size(), stretch_bytes);
  return sample.subspan((sample.size() - bytes) * i / (kNumStretches - 1), bytes);
}

struct TextCounts {
  std::uint64_t controls = 0, beyond_ascii = 0, separators = 0;
};

void add_text_counts(std::span<const std::byte> bytes, TextCounts& counts) {
  constexpr std::size_t kBlock = 240;  // so that bytes hold the counts, which lets them vectorise
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const auto block = bytes.subspan(at, std::min(kBlock, bytes.size() - at));
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
}

}  // namespace

bool looks_like_text(std::span<const std::byte> sample, std::uint64_t stretch_bytes) {
  TextCounts counts;
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < kNumStretches; ++i) {
    const auto bytes = stretch(sample, stretch_bytes, i);
    all += bytes.size();
    add_text_counts(bytes, counts);
  }
  return 1000 * counts.controls <= all && 20 * counts.beyond_ascii <= all &&
         128 * counts.separators >= all;
}

std::vector<std::uint64_t> byte_periods(std::span<const std::byte> sample,
                                        std::uint64_t stretch_bytes, std::uint64_t longest) {
  if (sample.size() < 4 * kMostPeriod) return {};
  // The same bytes for every lag, whole blocks of them.
  const std::uint64_t least = longest + kRepeatBlock;
  stretch_bytes = std::min<std::uint64_t>(std::max(stretch_bytes, least), sample.size());
  const std::uint64_t compared = (stretch_bytes - longest) / kRepeatBlock * kRepeatBlock;
  std::array<std::uint64_t, kMostPeriod + 1> repeats{};  // of every 2^16 bytes compared
  for (std::uint64_t i = 0; i < kNumStretches; ++i) {
    const auto* const bytes =
        reinterpret_cast<const std::uint8_t*>(stretch(sample, stretch_bytes, i).data());
    for (std::uint64_t lag = 1; lag <= longest; ++lag)
      repeats[lag] += lag_repeats(bytes + longest, compared, lag);
  }
  for (std::uint64_t& count : repeats) count = (count << 16) / (kNumStretches * compared);
  auto sorted = repeats;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(longest / 2);
  std::nth_element(sorted.begin() + 1, middle,
                   sorted.begin() + static_cast<std::ptrdiff_t>(longest) + 1);
  const std::uint64_t usual = *middle;
  const std::uint64_t most = *std::max_element(repeats.begin() + 1, repeats.end());
  if (most < usual + (1 << 16) / 64) return {};
  // The shortest lags whose excess is near the largest: multiples of a period repeat as often.
  std::vector<std::uint64_t> periods;
  for (std::uint64_t lag = 1; lag <= longest && periods.size() < 3; ++lag) {
    const bool peak = repeats[lag] > usual && 8 * (repeats[lag] - usual) >= 7 * (most - usual);
    const bool multiple = std::any_of(periods.begin(), periods.end(),
                                      [&](std::uint64_t period) { return lag % period == 0; });
    if (peak && !multiple) periods.push_back(lag);
  }
  return periods;
}

}  // namespace gdelta
