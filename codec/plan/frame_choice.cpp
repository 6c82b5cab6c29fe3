#include "codec/plan/frame_choice.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "codec/coders/coder.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/repetition.h"
#include "codec/plan/stride_choice.h"
#include "formats/gdelta/column_head.h"

namespace gdelta {
namespace {

using format::Arrangement;
using format::ColumnModel;
using format::Front;

constexpr Coder kFrameCoder = format::coder_chosen_by(format::ChosenBy::stretches);
constexpr std::uint64_t kShortestPlaneFrame = 4096;
constexpr std::uint8_t kMaxPlaneOrder = 3;
// Behind every front frames are tried with all lanes at each order up to this.
constexpr std::uint8_t kLastOrderOfAllLanes = 1;
constexpr int kPercentOfBytes =
    98;  // of others, if there are no numbers: zstd is what one expects then
constexpr std::uint64_t kMatchBits = 32;  // about what a frame spends on a sequence that repeats
constexpr std::uint64_t kShortestMatch = 2;
// Shorter sequences behind strides are mostly of small residuals, which symbols take as well.
constexpr std::uint64_t kShortestStridedMatch = 8;
// About what it takes to see whether frames are worth trials, and to make those of stretches; the rest is
// one of the whole column.
constexpr double kShareOfLook = 0.2, kShareOfStretches = 0.2;
// About what finding the orders of planes takes of all the trials, and what the quick ones take.
constexpr double kShareOfOrders = 0.2, kShareOfQuickTrials = 0.2;
// Of first trials, what those of strides that lower levels find take.
constexpr double kShareOfLower = 0.3;
// Stretches err by less than this part of two arrangements, or of more strides and fewer.
constexpr std::uint64_t kCloseKindShare = 8;
constexpr std::uint64_t kHopelessShare = 2;  // levels that count do not make frames so much shorter
// Of what is expected of the others: they seldom take so much less than that.
constexpr std::uint64_t kClearPercent = 60;

}  // namespace

/// The trials of one column.
class FrameTrials {
 public:
  FrameTrials(const FrameChoice& choice, const WidthPlan& by_widths)
      : choice_(choice),
        by_widths_(by_widths),
        column_(choice.column_),
        settings_(choice.settings_),
        policy_(choice.policy_),
        workers_(choice.workers_),
        ranges_(trial_ranges()) {}

  bool choose_if_clear(const FrameChoice::ExpectedBytes& expected_bytes, ColumnModel& model,
                       ColumnSection& made, Work* work) {
    WorkPart of_look(work, kShareOfLook), of_trials(work, 1 - kShareOfLook);
    // No limit that `choose` may find is higher.
    const std::uint64_t packed = packed_ranges(of_look);
    const std::uint64_t highest = limit_against(packed, packed);
    if (!seems_to_repeat(highest, of_look)) {
      std::erase_if(*looks_, [](const Look& at) { return !at.known.empty(); });
      return false;
    }
    const std::uint64_t expected = share_of(ranges_, packed, expected_bytes());
    const std::uint64_t limit = std::min(highest, expected * kClearPercent / 100);
    if (limit <= kShortestFrame || !seems_to_repeat(limit, of_look)) return false;
    quick_ = rank_all(policy_.quick, highest, of_trials, 1 - kShareOfOrders);
    const Ranked& best = quick_->ranking.front();
    if (best.bytes >= limit) return false;
    const ColumnModel& frames = best_of_close(*quick_, of_trials);
    ColumnSection section = std::move(quick_->frames);
    if (section.bytes.empty() && choice_.bytes_to_beat_ != kNothingToBeat) {
      section = try_whole(frames, &of_trials);
      if (section.size() >= choice_.bytes_to_beat_) return false;
    }
    model = frames;
    made = std::move(section);
    return true;
  }

