#include "codec/coders/maps/lane_sample.h"

#include <algorithm>

#include "formats/gdelta/maps/map_fields.h"
#include "kernels/deltas/delta_bits.h"
#include "kernels/words/map_lane.h"

namespace gdelta {
namespace {

/// Of so many bytes: long columns are seldom alike everywhere.
constexpr std::uint64_t kMostStretches = 32;
constexpr std::uint64_t kSampledBytes = 1 << 20;
constexpr int kHighestOrder = 3;
/// So many values of a lane may be exceptions.
constexpr std::uint64_t kExceptionShare = 64;

}  // namespace

template <class Word>
LaneSample<Word> sample_lane(const ColumnBytes& column, int lane) {
  const std::uint64_t most =
      kMostStretches * std::max<std::uint64_t>(1, column.bytes() / kSampledBytes);
  const std::uint64_t stretches =
      std::clamp<std::uint64_t>(column.records / kSampleStretch, 1, most);
  LaneSample<Word> sample;
  sample.bits = value_bits(column.column.type);
  for (std::uint64_t k = 0; k < stretches; ++k) {
    const std::uint64_t length = std::min(kSampleStretch, column.records);
    const std::uint64_t first =
        stretches == 1 ? 0 : k * (column.records - length) / (stretches - 1);
    sample.words.resize(sample.words.size() + length);
    load_lane(column.at(first, lane), column.record_bytes, length, column.format(ValueMap::none),
              sample.words.data() + sample.words.size() - length);
  }
  return sample;
}

template <class Word>
std::uint64_t cost_of(const LaneSample<Word>& lane) {
  std::uint64_t bits[kHighestOrder + 1] = {};
  for (std::size_t first = 0; first < lane.words.size(); first += kSampleStretch) {
    Word words[kSampleStretch];
    const std::size_t count = std::min<std::size_t>(kSampleStretch, lane.words.size() - first);
    std::copy_n(lane.words.data() + first, count, words);
    add_delta_bits(words, count, lane.bits, kHighestOrder, bits);
  }
  return *std::min_element(bits, bits + kHighestOrder + 1);
}

template <class Word>
void try_map(const LaneSample<Word>& lane, const LaneMapping& mapping, MapTrial<Word>& best) {
  LaneSample<Word> mapped = lane;
  std::vector<std::uint64_t> exceptions;
  map_lane(mapped.words.data(), mapped.words.size(), lane.bits, mapping, 0, exceptions);
  if (exceptions.size() * kExceptionShare > lane.words.size()) return;
  const std::uint64_t exception_bits =
      8 * format::kExceptionPlaceBytes + static_cast<std::uint64_t>(lane.bits);
  const std::uint64_t cost = cost_of(mapped) + exceptions.size() * exception_bits;
  if (cost < best.cost) best = {mapping, std::move(mapped), cost};
}

template <class Word>
bool takes_most(const LaneSample<Word>& lane, const LaneMapping& mapping) {
  std::vector<std::uint64_t> exceptions;
  for (std::size_t first = 0; first < lane.words.size(); first += kSampleStretch) {
    Word words[kSampleStretch];
    const std::size_t count = std::min<std::size_t>(kSampleStretch, lane.words.size() - first);
    std::copy_n(lane.words.data() + first, count, words);
    map_lane(words, count, lane.bits, mapping, first, exceptions);
    if (exceptions.size() * kExceptionShare > lane.words.size()) return false;
  }
  return true;
}

#define GDELTA_INSTANTIATE(Word)                                                       \
  template LaneSample<Word> sample_lane(const ColumnBytes&, int);                      \
  template std::uint64_t cost_of(const LaneSample<Word>&);                             \
  template void try_map(const LaneSample<Word>&, const LaneMapping&, MapTrial<Word>&); \
  template bool takes_most(const LaneSample<Word>&, const LaneMapping&);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta
