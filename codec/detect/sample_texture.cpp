#include "codec/detect/sample_texture.h"

#include <algorithm>
#include <array>

namespace gdelta {

namespace {

constexpr std::uint64_t kMostPeriod = 512;
constexpr std::uint64_t kNumStretches = 4;

/// Stretch `i` of the sample; they overlap where it is short.
std::span<const std::byte> stretch(std::span<const std::byte> sample, std::uint64_t stretch_bytes,
                                   std::uint64_t i) {
  const std::uint64_t bytes = std::min<std::uint64_t>(sample.size(), stretch_bytes);
  return sample.subspan((sample.size() - bytes) * i / (kNumStretches - 1), bytes);
}

/// How many bytes equal the one `lag` before them.
std::uint64_t count_repeats(std::span<const std::byte> bytes, std::uint64_t lag) {
  constexpr std::size_t kBlock = 240;  // so that a byte holds its count, which lets it vectorise
  std::uint64_t repeats = 0;
  std::size_t at = lag;
  for (; at + kBlock <= bytes.size(); at += kBlock) {
    const std::byte* now = bytes.data() + at;
    const std::byte* then = now - lag;
    std::uint8_t in_block = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      in_block = static_cast<std::uint8_t>(in_block + (now[i] == then[i]));
    repeats += in_block;
  }
  for (; at < bytes.size(); ++at) repeats += bytes[at] == bytes[at - lag];
  return repeats;
}

}  // namespace

bool looks_like_text(std::span<const std::byte> sample, std::uint64_t stretch_bytes) {
  std::uint64_t all = 0, controls = 0, beyond_ascii = 0, separators = 0;
  for (std::uint64_t i = 0; i < kNumStretches; ++i)
    for (const std::byte byte : stretch(sample, stretch_bytes, i)) {
      const auto c = std::to_integer<unsigned char>(byte);
      ++all;
      const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      controls += (c < 0x20 && !space) || c == 0x7f;
      beyond_ascii += c > 0x7f;
      separators += space || c == ',' || c == ';';
    }
  return 1000 * controls <= all && 20 * beyond_ascii <= all && 128 * separators >= all;
}

std::vector<std::uint64_t> byte_periods(std::span<const std::byte> sample,
                                        std::uint64_t stretch_bytes) {
  if (sample.size() < 4 * kMostPeriod) return {};
  std::array<std::uint64_t, kMostPeriod + 1> repeats{};  // of every 2^16 bytes compared
  for (std::uint64_t lag = 1; lag <= kMostPeriod; ++lag) {
    std::uint64_t count = 0, compared = 0;
    for (std::uint64_t i = 0; i < kNumStretches; ++i) {
      const auto bytes = stretch(sample, stretch_bytes, i);
      count += count_repeats(bytes, lag);
      compared += bytes.size() - lag;
    }
    repeats[lag] = (count << 16) / compared;
  }
  auto sorted = repeats;
  std::nth_element(sorted.begin() + 1, sorted.begin() + kMostPeriod / 2, sorted.end());
  const std::uint64_t usual = sorted[kMostPeriod / 2];
  const std::uint64_t most = *std::max_element(repeats.begin() + 1, repeats.end());
  if (most < usual + (1 << 16) / 64) return {};
  // The shortest lags whose excess is near the largest: multiples of a period repeat as often.
  std::vector<std::uint64_t> periods;
  for (std::uint64_t lag = 1; lag <= kMostPeriod && periods.size() < 3; ++lag) {
    const bool peak = repeats[lag] > usual && 8 * (repeats[lag] - usual) >= 7 * (most - usual);
    const bool multiple = std::any_of(periods.begin(), periods.end(),
                                      [&](std::uint64_t period) { return lag % period == 0; });
    if (peak && !multiple) periods.push_back(lag);
  }
  return periods;
}

}  // namespace gdelta