  void choose(ColumnModel& model, ColumnSection& made, Work* work) {
    const double of_all_trials = is_whole(ranges_) ? 1 - kShareOfLook : kShareOfStretches;
    WorkPart of_look(work, kShareOfLook);
    WorkPart of_trials(work, of_all_trials), of_column(work, 1 - kShareOfLook - of_all_trials);
    const std::uint64_t packed = packed_ranges(of_look);
    const std::uint64_t limit = limit_against(bytes_of_others(ranges_, packed, made), packed);
    if (limit <= kShortestFrame) return;
    const bool whole = tries_everything(settings_.level, column_.bytes());
    if (is_made(made) && !whole && !settings_.plain_bytes && !seems_to_repeat(limit, of_look) &&
        !planes_are_short(limit, of_look))
      return;
    looks_.reset();  // of high levels they hold the whole column
    const ZstdLevels first_levels = whole ? policy_.levels : policy_.quick;
    const double share_of_first = whole ? 1 - kShareOfOrders : kShareOfQuickTrials;
    Trials trials =
        quick_ ? std::move(*quick_)
               : rank_all(first_levels, limit, of_trials, share_of_first * (1 - kShareOfLower));
    if (policy_.every_front && !is_hopeless(trials.ranking.front().bytes, limit))
      add_fronts_of_lower_levels(first_levels, limit, trials, of_trials,
                                 share_of_first * kShareOfLower);
    // The quick trial ranks, and its sizes are upper bounds. Only if it leaves doubt, those at the top
    // are tried at the levels that count.
    std::vector<Ranked>& ranking = trials.ranking;
    const std::uint64_t least = ranking.front().bytes;
    if (is_whole(ranges_) && is_hopeless(least, choice_.bytes_to_beat_)) return;
    const std::uint64_t close_to_limit = limit + limit / policy_.close_share;
    const bool learns =
        least >= close_to_limit && is_made(made) && is_less_of_all(trials, made, of_trials);
    if (is_made(made) && !whole && least >= close_to_limit && !learns) return;
    const std::uint64_t close = least + least / policy_.doubt_share;
    const auto doubtful = [&](const Ranked& ranked) { return ranked.bytes <= close; };
    const auto finalists =
        static_cast<std::size_t>(std::count_if(ranking.begin(), ranking.end(), doubtful));
    if (policy_.most_finalists > 0 && !whole && (finalists > 1 || least >= limit)) {
      ranking.resize(std::min(finalists, policy_.most_finalists));
      rank(policy_.levels, limit, trials, of_trials, 1 - kShareOfOrders - kShareOfQuickTrials);
    }
    const ColumnModel& best = best_of_close(trials, of_trials);
    if (!is_whole(ranges_) && is_made(made) && (learns || ranking.front().bytes < close_to_limit)) {
      // Stretches say little about long frames: the whole column decides between two that are close.
      trials.frames = try_whole(best, &of_column);
      if (trials.frames.size() >= choice_.bytes_to_beat_) return;
      if (!made.bytes.empty() && trials.frames.size() >= choice_.limit(made.size())) return;
    } else if (ranking.front().bytes >= limit) {
      return;
    } else if (trials.frames.bytes.empty() && choice_.bytes_to_beat_ != kNothingToBeat) {
      trials.frames = try_whole(best, &of_column);
      if (trials.frames.size() >= choice_.bytes_to_beat_) return;
    }
    model = best;
    made = std::move(trials.frames);
  }

 private:
  static bool is_hopeless(std::uint64_t least, std::uint64_t limit) {
    return least - least / (kHopelessShare + 1) > limit;
  }

  // Stretches of whole groups, spread evenly; all of a short column.
  std::vector<TupleRange> trial_ranges() const {
    const std::uint64_t records = column_.records;
    const std::uint64_t tuple_bytes = column_.column.bytes();
    const std::uint64_t stretches = policy_.stretches;
    constexpr std::uint64_t kGroup = format::kGroupValues;
    const std::uint64_t length =
        std::max<std::uint64_t>(policy_.stretch_bytes / tuple_bytes / kGroup, 1) * kGroup;
    if (stretches == 0 || records <= stretches * length) return {{0, records}};
    std::vector<TupleRange> ranges;
    for (std::uint64_t k = 0; k < stretches; ++k)
      ranges.push_back({k * (records - length) / (stretches - 1) / kGroup * kGroup, length});
    return ranges;
  }

  static std::uint64_t tuples_of(std::span<const TupleRange> ranges) {
    std::uint64_t tuples = 0;
    for (const TupleRange& range : ranges) tuples += range.count;
    return tuples;
  }

  bool is_whole(std::span<const TupleRange> ranges) const {
    return ranges.size() == 1 && ranges[0].count == column_.records;
  }

  // Planes have little in common, so each gets a frame of its own, unless they are too short to pay
  // for that.
  Arrangement best_planes() const {
    return column_.records >= kShortestPlaneFrame ||
                   tries_everything(settings_.level, column_.bytes())
               ? Arrangement::plane_frames
               : Arrangement::planes;
  }

  // The section of a model, or of these ranges alone. For all of the column, at the encoder's levels,
  // it is what the encoder makes.
  ColumnSection try_frames(const ColumnBytes& column, const ColumnModel& model,
                           std::span<const TupleRange> ranges, ZstdLevels levels,
                           Work* work = nullptr) const {
    ColumnSection section;
    if (is_whole(ranges)) {
      column_coder(kFrameCoder)
          .encode({.column = column,
                   .model = model,
                   .zstd_levels = levels,
                   .ans_effort = {},
                   .workers = workers_,
                   .work = work},
                  section.bytes, section.table);
    } else {
      encode_frames(residual_bytes({column, model.front}, ranges, model, workers_),
                    frame_bytes(model, column.column, tuples_of(ranges)), levels, workers_,
                    section.bytes, work);
    }
    return section;
  }

  // That the encoder would make.
  ColumnSection try_whole(const ColumnModel& model, Work* work) const {
    const TupleRange all{0, column_.records};
    return try_frames(column_, model, {&all, 1}, policy_.levels, work);
  }

  std::uint64_t packed_bytes(const Front& front, std::span<const TupleRange> ranges,
                             Work* work) const {
    const ResidualSource source(column_, front);
    std::uint64_t bits = 0;
    for (const TupleRange& range : ranges) {
      WorkPart of_range(work, 1 / static_cast<double>(ranges.size()));
      bits += packed_bits(source, front.orders, range.first, range.count, workers_, &of_range);
    }
    return bits / 8;
  }

  // As planes the lanes are coded apart, so each can be given the order that it likes best: a low one,
  // or that of pack.
  void choose_plane_orders(ColumnModel& model, std::span<const TupleRange> ranges, Work& work,
                           double share) const {
    struct Trial {
      int lane;
      std::uint8_t order;
      std::uint64_t bytes;
    };
    std::vector<Trial> trials;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      for (std::uint8_t order = 0; order <= kMaxPlaneOrder; ++order)
        trials.push_back({lane, order, 0});
      if (model.front.orders[lane] > kMaxPlaneOrder)
        trials.push_back({lane, model.front.orders[lane], 0});
    }
    workers_.for_each(trials.size(), [&](std::size_t i) {
      WorkPart of_trial(&work, share / static_cast<double>(trials.size()));
      Trial& trial = trials[i];
      ColumnBytes lane_bytes = column_;
      lane_bytes.column.tuple = 1;
      lane_bytes.first = column_.at(0, trial.lane);
      ColumnModel lane_model = model;
      lane_model.front.orders[0] = trial.order;
      trial.bytes =
          try_frames(lane_bytes, lane_model, ranges, policy_.quick, &of_trial).bytes.size();
    });
    std::uint64_t least[kMaxTuple];
    std::fill_n(least, column_.column.tuple, ~std::uint64_t{0});
    for (const Trial& trial : trials) {
      if (trial.bytes >= least[trial.lane]) continue;
      least[trial.lane] = trial.bytes;
      model.front.orders[trial.lane] = trial.order;
    }
  }

  // Maps and strides that zstd may like: those of pack, if there is time its first stride alone, which breaks fewer sequences that
  // repeat, and none with each map.
  std::vector<Front> all_fronts() const {
    const Front& packed = by_widths_.front;
    std::vector<Front> fronts{packed};
    if (policy_.every_front && packed.num_strides > 1) {
      fronts.push_back(packed);
      fronts.back().num_strides = 1;
    }
    for (const Front& plain : by_widths_.plain.fronts) {
      if (settings_.order || (plain.map != ValueMap::none && !policy_.every_front)) continue;
      if (packed.map == plain.map && packed.num_strides == 0) continue;
      fronts.push_back(plain);
    }
    return fronts;
  }

  // Each front with the orders that suit a coder, those of planes found out for each lane if `chooses_planes`.
  std::vector<ColumnModel> candidates_of(std::span<const Front> fronts, bool chooses_planes,
                                         std::span<const TupleRange> ranges, Work& work) const {
    const bool every_front = policy_.every_front;
    std::vector<ColumnModel> candidates;
    const auto add = [&](ColumnModel model, bool planes) {
      model.section.arrangement = planes ? best_planes() : Arrangement::values;
      candidates.push_back(model);
      if (!policy_.both_plane_frames || model.section.arrangement != Arrangement::plane_frames)
        return;
      candidates.back().section.arrangement = Arrangement::planes;
      candidates.push_back(model);
    };
    // Bytes have one plane.
    const bool planes_differ = column_.column.bytes() > 1;
    for (const Front& front : fronts) {
      ColumnModel model{.front = front,
                        .section = {.coder = kFrameCoder,
                                    .arrangement = best_planes(),
                                    .part_groups = choice_.part_groups()}};
      const bool tries_orders =
          settings_.order || !settings_.plain_bytes || policy_.percent_of_pack > 0;
      if (tries_orders) add(model, false);
      if (!chooses_planes || settings_.order) {
        if (planes_differ) add(model, true);
      } else {
        ColumnModel planes = model;
        choose_plane_orders(planes, ranges, work,
                            kShareOfOrders / static_cast<double>(fronts.size()));
        add(planes, true);
      }
      if (settings_.order) continue;
      const std::uint8_t last_order = every_front ? kLastOrderOfAllLanes : 0;
      for (std::uint8_t order = 0; order <= last_order; ++order) {
        if (tries_orders && has_orders(front, column_.column.tuple, order)) continue;
        std::fill_n(model.front.orders, column_.column.tuple, order);
        add(model, false);
        if (!every_front && planes_differ) add(model, true);
      }
    }
    return candidates;
  }

  struct Ranked {
    std::uint64_t bytes;
    std::size_t candidate;
    bool operator<(const Ranked& other) const {
      return bytes != other.bytes ? bytes < other.bytes : candidate < other.candidate;
    }
  };

  struct Trials {
    std::vector<ColumnModel> candidates;
    std::vector<Ranked> ranking;
    ColumnSection frames;  // of the first, if that is what the encoder would make
  };

  // Compresses the ranked candidates anew and sorts them by what comes out. `frames` become the section
  // of the first, if that is what the encoder would make and has less than `limit` bytes.
  void rank(ZstdLevels levels, std::uint64_t limit, Trials& trials, Work& work,
            double share) const {
    std::vector<Ranked>& ranking = trials.ranking;
    const bool as_the_encoder = levels == policy_.levels && is_whole(ranges_);
    std::mutex mutex;
    Ranked first{limit, 0};
    workers_.for_each(ranking.size(), [&](std::size_t i) {
      Ranked& ranked = ranking[i];
      WorkPart of_trial(&work, share / static_cast<double>(ranking.size()));
      ColumnSection section =
          try_frames(column_, trials.candidates[ranked.candidate], ranges_, levels, &of_trial);
      ranked.bytes = section.bytes.size();
      if (!as_the_encoder) return;
      const std::lock_guard lock(mutex);
      if (ranked.bytes >= limit || (!trials.frames.bytes.empty() && first < ranked)) return;
      first = ranked;
      trials.frames = std::move(section);
    });
    std::sort(ranking.begin(), ranking.end());
  }

  Trials rank_all(ZstdLevels levels, std::uint64_t limit, Work& work, double share) const {
    Trials trials{.candidates = candidates_of(all_fronts(), policy_.every_front, ranges_, work),
                  .ranking = {},
                  .frames = {}};
    for (std::size_t c = 0; c < trials.candidates.size(); ++c) trials.ranking.push_back({0, c});
    rank(levels, limit, trials, work, share);
    return trials;
  }

  // Strides that lower levels find may suit frames better than those of this one, which suit pack.
  void add_fronts_of_lower_levels(ZstdLevels levels, std::uint64_t limit, Trials& trials,
                                  Work& work, double share) const {
    const std::vector<Front> fronts =
        strided_fronts_of_lower_levels(column_, settings_, workers_, by_widths_.front);
    if (fronts.empty()) return;
    Trials others{
        .candidates = candidates_of(fronts, false, ranges_, work), .ranking = {}, .frames = {}};
    for (std::size_t c = 0; c < others.candidates.size(); ++c) others.ranking.push_back({0, c});
    rank(levels, limit, others, work, share);
    if (!others.frames.bytes.empty() && others.ranking.front().bytes < trials.ranking.front().bytes)
      trials.frames = std::move(others.frames);
    for (Ranked& ranked : others.ranking) ranked.candidate += trials.candidates.size();
    trials.candidates.insert(trials.candidates.end(), others.candidates.begin(),
                             others.candidates.end());
    trials.ranking.insert(trials.ranking.end(), others.ranking.begin(), others.ranking.end());
    std::sort(trials.ranking.begin(), trials.ranking.end());
  }

  // Of the best and of those otherwise arranged, or with more strides or fewer, that take little more: the one by which all of
  // the column takes least, quickly tried. What comes again from far away does not show in stretches.
  const ColumnModel& best_of_close(const Trials& trials, Work& work) const {
    std::vector<Ranked> close;
    const auto model = [&](const Ranked& ranked) -> const ColumnModel& {
      return trials.candidates[ranked.candidate];
    };
    const std::uint64_t least = trials.ranking.front().bytes;
    for (const Ranked& ranked : trials.ranking) {
      if (ranked.bytes > least + least / kCloseKindShare) break;
      const auto is_alike = [&](const Ranked& other) {
        return model(other).section.arrangement == model(ranked).section.arrangement &&
               model(other).front.num_strides == model(ranked).front.num_strides;
      };
      if (std::none_of(close.begin(), close.end(), is_alike)) close.push_back(ranked);
    }
    if (is_whole(ranges_) || close.size() == 1) return model(close.front());
    const TupleRange all{0, column_.records};
    workers_.for_each(close.size(), [&](std::size_t i) {
      WorkPart of_trial(&work, kShareOfQuickTrials / static_cast<double>(close.size()));
      close[i].bytes =
          try_frames(column_, model(close[i]), {&all, 1}, policy_.quick, &of_trial).bytes.size();
    });
    return model(*std::min_element(close.begin(), close.end()));
  }

  // Whether all of the column may take less than the others, even if stretches do not: if the last of them takes little behind
  // the others, what comes behind that may take as little.
  bool is_less_of_all(const Trials& trials, const ColumnSection& made, Work& work) const {
    if (ranges_.size() < 2) return false;
    WorkPart of_trial(&work, kShareOfQuickTrials);
    const Ranked& best = trials.ranking.front();
    const std::span before(ranges_.data(), ranges_.size() - 1);
    const std::uint64_t bytes_before =
        try_frames(column_, trials.candidates[best.candidate], before, policy_.quick, &of_trial)
            .bytes.size();
    const std::uint64_t of_last = best.bytes - std::min(best.bytes, bytes_before);
    const std::uint64_t left = column_.records - tuples_of(ranges_);
    const std::uint64_t expected = best.bytes + of_last * left / ranges_.back().count;
    return expected < choice_.bytes_to_beat_ &&
           (made.bytes.empty() || expected < choice_.limit(made.size()));
  }

  // Whether something without frames is known, and not only expected of pack.
  bool is_made(const ColumnSection& made) const {
    return !made.bytes.empty() || choice_.bytes_to_beat_ != kNothingToBeat;
  }

  // What pack would take for the ranges.
  std::uint64_t packed_ranges(Work& look) {
    if (!packed_) {
      WorkPart of_packing(&look, 0.2);
      packed_ = packed_bytes(by_widths_.front, ranges_, &of_packing);
    }
    return *packed_;
  }

  // For the ranges, if the best of the others takes so many bytes for them, and pack so many.
  std::uint64_t limit_against(std::uint64_t others, std::uint64_t packed) const {
    return std::min(choice_.limit(others), bytes_to_beat(ranges_, packed));
  }

  // What the best of the others takes for these ranges: of one that has been made, its share of what
  // pack would take.
  std::uint64_t bytes_of_others(std::span<const TupleRange> ranges, std::uint64_t packed,
                                const ColumnSection& made) const {
    return made.bytes.empty() ? packed : std::min(packed, share_of(ranges, packed, made.size()));
  }

  std::uint64_t bytes_to_beat(std::span<const TupleRange> ranges, std::uint64_t packed) const {
    const std::uint64_t whole = choice_.bytes_to_beat_;
    if (whole == kNothingToBeat) return whole;
    return share_of(ranges, packed, whole);
  }

  // Of a section of the whole column, if pack takes so many bytes for the ranges.
  std::uint64_t share_of(std::span<const TupleRange> ranges, std::uint64_t packed,
                         std::uint64_t whole) const {
    if (is_whole(ranges)) return whole;
    const std::uint64_t all = std::max<std::uint64_t>(by_widths_.bits / 8, 1);
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(packed) * whole / all);
  }

  // Residuals of the ranges, or the bytes of them, and which sequences enough of them lie in.
  struct Look {
    const Front* front;
    int value_bytes;
    std::vector<unsigned char> residuals = {};
    struct Known {
      Repetition looked_for;
      bool enough_repeat;
    };
    std::vector<Known> known = {};
  };

  // Residuals without strides; with those that there are; bytes, where no differences are taken: what repeats, such as text or
  // instructions, may begin at any of them.
  std::vector<Look> all_looks() const {
    const Front& plain = by_widths_.plain.best_front();
    const int bytes = value_bytes(column_.column.type);
    std::vector<Look> looks{{.front = &plain, .value_bytes = bytes}};
    if (by_widths_.front.num_strides > 0)
      looks.push_back({.front = &by_widths_.front, .value_bytes = bytes});
    if (bytes > 1 && has_orders(plain, column_.column.tuple, 0))
      looks.push_back({.front = &plain, .value_bytes = 1});
    return looks;
  }

  bool enough_repeat(Look& at, const Repetition& looked_for, Work& look) const {
    const auto known =
        std::find_if(at.known.begin(), at.known.end(), [&](const Look::Known& other) {
          return other.looked_for.skipped_bits == looked_for.skipped_bits &&
                 other.looked_for.length == looked_for.length;
        });
    if (known != at.known.end()) return known->enough_repeat;
    WorkPart of_bytes(&look, 0.05), of_values(&look, 0.1);
    if (at.residuals.empty()) {
      const ColumnModel model{.front = *at.front, .section = {.coder = kFrameCoder}};
      at.residuals =
          residual_bytes(ResidualSource(column_, model.front), ranges_, model, workers_, &of_bytes);
    }
    const std::uint64_t values = at.residuals.size() / static_cast<std::uint64_t>(at.value_bytes);
    const bool enough = repeats(at.residuals, at.value_bytes, looked_for,
                                values / policy_.repeated_share, &of_values);
    at.known.push_back({looked_for, enough});
    return enough;
  }

  // Whether sequences repeat, or the upper halves of their values, that are long enough for a frame to take fewer bits than
  // `limit` bytes for all do. What does not repeat, symbols and offsets take as well.
  bool seems_to_repeat(Look& at, std::uint64_t limit, Work& look) const {
    const std::uint64_t bytes = tuples_of(ranges_) * column_.column.bytes();
    const std::uint64_t values = bytes / static_cast<std::uint64_t>(at.value_bytes);
    // The lowest bit of a half is that of a sign.
    for (const int skipped : {0, value_bits(column_.column.type) / 2 + 1}) {
      const std::uint64_t others = static_cast<std::uint64_t>(skipped) * values;
      if (8 * limit <= others || skipped >= 8 * at.value_bytes) break;
      const std::uint64_t length = std::clamp(kMatchBits * values / (8 * limit - others),
                                              kShortestMatch, kLongestRepetition);
      if (at.front->num_strides > 0 && length < kShortestStridedMatch) break;
      if (enough_repeat(at, {skipped, length}, look)) return true;
    }
    return false;
  }

  bool seems_to_repeat(std::uint64_t limit, Work& look) {
    if (!looks_) looks_ = all_looks();
    return std::any_of(looks_->begin(), looks_->end(),
                       [&](Look& at) { return seems_to_repeat(at, limit, look); });
  }

  // Whether frames of planes may win without repetition: where the upper bytes of residuals say something
  // of those that follow, or where those of low orders are of few kinds, however large they are.
  bool planes_are_short(std::uint64_t limit, Work& look) const {
    WorkPart of_planes(&look, 0.3);
    if (!policy_.every_front) return false;
    ColumnModel planes{.front = by_widths_.front,
                       .section = {.coder = kFrameCoder,
                                   .arrangement = best_planes(),
                                   .part_groups = choice_.part_groups()}};
    const auto are_short = [&] {
      return try_frames(column_, planes, ranges_, policy_.quick, &of_planes).bytes.size() <= limit;
    };
    if (are_short()) return true;
    // Where stretches speak for the column it would take long beside all else.
    if (settings_.order || !is_whole(ranges_)) return false;
    planes.front = by_widths_.plain.best_front();
    for (std::uint8_t order = 0; order <= kLastOrderOfAllLanes; ++order) {
      std::fill_n(planes.front.orders, column_.column.tuple, order);
      if (are_short()) return true;
    }
    return false;
  }

  const FrameChoice& choice_;
  const WidthPlan& by_widths_;
  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const ZstdPolicy& policy_;
  Workers& workers_;
  std::vector<TupleRange> ranges_;
  std::optional<std::vector<Look>> looks_;
  std::optional<std::uint64_t> packed_;
  std::optional<Trials> quick_;
};

