#include "kernels/ans/ans_fit.h"

#include <algorithm>
#include <bit>

#include "kernels/ans/fixed_log2.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kBinBits = 32;  // about what a bin takes in a head
constexpr std::uint64_t kFewestSampledOfTable = 1 << 12;

// Frequencies that add up to 2^slot_bits, at least 1 each, about in proportion.
std::vector<std::uint16_t> frequencies_of(const std::vector<std::uint64_t>& counts, int slot_bits) {
  const std::int64_t slots = std::int64_t{1} << slot_bits;
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  std::vector<std::uint16_t> frequencies;
  std::int64_t left = slots;
  for (const std::uint64_t count : counts) {
    const std::uint64_t share = (count * static_cast<std::uint64_t>(slots) + all / 2) / all;
    frequencies.push_back(static_cast<std::uint16_t>(std::max<std::uint64_t>(share, 1)));
    left -= frequencies.back();
  }
  // One slot more or less where it saves most or costs least: count / frequency is what a slot is worth.
  for (; left != 0; left += left < 0 ? 1 : -1) {
    std::size_t best = counts.size();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (left < 0 && frequencies[i] == 1) continue;
      if (best == counts.size()) best = i;
      const int taken = left < 0 ? 1 : 0;
      const std::uint64_t worth = counts[i] * static_cast<std::uint64_t>(frequencies[best] - taken);
      const std::uint64_t best_worth =
          counts[best] * static_cast<std::uint64_t>(frequencies[i] - taken);
      if (left < 0 ? worth < best_worth : worth > best_worth) best = i;
    }
    frequencies[best] = static_cast<std::uint16_t>(frequencies[best] + (left < 0 ? -1 : 1));
  }
  return frequencies;
}

}  // namespace

template <class Word>
void AnsCounts<Word>::add(const AnsCounts& other) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    reaches[i].first = std::min(reaches[i].first, other.reaches[i].first);
    reaches[i].last = std::max(reaches[i].last, other.reaches[i].last);
  }
}

template <class Word>
std::uint64_t AnsCounts<Word>::count_of(int bin) const {
  std::uint64_t count = 0;
  for (int copy = 0; copy < kCopies; ++copy) count += counts[copy * kBins + bin];
  return count;
}

template <class Word>
AnsFit<Word>::AnsFit(std::span<const std::span<const Word>> lanes, const AnsEffort& effort) {
  std::vector<std::span<const Word>> stretches;
  for (const std::span<const Word>& lane : lanes) {
    residuals_ += lane.size();
    for (std::size_t at = 0; at < lane.size(); at += kMaxAnsTile)
      stretches.push_back(lane.subspan(at, std::min<std::size_t>(kMaxAnsTile, lane.size() - at)));
  }
  if (const std::uint64_t all = stretches.size(); all > effort.sampled_stretches) {
    for (std::uint64_t i = 0; i < effort.sampled_stretches; ++i)
      stretches[i] = stretches[all * i / effort.sampled_stretches];
    stretches.resize(effort.sampled_stretches);
  }
  // Many tables follow residuals that change, few have room for bins of residuals that repeat.
  chosen_ = divide(stretches, effort, effort.most_tables);
  if (tables() == 1) return;
  Division single = divide(stretches, effort, 1);
  if (single.bits <= chosen_.bits) chosen_ = std::move(single);
}

