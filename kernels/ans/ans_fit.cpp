#include "kernels/ans/ans_fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "kernels/ans/ans_fit_rules.h"
#include "kernels/ans/fixed_log2.h"

namespace gdelta {
namespace {

constexpr std::uint64_t kHopelessShare = 128;  // of the bits of a sample: it errs by less

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

// So many of them at most, evenly spread, moved to the front.
std::span<std::int64_t> thinned(std::span<std::int64_t> residuals, std::uint64_t most) {
  if (residuals.size() <= most) return residuals;
  // Number size × i / most, without dividing each time.
  const std::uint64_t step = residuals.size() / most, more = residuals.size() % most;
  std::uint64_t at = 0, rest = 0;
  for (std::uint64_t i = 0; i < most; ++i) {
    residuals[i] = residuals[at];
    rest += more;
    at += step + (rest >= most ? 1 : 0);
    rest -= rest >= most ? most : 0;
  }
  return residuals.first(most);
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
  for (int copy = 0; copy < kCopies; ++copy) count += counts[copy * bins + bin];
  return count;
}

// Residuals of stretches that are spread over the column, and their fine classes.
template <class Word>
struct AnsFit<Word>::Sample {
  Sample(std::span<const std::span<const Word>> lanes, std::uint64_t most_stretches) {
    for (const std::span<const Word>& lane : lanes) {
      all_residuals += lane.size();
      for (std::size_t at = 0; at < lane.size(); at += kMaxAnsTile)
        stretches.push_back(lane.subspan(at, std::min<std::size_t>(kMaxAnsTile, lane.size() - at)));
    }
    if (const std::uint64_t all = stretches.size(); all > most_stretches) {
      for (std::uint64_t i = 0; i < most_stretches; ++i)
        stretches[i] = stretches[all * i / most_stretches];
      stretches.resize(most_stretches);
    }
    for (const std::span<const Word>& stretch : stretches) residuals += stretch.size();
    all_classes.resize(residuals);
    std::uint16_t* next = all_classes.data();
    for (const std::span<const Word>& stretch : stretches) {
      find_fine_classes(stretch.data(), stretch.size(), next);
      classes.emplace_back(next, stretch.size());
      next += stretch.size();
    }
  }

  ClusterEffort cluster_effort(const AnsEffort& effort) const {
    return {.most_clusters = effort.most_tables,
            .rounds = effort.rounds,
            .all_residuals = all_residuals,
            .fewest_of_table = effort.fewest_of_table};
  }

