#include "codec/plan/patient_choice.h"

#include <algorithm>
#include <vector>

#include "codec/coders/coder.h"
#include "codec/coders/residual_bytes.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "formats/gdelta/column_head.h"

namespace gdelta {
namespace {

using format::ColumnModel;
using format::Front;

constexpr Coder kFrameCoder = format::coder_chosen_by(format::ChosenBy::stretches);
constexpr std::uint64_t kSampleBytes = 64 << 10;
// What comes again from far away shows in a longer sample alone.
constexpr std::uint64_t kPatientSampleBytes = 256 << 10;
// Of what is to be beaten: what is worth decoding so slowly, and what a quick trial of a sample may take, which finds
// less than a patient one of all.
constexpr std::uint64_t kPercentOfOthers = 97, kPercentOnTrial = 108;
// Of short columns quick trials rank all fronts there are, and so many of the best are tried patiently; what is shorter
// by a byte is kept, as it is soon decoded.
constexpr std::size_t kMostOfShort = 3;
constexpr std::uint64_t kPercentOfShort = 100, kPercentOfShortOnTrial = 125;
constexpr std::uint8_t kMostOrder = 2;
constexpr double kShareOfSample = 0.1;

class PatientTrials {
 public:
  explicit PatientTrials(const PatientChoice& choice)
      : choice_(choice), coder_(column_coder(choice.coder)), column_(choice.column) {}

  void choose(ColumnModel& model, ColumnSection& made, Work* work) const {
    const bool asked = choice_.settings.coder == choice_.coder;
    if (coder_.for_short_columns && !asked && !is_short()) return;
    if (column_.bytes() < coder_.shortest_column && !asked) return;
    const std::uint64_t others = std::min(bytes_of_others(made), choice_.bytes_to_beat);
    const std::uint64_t percent = is_short() ? kPercentOfShort : kPercentOfOthers;
    std::uint64_t limit = asked ? ~std::uint64_t{0} : others * percent / 100;
    if (limit <= coder_.shortest) return;
    WorkPart of_sample(work, kShareOfSample), of_trials(work, 1 - kShareOfSample);
    const std::vector<ColumnModel> candidates =
        asked ? asked_candidates() : candidates_beside(model, others);
    for (const ColumnModel& candidate : candidates) {
      WorkPart of_trial(&of_trials, 1 / static_cast<double>(candidates.size()));
      ColumnSection section;
      coder_.encode({.column = column_,
                     .model = candidate,
                     .zstd_levels = {},
                     .ans_effort = {},
                     .workers = choice_.workers,
                     .work = &of_trial},
                    section.bytes, section.table);
      if (section.size() >= limit) continue;
      limit = section.size();
      model = candidate;
      made = std::move(section);
    }
  }

 private:
  /// What is known or expected of those that were tried before.
  std::uint64_t bytes_of_others(const ColumnSection& made) const {
    if (!made.bytes.empty()) return made.size();
    return std::min(choice_.by_widths.bits / 8, column_.bytes());
  }

  ColumnModel model_of(const Front& front) const {
    return {.front = front,
            .section = {.coder = choice_.coder, .part_groups = choice_.part_groups}};
  }

  /// The values as they are, or at the order that was asked for.
  ColumnModel plain_candidate() const {
    Front plain = choice_.by_widths.plain.fronts.front();
    if (!choice_.settings.order) std::fill_n(plain.orders, column_.column.tuple, std::uint8_t{0});
    return model_of(plain);
  }

  std::vector<ColumnModel> asked_candidates() const {
    std::vector<ColumnModel> candidates{plain_candidate()};
    if (!is_plain(choice_.by_widths.front)) candidates.push_back(model_of(choice_.by_widths.front));
    return candidates;
  }

  /// Those that have a chance against the best of the others. Frames that have won say that bytes repeat, so they are
  /// what a sample is held against.
  std::vector<ColumnModel> candidates_beside(const ColumnModel& best, std::uint64_t others) const {
    if (is_short()) return best_of_short(others);
    const ColumnModel plain = plain_candidate();
    std::vector<ColumnModel> candidates;
    if (best.section.coder != kFrameCoder) {
      const std::uint64_t quick_limit = share_of(sample(), others) * kPercentOnTrial / 100;
      const std::uint64_t limit = share_of(sample(kPatientSampleBytes), others);
      for (const ColumnModel& candidate : asked_candidates())
        if (sampled_bytes(candidate) <= quick_limit && patiently_sampled_bytes(candidate) <= limit)
          candidates.push_back(candidate);
      return candidates;
    }
    const ColumnModel like_frames = model_of(best.front);
    const std::uint64_t of_frames = sampled_frames(best);
    if (sampled_bytes(like_frames) <= of_frames) candidates.push_back(like_frames);
    if (!is_plain(best.front) && sampled_bytes(plain) <= of_frames) candidates.push_back(plain);
    return candidates;
  }