template <class Word>
typename AnsFit<Word>::Division AnsFit<Word>::divide(
    std::span<const std::span<const Word>> stretches, const AnsEffort& effort,
    int most_tables) const {
  Division division;
  division.clusters = find_clusters<Word>(
      stretches,
      {.most_clusters = most_tables, .rounds = effort.rounds, .all_residuals = residuals_});
  const int tables = division.clusters.clusters;
  const std::size_t step = std::size_t{1} << division.clusters.span_bits;
  std::vector<std::vector<std::int64_t>> samples(tables);
  std::uint64_t sampled = 0, selectors = 0;
  for (const std::span<const Word>& stretch : stretches) {
    sampled += stretch.size();
    for (std::size_t at = 0; at < stretch.size(); at += step, ++selectors) {
      const auto span = stretch.subspan(at, std::min(step, stretch.size() - at));
      std::vector<std::int64_t>& sample = samples[choose_of(division.clusters, span)];
      for (const Word residual : span) sample.push_back(static_cast<Signed>(residual));
    }
  }
  division.bits = selectors * static_cast<unsigned>(selector_bits(tables)) << kFixedLog2Bits;
  for (std::vector<std::int64_t>& sample : samples) {
    const std::uint64_t all = sample.size();
    const BinChoice choice =
        choose_bins_of(sample, residuals_ * all / sampled, tables, effort.cells);
    if (!sample.empty()) division.bits += choice.bits * all / sample.size();
    division.cuts.push_back(cut(choice.bins));
  }
  return division;
}

template <class Word>
BinChoice AnsFit<Word>::choose_bins_of(std::vector<std::int64_t>& sample, std::uint64_t all,
                                       int tables, std::uint32_t cells) const {
  const std::uint64_t most_sampled = std::max(kFewestSampledOfTable, sample.size() / 8);
  if (sample.size() > most_sampled) {
    for (std::uint64_t i = 0; i < most_sampled; ++i)
      sample[i] = sample[sample.size() * i / most_sampled];
    sample.resize(most_sampled);
  }
  std::sort(sample.begin(), sample.end());
  const int most = std::min(kMaxTableBins, kMaxAnsBins / tables) / 2 - 1;
  const std::uint64_t bin_bits = all == 0 ? 0 : (kBinBits << kFixedLog2Bits) * sample.size() / all;
  return choose_bins(
      sample,
      {.cells = cells, .most_bins = static_cast<std::uint32_t>(most), .bin_bits = bin_bits});
}

template <class Word>
typename AnsFit<Word>::Cuts AnsFit<Word>::cut(const std::vector<ResidualRange>& bins) {
  Cuts cuts;
  const auto lowest = std::int64_t{std::numeric_limits<Signed>::min()};
  const auto highest = std::int64_t{std::numeric_limits<Signed>::max()};
  const auto add = [&cuts](std::int64_t first, int bits) {
    cuts.firsts.push_back(static_cast<Signed>(first));
    cuts.offset_bits.push_back(static_cast<std::uint8_t>(bits));
  };
  std::int64_t next = lowest;  // that no bin has yet
  bool open = true;
  for (const ResidualRange& bin : bins) {
    if (bin.first > next) add(next, Cuts::kUnknown);
    // What its offsets reach is the bin's too.
    const auto length =
        static_cast<std::uint64_t>(bin.last) - static_cast<std::uint64_t>(bin.first);
    const int bits = static_cast<int>(std::bit_width(length));
    add(bin.first, bits);
    const std::uint64_t reach = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t room =
        static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(bin.first);
    open = reach < room;
    if (!open) break;
    next = bin.first + static_cast<std::int64_t>(reach) + 1;
    const auto following = &bin + 1;
    if (following != bins.data() + bins.size()) next = std::min(next, following->first);
  }
  if (open) add(next, Cuts::kUnknown);
  std::size_t at = 0;
  for (int number = 0; number <= FineClasses::kCount; ++number) {
    const Signed first = number == FineClasses::kCount ? std::numeric_limits<Signed>::max()
                                                       : FineClasses::lowest<Signed>(number);
    while (at + 1 < cuts.firsts.size() && cuts.firsts[at + 1] <= first) ++at;
    cuts.bin_of_class[number] = static_cast<std::uint8_t>(at);
  }
  return cuts;
}

template <class Word>
int AnsFit<Word>::choose_of(const ClusterCosts& clusters, std::span<const Word> span) {
  if (clusters.clusters == 1) return 0;
  std::uint32_t sums[kMostClusters] = {};
  clusters.add(span.data(), span.size(), sums);
  return clusters.cheapest(sums);
}

template <class Word>
int AnsFit<Word>::choose_table(std::span<const Word> span) const {
  return choose_of(chosen_.clusters, span);
}