  std::vector<std::span<const Word>> stretches;
  std::vector<std::span<const std::uint16_t>> classes;
  std::vector<std::uint16_t> all_classes;
  std::uint64_t residuals = 0;
  std::uint64_t all_residuals = 0;  // of the column
};

template <class Word>
AnsFit<Word>::AnsFit(std::span<const std::span<const Word>> lanes, const AnsEffort& effort)
    : choice_step_(choice_step_of(effort)) {
  const Sample sample(lanes, effort.sampled_stretches);
  residuals_ = sample.all_residuals;
  // Many tables follow residuals that change, few have room for bins of residuals that repeat.
  chosen_ = divide(sample, effort, find_clusters(sample.classes, sample.cluster_effort(effort)));
  if (tables() == 1 || tables() > effort.most_to_single) return;
  Division single = divide(sample, effort, {});
  if (single.bits <= chosen_.bits) chosen_ = std::move(single);
}

template <class Word>
std::vector<AnsFit<Word>> AnsFit<Word>::several(std::span<const std::span<const Word>> lanes,
                                                const AnsEffort& effort) {
  const Sample sample(lanes, effort.sampled_stretches);
  std::vector<AnsFit> fits;
  std::uint64_t least = ~std::uint64_t{0};
  for (const ClusterCosts& clusters :
       find_all_clusters(sample.classes, sample.cluster_effort(effort))) {
    fits.push_back({sample.all_residuals, effort, divide(sample, effort, clusters)});
    least = std::min(least, fits.back().chosen_.bits);
  }
  std::erase_if(
      fits, [&](const AnsFit& fit) { return fit.chosen_.bits > least + least / kHopelessShare; });
  return fits;
}

template <class Word>
typename AnsFit<Word>::Division AnsFit<Word>::divide(const Sample& sample, const AnsEffort& effort,
                                                     const ClusterCosts& clusters) {
  Division division;
  division.clusters = clusters;
  const int tables = division.clusters.clusters;
  const std::size_t step = std::size_t{1} << division.clusters.span_bits;
  std::vector<std::uint8_t> chosen;  // by span
  std::vector<std::size_t> sizes(tables);
  const auto each_span = [&](const auto& function) {
    for (std::size_t s = 0; s < sample.stretches.size(); ++s)
      for (std::size_t at = 0; at < sample.stretches[s].size(); at += step)
        function(s, at, std::min(step, sample.stretches[s].size() - at));
  };
  each_span([&](std::size_t s, std::size_t at, std::size_t length) {
    const int table = division.clusters.choose(sample.classes[s].subspan(at, length));
    chosen.push_back(static_cast<std::uint8_t>(table));
    sizes[table] += length;
  });
  std::vector<std::int64_t> residuals(sample.residuals);  // table after table
  std::vector<std::int64_t*> next{residuals.data()};
  for (int t = 1; t < tables; ++t) next.push_back(next.back() + sizes[t - 1]);
  auto span = chosen.begin();
  each_span([&](std::size_t s, std::size_t at, std::size_t length) {
    std::int64_t*& own = next[*span++];
    for (const Word residual : sample.stretches[s].subspan(at, length))
      *own++ = static_cast<Signed>(residual);
  });
  division.bits = chosen.size() * static_cast<unsigned>(selector_bits(tables)) << kFixedLog2Bits;
  for (int t = 0; t < tables; ++t) {
    const std::uint64_t all = sizes[t];
    const std::span<std::int64_t> own =
        thinned({next[t] - all, all}, std::max(effort.table_sample, all / 8));
    const BinChoice choice =
        choose_bins_of(own, sample.all_residuals * all / sample.residuals, tables, effort);
    if (!own.empty()) division.bits += choice.bits * all / own.size();
    division.cuts.emplace_back(choice.bins);
  }
  return division;
}

template <class Word>
BinChoice AnsFit<Word>::choose_bins_of(std::span<std::int64_t> residuals, std::uint64_t all,
                                       int tables, const AnsEffort& effort) {
  sort_sample(residuals);
  // As many again may lie between them; `finish` makes them fewer if they are too many.
  const int most = std::min(kMaxTableBins / 2, kMaxAnsBins / tables) - 1;
  const std::uint64_t bin_bits =
      all == 0 ? 0 : (kAnsBinBits << kFixedLog2Bits) * residuals.size() / all;
  return choose_bins(residuals, {.cells = effort.cells,
                                 .most_bins = static_cast<std::uint32_t>(most),
                                 .bin_bits = bin_bits,
                                 .for_warps = effort.for_warps,
                                 .fewest_of_cell = effort.fewest_of_cell});
}

template <class Word>
int AnsFit<Word>::choose_table(std::span<const std::uint16_t> classes) const {
  if (tables() == 1) return 0;
  if (choice_step_ == 1) return chosen_.clusters.choose(classes);
  std::array<std::uint16_t, (1 << kMaxSpanBits) / kChoiceStep> some;
  std::size_t count = 0;
  for (std::size_t i = 0; i < classes.size(); i += choice_step_) some[count++] = classes[i];
  return chosen_.clusters.choose({some.data(), count});
}

template <class Word>
void AnsFit<Word>::classify(int table, std::span<const Word> span, const std::uint16_t* classes,
                            std::uint8_t* bins, AnsCounts<Word>& counts) const {
  const AnsCuts<Word>& cuts = chosen_.cuts[table];
  cuts.find(span, classes, bins);
  constexpr std::size_t kCopies = AnsCounts<Word>::kCopies;
  const auto copy_bins = static_cast<std::size_t>(counts.bins);
  std::uint32_t* const counted = counts.counts.data() + table * kMaxTableBins;
  auto* const reaches = counts.reaches.data() + table * kMaxTableBins;
  std::size_t done = 0;
  for (; done + kCopies <= span.size(); done += kCopies)
    for (std::size_t copy = 0; copy < kCopies; ++copy)
      ++counted[copy * copy_bins + bins[done + copy]];
  for (; done < span.size(); ++done) ++counted[bins[done]];
  constexpr std::size_t kAtOnce = 32;
  for (std::size_t at = 0; at < span.size(); at += kAtOnce) {
    std::uint32_t unknown = cuts.unknown_of(bins + at, std::min(kAtOnce, span.size() - at));
    for (; unknown != 0; unknown &= unknown - 1) {
      const std::size_t i = at + static_cast<std::size_t>(std::countr_zero(unknown));
      const auto value = static_cast<Signed>(span[i]);
      auto& reach = reaches[bins[i]];
      reach.first = std::min(reach.first, value);
      reach.last = std::max(reach.last, value);
    }
  }
}

namespace {

// A bin that has residuals, and those that have been joined to it.
template <class Word>
struct FoundBin {
  std::make_signed_t<Word> first, last;
  std::uint64_t count;
  int end_name;  // behind the names that it has

