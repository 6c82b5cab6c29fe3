#include "codec/detect/lag_cost.h"

#include <algorithm>
#include <vector>

#include "codec/detect/value_load.h"
#include "kernels/bitpack/lag_bits.h"

namespace gdelta {

namespace {

constexpr std::uint64_t kFewestDifferences = 16;
constexpr std::uint64_t kAlignment = 24;  // every width divides it

template <class Word, int kBytes>
class LagLook {
 public:
  LagLook(std::span<const std::byte> sample, bool big_endian, Stretches stretches)
      : stretches_(stretches) {
    if (stretches.count * stretches.bytes >= sample.size()) stretches_ = {1, sample.size()};
    values_ = stretches_.bytes / kBytes;
    words_.resize(stretches_.count * values_ + kLagPadding);
    for (std::uint64_t i = 0; i < stretches_.count; ++i) {
      const std::uint64_t spread = sample.size() - stretches_.bytes;
      const std::uint64_t place = stretches_.count > 1 ? spread * i / (stretches_.count - 1) : 0;
      const std::byte* const at = sample.data() + place / kAlignment * kAlignment;
      const std::span<Word> stretch = std::span(words_).subspan(i * values_, values_);
      if (big_endian) {
        load_values<Word, kBytes, true>(at, kBytes, stretch);
      } else {
        load_values<Word, kBytes, false>(at, kBytes, stretch);
      }
    }
  }

  std::uint64_t cost(std::uint64_t lag) const {
    const LagRuns runs = lag_runs(values_, lag);
    if (runs.ways * runs.length < kFewestDifferences) return kUnknownCost;
    std::uint64_t bits = 0;
    for (std::uint64_t i = 0; i < stretches_.count; ++i)
      bits += lag_bits(words_.data() + i * values_, runs, lag,
                       8 * (static_cast<int>(sizeof(Word)) - kBytes));
    return (bits << 16) / (stretches_.count * runs.length * kBytes);
  }

 private:
  Stretches stretches_;
  std::uint64_t values_;  // of a stretch
  std::vector<Word> words_;
};

template <class Word, int kBytes>
void set_costs(std::span<const std::byte> sample, bool big_endian, Stretches stretches,
               std::span<const std::uint8_t> tuples, std::span<std::uint64_t> costs) {
  const LagLook<Word, kBytes> look(sample, big_endian, stretches);
  for (std::size_t i = 0; i < tuples.size(); ++i) costs[i] = look.cost(tuples[i]);
}

}  // namespace

void lag_costs(std::span<const std::byte> sample, int bytes, bool big_endian, Stretches stretches,
               std::span<const std::uint8_t> tuples, std::span<std::uint64_t> costs) {
  switch (bytes) {
    case 1:
      return set_costs<std::uint8_t, 1>(sample, big_endian, stretches, tuples, costs);
    case 2:
      return set_costs<std::uint16_t, 2>(sample, big_endian, stretches, tuples, costs);
    case 3:
      return set_costs<std::uint32_t, 3>(sample, big_endian, stretches, tuples, costs);
    case 4:
      return set_costs<std::uint32_t, 4>(sample, big_endian, stretches, tuples, costs);
    default:
      return set_costs<std::uint64_t, 8>(sample, big_endian, stretches, tuples, costs);
  }
}

}  // namespace gdelta
