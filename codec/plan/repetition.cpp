#include "codec/plan/repetition.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/words/packed_value.h"

namespace gdelta {
namespace {

constexpr int kFewestTableBits = 10, kMostTableBits = 20;
constexpr std::uint64_t kToldValues = 1 << 8;
constexpr std::uint64_t kSpread =
    0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: odd, bits all over

// A sequence is known by the sum of its values, each times a power of kSpread that says its place, so that
// the next one follows by one value more and one less.
template <int kBytes>
bool repeats(const unsigned char* values, std::uint64_t count, const Repetition& looked_for,
             std::uint64_t fewest, Work* work) {
  const auto [skipped_bits, length] = looked_for;
  using Value = PackedValue<kBytes>;
  const auto spread_of = [values, skipped = skipped_bits](std::uint64_t i) {
    const std::uint64_t value = Value::load(values + i * kBytes) >> skipped;
    const std::uint64_t product = (value + 1) * kSpread;
    return product ^ product >> 32;
  };
  // Of the values of the sequence, and of the one behind it.
  constexpr std::uint64_t kRing = std::bit_ceil(kLongestRepetition + 1);
  std::uint64_t ring[kRing];
  std::uint64_t of_first = 1, sum = 0;
  for (std::uint64_t i = 0; i < length; ++i) {
    ring[i] = spread_of(i);
    sum = sum * kSpread + ring[i];
    of_first *= kSpread;
  }
  const int table_bits =
      std::clamp(static_cast<int>(std::bit_width(count)), kFewestTableBits, kMostTableBits);
  std::vector<std::uint32_t> seen(std::size_t{1} << table_bits);
  std::uint64_t repeated = 0, end = 0;
  for (std::uint64_t i = 0;; ++i) {
    if (i % kToldValues == 0) {
      if (work != nullptr) work->add(static_cast<double>(kToldValues) / static_cast<double>(count));
      if (repeated + count - std::max(i, end) < fewest) return false;
    }
    const auto mark = static_cast<std::uint32_t>(sum);
    std::uint32_t& last = seen[sum * kSpread >> (64 - table_bits)];
    if (last == mark) {
      repeated += i + length - std::max(i, end);
      end = i + length;
      if (repeated >= fewest) return true;
    }
    last = mark;
    if (i + length == count) return false;
    const std::uint64_t next = ring[(i + length) % kRing] = spread_of(i + length);
    sum = sum * kSpread + (next - of_first * ring[i % kRing]);
  }
}

}  // namespace

bool repeats(std::span<const unsigned char> bytes, int value_bytes, const Repetition& looked_for,
             std::uint64_t fewest, Work* work) {
  bool found = fewest == 0;
  for_value_bytes(value_bytes, [&](auto width) {
    const std::uint64_t count = bytes.size() / decltype(width)::value;
    if (!found && count > looked_for.length)
      found = repeats<decltype(width)::value>(bytes.data(), count, looked_for, fewest, work);
  });
  return found;
}

}  // namespace gdelta