  bool is_short() const { return tries_everything(choice_.settings.level, column_.bytes()); }

  /// The front of the widths, and every lane at each low order behind each map, ranked by quick trials.
  std::vector<ColumnModel> best_of_short(std::uint64_t others) const {
    std::vector<ColumnModel> candidates = asked_candidates();
    for (Front front : choice_.by_widths.plain.fronts)
      for (std::uint8_t order = 0; !choice_.settings.order && order <= kMostOrder; ++order) {
        std::fill_n(front.orders, column_.column.tuple, order);
        if (!is_plain(front)) candidates.push_back(model_of(front));
      }
    struct Ranked {
      std::uint64_t bytes;
      std::size_t candidate;
      bool operator<(const Ranked& other) const {
        return bytes != other.bytes ? bytes < other.bytes : candidate < other.candidate;
      }
    };
    std::vector<Ranked> ranking;
    const std::uint64_t wanted = others * kPercentOfShortOnTrial / 100;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::vector<unsigned char> residuals = sampled(candidates[i]);
      if (coder_.least_bytes != nullptr && coder_.least_bytes(residuals) >= others) continue;
      const std::uint64_t bytes = coder_.sampled_bytes(residuals, column_.column, wanted);
      if (bytes <= wanted) ranking.push_back({bytes, i});
    }
    std::sort(ranking.begin(), ranking.end());
    std::vector<ColumnModel> best;
    for (std::size_t i = 0; i < std::min(ranking.size(), kMostOfShort); ++i)
      best.push_back(candidates[ranking[i].candidate]);
    return best;
  }

  bool is_plain(const Front& front) const {
    return front.map == ValueMap::none && front.num_strides == 0 &&
           has_orders(front, column_.column.tuple, 0);
  }

  std::uint64_t share_of(const TupleRange& range, std::uint64_t whole) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(whole) * range.count /
                                      column_.records);
  }

  /// Tuples from the middle.
  TupleRange sample(std::uint64_t bytes = kSampleBytes) const {
    const std::uint64_t tuples =
        std::max<std::uint64_t>(bytes / format::tuple_bytes(column_.column), 1);
    const std::uint64_t count = std::min(column_.records, tuples);
    return {(column_.records - count) / 2, count};
  }

  std::vector<unsigned char> sampled(const ColumnModel& model) const {
    const TupleRange middle = sample();
    return residual_bytes({column_, model.front}, std::span(&middle, 1), model, choice_.workers);
  }

  std::uint64_t sampled_bytes(const ColumnModel& candidate) const {
    return coder_.sampled_bytes(sampled(candidate), column_.column, ~std::uint64_t{0});
  }

  /// As the encoder would make a column of the sample alone, which knows nothing of what is before it.
  std::uint64_t patiently_sampled_bytes(ColumnModel model) const {
    const TupleRange range = sample(kPatientSampleBytes);
    ColumnBytes middle = column_;
    middle.first = column_.at(range.first, 0);
    middle.records = range.count;
    model.section.part_groups = 0;
    ColumnSection section;
    coder_.encode({.column = middle,
                   .model = model,
                   .zstd_levels = {},
                   .ans_effort = {},
                   .workers = choice_.workers},
                  section.bytes, section.table);
    return section.bytes.size();
  }

  std::uint64_t sampled_frames(const ColumnModel& model) const {
    std::vector<std::byte> frames;
    encode_frames(sampled(model), frame_bytes(model, column_.column, sample().count),
                  level_policy(choice_.settings.level).zstd.quick, choice_.workers, frames);
    return frames.size();
  }

  const PatientChoice& choice_;
  const ColumnCoder& coder_;
  const ColumnBytes& column_;
};

}  // namespace

void try_patiently(const PatientChoice& choice, ColumnModel& model, ColumnSection& made,
                   Work* work) {
  PatientTrials(choice).choose(model, made, work);
}

}  // namespace gdelta