FrameChoice::FrameChoice(const ColumnBytes& column, const EncodeSettings& settings,
                         Workers& workers, std::uint64_t bytes_to_beat)
    : column_(column),
      settings_(settings),
      policy_(level_policy(settings.level).zstd),
      workers_(workers),
      bytes_to_beat_(bytes_to_beat) {}

FrameChoice::~FrameChoice() = default;

bool tries_zstd(std::optional<Coder> asked, int level, bool device_decodable, bool plain_bytes) {
  if (asked) return *asked == kFrameCoder;
  return !device_decodable && (plain_bytes || level_policy(level).zstd.percent_of_pack > 0);
}

bool FrameChoice::are_tried() const {
  return tries_zstd(settings_.coder, settings_.level, settings_.device_decodable,
                    settings_.plain_bytes);
}

std::uint32_t FrameChoice::part_groups() const {
  const std::uint64_t tuple_bytes = format::tuple_bytes(column_.column);
  const std::uint64_t longest = policy_.frame_bytes;
  if (column_.records * tuple_bytes <= longest) return 0;
  const std::uint64_t groups =
      std::max<std::uint64_t>(longest / tuple_bytes / format::kGroupValues, 1);
  return groups * format::kGroupValues < column_.records ? static_cast<std::uint32_t>(groups) : 0;
}

std::uint64_t FrameChoice::limit(std::uint64_t bytes_of_others) const {
  if (settings_.coder == kFrameCoder) return ~std::uint64_t{0};
  const int percent =
      std::max(policy_.percent_of_pack, settings_.plain_bytes ? kPercentOfBytes : 0);
  return bytes_of_others * static_cast<std::uint64_t>(percent) / 100;
}

FrameTrials& FrameChoice::trials(const WidthPlan& by_widths) {
  if (!trials_) trials_ = std::make_unique<FrameTrials>(*this, by_widths);
  return *trials_;
}

bool FrameChoice::choose_if_clear(const WidthPlan& by_widths, const ExpectedBytes& expected_bytes,
                                  format::ColumnModel& model, ColumnSection& made, Work* work) {
  return policy_.most_finalists == 0 && !settings_.plain_bytes &&
         trials(by_widths).choose_if_clear(expected_bytes, model, made, work);
}

void FrameChoice::choose(const WidthPlan& by_widths, format::ColumnModel& model,
                         ColumnSection& made, Work* work) {
  trials(by_widths).choose(model, made, work);
}

}  // namespace gdelta