template <class Word>
void AnsFit<Word>::classify(int table, std::span<const Word> span, std::uint8_t* bins,
                            AnsCounts<Word>& counts) const {
  const Cuts& cuts = chosen_.cuts[table];
  const Signed* const firsts = cuts.firsts.data();
  std::uint32_t* const counted = counts.counts.data() + table * kMaxTableBins;
  auto* const reaches = counts.reaches.data() + table * kMaxTableBins;
  for (std::size_t i = 0; i < span.size(); ++i) {
    const auto value = static_cast<Signed>(span[i]);
    const unsigned number = FineClasses::of(span[i]);
    unsigned low = cuts.bin_of_class[number];
    for (unsigned high = cuts.bin_of_class[number + 1]; low < high;) {
      const unsigned middle = (low + high + 1) / 2;
      const bool above = value >= firsts[middle];
      low = above ? middle : low;
      high = above ? high : middle - 1;
    }
    bins[i] = static_cast<std::uint8_t>(low);
    ++counted[i % AnsCounts<Word>::kCopies * AnsCounts<Word>::kBins + low];
    if (cuts.offset_bits[low] == Cuts::kUnknown) {
      reaches[low].first = std::min(reaches[low].first, value);
      reaches[low].last = std::max(reaches[low].last, value);
    }
  }
}

template <class Word>
AnsTables<Word> AnsFit<Word>::finish(const AnsCounts<Word>& counts, AnsNames& names) const {
  names.tables.resize(tables());
  names.bins.resize(tables() * kMaxTableBins);
  AnsTables<Word> made;
  made.span_bits = span_bits();
  std::vector<std::vector<std::uint64_t>> counts_of_tables;
  std::size_t most_bins = 0;
  for (int t = 0; t < tables(); ++t) {
    std::vector<AnsBin<Word>> bins;
    std::vector<std::uint64_t> bin_counts;
    for (int b = 0; b < kMaxTableBins; ++b) {
      const int number = t * kMaxTableBins + b;
      const std::uint64_t count = counts.count_of(number);
      names.bins[number] = static_cast<std::uint8_t>(bins.size());
      if (count == 0) continue;
      AnsBin<Word> bin{.lower = static_cast<Word>(chosen_.cuts[t].firsts[b]),
                       .frequency = 0,
                       .offset_bits = chosen_.cuts[t].offset_bits[b]};
      if (bin.offset_bits == Cuts::kUnknown) {
        const auto& reach = counts.reaches[number];
        bin.lower = static_cast<Word>(reach.first);
        bin.offset_bits = static_cast<std::uint8_t>(
            std::bit_width(static_cast<Word>(static_cast<Word>(reach.last) - bin.lower)));
      }
      bins.push_back(bin);
      bin_counts.push_back(count);
    }
    names.tables[t] = static_cast<std::uint8_t>(made.tables.size());
    if (bins.empty()) continue;
    most_bins = std::max(most_bins, bins.size());
    made.tables.push_back(std::move(bins));
    counts_of_tables.push_back(std::move(bin_counts));
  }
  // Few residuals do not tell probabilities to a slot.
  const int most_slot_bits =
      std::min(kMaxSlotBits, 12 - selector_bits(static_cast<int>(made.tables.size())));
  made.slot_bits = std::clamp(static_cast<int>(std::bit_width(residuals_)) - 3, kMinSlotBits + 2,
                              most_slot_bits);
  made.slot_bits = std::max(made.slot_bits, static_cast<int>(std::bit_width(most_bins)));
  for (std::size_t t = 0; t < made.tables.size(); ++t) {
    const std::vector<std::uint16_t> frequencies =
        frequencies_of(counts_of_tables[t], made.slot_bits);
    for (std::size_t b = 0; b < frequencies.size(); ++b)
      made.tables[t][b].frequency = frequencies[b];
  }
  return made;
}

template struct AnsCounts<std::uint32_t>;
template struct AnsCounts<std::uint64_t>;
template class AnsFit<std::uint32_t>;
template class AnsFit<std::uint64_t>;

}  // namespace gdelta