  int offset_bits() const {
    return std::bit_width(static_cast<Word>(static_cast<Word>(last) - static_cast<Word>(first)));
  }
  // In 1/256, but for what all residuals of the table have in common.
  std::int64_t bits() const {
    const auto of_one = static_cast<std::int64_t>(offset_bits()) << kFixedLog2Bits;
    return static_cast<std::int64_t>(count) * (of_one - fixed_log2(count)) +
           static_cast<std::int64_t>(kAnsBinBits << kFixedLog2Bits);
  }
  FoundBin joined_with(const FoundBin& next) const {
    return {
        .first = first, .last = next.last, .count = count + next.count, .end_name = next.end_name};
  }
};

// Joins neighbours if that makes the table shorter by more than it makes the residuals longer, and
// if there are too many.
template <class Word>
void join_bins(std::vector<FoundBin<Word>>& bins, std::size_t most) {
  std::vector<FoundBin<Word>> kept;
  const auto loss = [](const FoundBin<Word>& a, const FoundBin<Word>& b) {
    return a.joined_with(b).bits() - a.bits() - b.bits();
  };
  for (FoundBin<Word> bin : bins) {
    while (!kept.empty() && loss(kept.back(), bin) <= 0) {
      bin = kept.back().joined_with(bin);
      kept.pop_back();
    }
    kept.push_back(bin);
  }
  while (kept.size() > most) {
    std::size_t best = 0;
    for (std::size_t b = 1; b + 1 < kept.size(); ++b)
      if (loss(kept[b], kept[b + 1]) < loss(kept[best], kept[best + 1])) best = b;
    kept[best] = kept[best].joined_with(kept[best + 1]);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  bins = std::move(kept);
}

}  // namespace

template <class Word>
FinishedAnsFit<Word> AnsFit<Word>::finish(const AnsCounts<Word>& counts, int value_bits) const {
  // Offsets may reach further, but joined bins would take bits for that.
  const auto highest =
      static_cast<Signed>(~Word{0} >> 1 >> (std::numeric_limits<Word>::digits - value_bits));
  FinishedAnsFit<Word> finished;
  AnsTables<Word>& made = finished.tables;
  AnsNames& names = finished.names;
  names.tables.resize(tables());
  names.bins.resize(tables() * kMaxTableBins);
  made.span_bits = span_bits();
  std::vector<std::vector<std::uint64_t>> counts_of_tables;
  std::size_t most_bins = 0;
  for (int t = 0; t < tables(); ++t) {
    const AnsCuts<Word>& cuts = chosen_.cuts[t];
    std::vector<FoundBin<Word>> found;
    for (int b = 0; b < cuts.size(); ++b) {
      const int number = t * kMaxTableBins + b;
      const std::uint64_t count = counts.count_of(number);
      if (count == 0) continue;
      const bool unknown = cuts.offset_bits(b) == AnsCuts<Word>::kUnknown;
      const auto& reach = counts.reaches[number];
      found.push_back({.first = unknown ? reach.first : cuts.first(b),
                       .last = unknown ? reach.last : std::min(cuts.last(b), highest),
                       .count = count,
                       .end_name = b + 1});
    }
    names.tables[t] = static_cast<std::uint8_t>(made.tables.size());
    if (found.empty()) continue;
    join_bins(found, static_cast<std::size_t>(std::min(kMaxTableBins, kMaxAnsBins / tables())));
    std::vector<AnsBin<Word>> bins;
    std::vector<std::uint64_t> bin_counts;
    int name = 0;
    for (const FoundBin<Word>& bin : found) {
      for (; name < bin.end_name; ++name)
        names.bins[t * kMaxTableBins + name] = static_cast<std::uint8_t>(bins.size());
      bins.push_back({.lower = static_cast<Word>(bin.first),
                      .frequency = 0,
                      .offset_bits = static_cast<std::uint8_t>(bin.offset_bits())});
      bin_counts.push_back(bin.count);
    }
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
    for (std::size_t b = 0; b < frequencies.size(); ++b) {
      AnsBin<Word>& bin = made.tables[t][b];
      bin.frequency = frequencies[b];
      const std::uint64_t bits = static_cast<std::uint64_t>(made.slot_bits + bin.offset_bits)
                                 << kFixedLog2Bits;
      finished.bits += counts_of_tables[t][b] * (bits - fixed_log2(bin.frequency)) +
                       (kAnsBinBits << kFixedLog2Bits);
    }
  }
  return finished;
}

template struct AnsCounts<std::uint32_t>;
template struct AnsCounts<std::uint64_t>;
template class AnsFit<std::uint32_t>;
template class AnsFit<std::uint64_t>;

}  // namespace gdelta
