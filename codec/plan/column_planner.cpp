#include "codec/plan/column_planner.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "codec/coders/coder.h"
#include "codec/coders/default_pages.h"
#include "codec/coders/linear_front.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/frame_choice.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/linear_choice.h"
#include "codec/plan/noise.h"
#include "codec/plan/patient_choice.h"
#include "codec/plan/stride_choice.h"
#include "codec/plan/symbol_orders.h"
#include "codec/plan/tried_coders.h"
#include "formats/gdelta/column_head.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

using format::ChosenBy;
using format::ColumnModel;
using format::Front;

constexpr Coder kWidthCoder = format::coder_chosen_by(ChosenBy::widths);
// About what orders and strides take of all the work on a column, trials of coders, linear prediction, and
// trials of frames.
constexpr double kShareOfOrders = 0.05, kShareOfStrides = 0.05;
constexpr double kShareOfCoders = 0.2, kShareOfLinear = 0.2, kShareOfMakingAnew = 0.1;
constexpr double kShareOfFirstFrames = 0.1, kShareOfFrames = 0.2, kShareOfPatience = 0.1;
// Orders of symbols that so many groups tell are tried, too, where a level looks at more of them.
constexpr std::uint64_t kFewGroups = 96;
constexpr std::uint64_t kFewestLinearTuples = 1024;
constexpr std::uint64_t kLinearGainShare = 50;
// A sample errs by less than this part of what it says; of two fronts by less, as it errs alike.
constexpr std::uint64_t kDoubtShare = 16, kFrontDoubtShare = 64;
// All residuals of an order above the low ones tell what it takes but for so small a part.
constexpr int kMostLowOrder = 2;
constexpr std::uint64_t kHighOrderDoubtShare = 8;
// Quick trials err by less than this part of a section.
constexpr std::uint64_t kTrialDoubtShare = 64;

class ColumnPlanner {
 public:
  /// Sections of `bytes_to_beat` or more are not wanted.
  ColumnPlanner(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                Work* work, std::uint64_t bytes_to_beat, std::optional<PlainFronts> plain)
      : column_(column),
        settings_(settings),
        policy_(level_policy(settings.level)),
        workers_(workers),
        work_(work),
        bytes_to_beat_(bytes_to_beat),
        on_trial_(tried(ChosenBy::trial)),
        plain_(std::move(plain)),
        frames_(column, settings, workers, bytes_to_beat) {}

  /// `made` becomes the section, if a trial has made it.
  ColumnModel plan(ColumnSection& made) {
    ColumnModel model;
    model.section.part_groups = default_page_groups(column_.column.tuple);
    if (settings_.coder && !format::codes_residuals(*settings_.coder)) {
      model.section.coder = *settings_.coder;
      return model;
    }
    if (stays_raw()) return model;
    model.section.coder = kWidthCoder;
    model.front = choose_map_and_orders();
    bits_without_strides_ = by_widths_.bits;
    if (may_be_worth_strides()) add_strides(model.front);
    by_widths_.front = model.front;
    const ColumnModel packed = model;
    if (frames_win_clearly(packed, model, made)) return model;
    quick_trials_ = policy_.ans.counts_several && !policy_.tries_all_of_short &&
                    (linear_is_tried() || packed.front.num_strides > 0);
    if (!is_noise(packed.front)) {
      try_other_coders(packed, model, made);
      if (linear_is_tried()) try_linear(packed, model, made);
    }
    if (quick_trials_ && !made.bytes.empty()) make_anew(model, made);
    if (frames_.are_tried()) {
      WorkPart of_frames(work_, kShareOfFrames);
      frames_.choose(by_widths_, model, made, &of_frames);
    }
    for (const Coder coder : tried(ChosenBy::patience)) {
      WorkPart of_coder(work_, kShareOfPatience);
      try_patiently({.coder = coder,
                     .column = column_,
                     .settings = settings_,
                     .by_widths = by_widths_,
                     .part_groups = frames_.part_groups(),
                     .bytes_to_beat = bytes_to_beat_,
                     .workers = workers_},
                    model, made, &of_coder);
    }
    // No order helps, and zstd was not asked or did not: spare the work of finding out by encoding.
    if (!settings_.coder && model.section.coder == kWidthCoder && made.bytes.empty() &&
        !looks_worth_packing(by_widths_.bits, column_.column.tuple, column_.bytes()))
      model.section.coder = format::coder_chosen_by(ChosenBy::no_gain);
    return model;
  }

 private:
  // Whether the column is so short that looking at its values is in vain: descriptors alone are as
  // long as it, and no frame is short enough even if pack makes an exception of every value.
  bool stays_raw() const {
    if (settings_.coder || settings_.order || others_are_tried()) return false;
    const int lanes = column_.column.tuple;
    const std::uint64_t descriptor_bits = static_cast<std::uint64_t>(lanes) * kDescriptorBits;
    if (looks_worth_packing(descriptor_bits, lanes, column_.bytes())) return false;
    const auto values = static_cast<int>(column_.records) * lanes;
    const int high_bytes = high_bytes_of(value_bits(column_.column.type));
    const auto exceptions = static_cast<std::uint64_t>(exception_bits(values, high_bytes));
    return !frames_.are_tried() ||
           frames_.limit((descriptor_bits + exceptions) / 8) <= kShortestFrame;
  }

  // Whether all other coders of residuals would be tried in vain, too.
  bool is_noise(const Front& front) const {
    return !on_trial_.empty() && !settings_.coder && column_.bytes() > kShortColumn &&
           front.num_strides == 0 &&
           !looks_worth_packing(by_widths_.bits, column_.column.tuple, column_.bytes()) &&
           looks_like_noise(column_);
  }

  // A stride halves a column, now and then, but hardly does more.
  bool may_be_worth_strides() const {
    return column_.bytes() <= kShortColumn || by_widths_.bits / 8 / 2 <= bytes_to_beat_;
  }

  std::vector<Coder> tried(ChosenBy reason) const {
    return tried_coders(reason, settings_.coder, settings_.level, settings_.device_decodable);
  }

  ResidualSource source_of(const Front& front) const { return {column_, front}; }

  OrderEffort effort() const { return {policy_.orders.highest, policy_.orders.groups}; }

  // Chooses map and orders without strides.
  Front choose_map_and_orders() {
    WorkPart of_orders(work_, kShareOfOrders);
    by_widths_.plain =
        plain_ ? *std::move(plain_) : choose_plain_fronts(column_, settings_, workers_, &of_orders);
    by_widths_.bits = by_widths_.plain.bits;
    return by_widths_.plain.best_front();
  }

  void add_strides(Front& front) {
    WorkPart of_strides(work_, kShareOfStrides);
    StridedFront chosen{front, by_widths_.bits};
    choose_strides(column_, settings_, workers_, chosen, &of_strides);
    front = chosen.front;
    by_widths_.bits = chosen.bits;
  }

  // ---- Trials of coders

  bool others_are_tried() const {
    return std::any_of(on_trial_.begin(), on_trial_.end(),
                       [&](Coder coder) { return column_coder(coder).shortest < column_.bytes(); });
  }

  struct Candidate {
    ColumnModel model;
    std::uint64_t bits = 0;  // about what its symbols take, by a sample; 0 if that is not known
  };

  struct Section {
    ColumnModel model;
    ColumnSection section;
  };

  // By so many groups. Sizes of groups and of symbols hardly differ by more than an order.
  LaneOrders best_symbol_orders(const Front& packed, std::uint64_t groups, Work* work) const {
    std::uint8_t highest[kMaxTuple];
    for (int lane = 0; lane < column_.column.tuple; ++lane)
      highest[lane] =
          static_cast<std::uint8_t>(std::min(packed.orders[lane] + 1, effort().max_order));
    const ByteSymbols bytes =
        settings_.level > kDeviceLevel ? ByteSymbols::one_by_one : ByteSymbols::classes;
    return choose_symbol_orders(source_of(packed), settings_.order, highest, groups, bytes,
                                workers_, work);
  }

  // The front that suits pack, with the orders that suit the coder.
  Candidate candidate_of(Coder coder, const ColumnModel& packed, Work* work) const {
    Candidate made{.model = packed};
    ColumnModel& candidate = made.model;
    candidate.section.coder = coder;
    const ColumnCoder& with = column_coder(coder);
    if (format::coder_traits(coder).parts != format::PartRule::pages) {
      candidate.section.part_groups = frames_.part_groups();
    } else if (with.page_groups != nullptr) {
      candidate.section.part_groups =
          with.page_groups(column_.column, column_.records, policy_.ans);
    }
    if (with.order_cost == OrderCost::symbols) {
      const LaneOrders lanes = best_symbol_orders(packed.front, effort().column_groups, work);
      std::copy_n(lanes.orders, column_.column.tuple, candidate.front.orders);
      made.bits = lanes.bits;
    }
    return made;
  }

  // The same with the orders that a sample as small as that of lower levels tells, if they are others: tables follow what changes
  // along a column, which counts of all that was sampled do not tell, so more of them may tell less. Not where trials fit several
  // numbers of tables: they would take a fifth longer for hardly anything.
  std::optional<Candidate> candidate_of_few(const Candidate& candidate,
                                            const ColumnModel& packed) const {
    if (effort().column_groups <= kFewGroups || policy_.ans.counts_several ||
        column_coder(candidate.model.section.coder).order_cost != OrderCost::symbols)
      return std::nullopt;
    const Front& front = candidate.model.front;
    const LaneOrders lanes = best_symbol_orders(packed.front, kFewGroups, nullptr);
    if (std::equal(front.orders, front.orders + column_.column.tuple, lanes.orders))
      return std::nullopt;
    Candidate other{.model = candidate.model, .bits = candidate.bits};
    std::copy_n(lanes.orders, column_.column.tuple, other.model.front.orders);
    return other;
  }

  // Whether a sample says that it is in vain to encode all of the column.
  bool is_in_vain(const Candidate& candidate, std::uint64_t least_bits) const {
    if (settings_.coder || policy_.tries_all_of_short || column_.bytes() <= kShortColumn)
      return false;
    // Several tables may take a lot less than a sample of symbols tells: high levels find out.
    return exceeds_clearly(candidate.bits, least_bits, kFrontDoubtShare) ||
           (!policy_.plans_without_maps &&
            exceeds_clearly(candidate.bits / 8, bytes_to_beat_, kDoubtShare));
  }
  static bool exceeds_clearly(std::uint64_t one, std::uint64_t other, std::uint64_t doubt_share) {
    return one - one / doubt_share > other;
  }

  bool frames_win_clearly(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) {
    if (settings_.coder || !frames_.are_tried()) return false;
    WorkPart of_frames(work_, kShareOfFirstFrames);
    const auto expected_bytes = [&] {
      std::uint64_t bits = by_widths_.bits;
      for (const Coder coder : on_trial_) {
        expected_ = candidate_of(coder, packed, nullptr);
        if (expected_->bits > 0) bits = std::min(bits, expected_->bits);
      }
      return bits / 8;
    };
    return frames_.choose_if_clear(by_widths_, expected_bytes, model, made, &of_frames);
  }

  // Exact if that is soon found out: of short columns the sample is only a part.
  std::uint64_t expected_bytes_of_pack(const Front& packed) const {
    if (column_.bytes() > kShortColumn) return by_widths_.bits / 8;
    return packed_bits(source_of(packed), packed.orders, 0, column_.records, workers_) / 8;
  }

  // Adds the first of them with all lanes at each order behind each map: each low order, of which residuals may be of few kinds
  // however large they are, and higher ones unless all residuals say that they take more than those below by a lot.
  void add_every_order(std::vector<Candidate>& candidates) const {
    if (settings_.order) return;
    const int lanes = column_.column.tuple;
    ColumnModel candidate = candidates.front().model;
    for (const Front& plain : by_widths_.plain.fronts) {
      std::uint64_t least = ~std::uint64_t{0};
      for (int order = 0; order <= policy_.orders.highest; ++order) {
        candidate.front = plain;
        std::fill_n(candidate.front.orders, lanes, static_cast<std::uint8_t>(order));
        const std::uint64_t bits =
            choose_symbol_orders(source_of(plain), order, candidate.front.orders, kAllGroups,
                                 ByteSymbols::one_by_one, workers_)
                .bits;
        if (order > kMostLowOrder && exceeds_clearly(bits, least, kHighOrderDoubtShare)) break;
        least = std::min(least, bits);
        const bool is_there =
            std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
              const Front& front = other.model.front;
              return front.map == plain.map && front.num_strides == 0 &&
                     has_orders(front, lanes, static_cast<std::uint8_t>(order));
            });
        if (!is_there) candidates.push_back({.model = candidate});
      }
    }
  }

  ColumnSection encode_on_trial(const ColumnBytes& column, const ColumnModel& model,
                                Work* work) const {
    return encode_section(column, model, policy_, quick_trials_ ? AnsEffort{} : policy_.ans,
                          workers_, work);
  }

  // The section of a model that quick trials have chosen, unless theirs is as short; and of one that they nearly have chosen.
  void make_anew(ColumnModel& model, ColumnSection& made) {
    WorkPart of_sections(work_, kShareOfMakingAnew);
    improve(model, made, is_linear_, rival_ ? nullptr : &of_sections);
    if (!rival_) return;
    improve(rival_->model, rival_->section, !is_linear_, nullptr);
    if (rival_->section.size() >= made.size()) return;
    model = rival_->model;
    made = std::move(rival_->section);
  }

  void improve(const ColumnModel& model, ColumnSection& made, bool is_linear, Work* work) const {
    if (model.section.coder == kWidthCoder) return;
    AnsEffort effort = policy_.ans;
    effort.counts_usual = false;
    ColumnSection section = is_linear
                                ? encode_section(linear_->column(column_), without_front(model),
                                                 policy_, effort, workers_, work)
                                : encode_section(column_, model, policy_, effort, workers_, work);
    if (section.size() >= made.size()) return;
    section.table.predictor_fields = std::move(made.table.predictor_fields);
    made = std::move(section);
  }

  // Encodes all of the column by each of them that has a chance, against what pack is expected to take; where that is less than
  // the best of them, against what it does take: a sample may err.
  void try_other_coders(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) const {
    std::uint64_t least = settings_.coder
                              ? ~std::uint64_t{0}
                              : std::min(expected_bytes_of_pack(packed.front), column_.bytes());
    Section second;
    for (const Coder coder : on_trial_) {
      if (!settings_.coder && column_coder(coder).shortest >= least) continue;
      WorkPart of_orders(work_, kShareOfCoders / 4), of_trials(work_, kShareOfCoders * 3 / 4);
      WorkPart of_packed(&of_orders, 0.5), of_plain(&of_orders, 0.5);
      std::vector<Candidate> candidates;
      const bool is_known = expected_ && expected_->model.section.coder == coder;
      candidates.push_back(is_known ? *expected_ : candidate_of(coder, packed, &of_packed));
      // A stride that narrows groups may widen most residuals. Below, a second one alone is doubted: it saves little of groups.
      const std::uint8_t fewer = policy_.zstd.every_front ? 0 : 1;
      const auto with_strides = [&](std::uint8_t count) {
        ColumnModel with_fewer = packed;
        with_fewer.front.num_strides = count;
        return with_fewer;
      };
      if (packed.front.num_strides > fewer)
        candidates.push_back(candidate_of(coder, with_strides(fewer), &of_plain));
      if (column_.bytes() <= kShortColumn && packed.front.num_strides > fewer + 1)
        candidates.insert(candidates.begin() + 1,
                          candidate_of(coder, with_strides(fewer + 1), nullptr));
      // Symbols of bytes often like no stride at all, as those of text: there a sample decides without a trial.
      if (settings_.level > kDeviceLevel && fewer > 0 && packed.front.num_strides > 0 &&
          value_bytes(column_.column.type) == 1) {
        const Candidate other = candidate_of(coder, with_strides(0), nullptr);
        if (other.bits > 0 && other.bits < candidates.front().bits &&
            other.bits < candidates.back().bits)
          candidates = {other};
      }
      const std::uint64_t least_bits = std::min(candidates.front().bits, candidates.back().bits);
      if (auto few = candidate_of_few(candidates.front(), packed)) candidates.push_back(*few);
      // Sizes of residuals do not tell how often they repeat: short columns try the orders of pack, too.
      if (column_.bytes() <= kShortColumn &&
          !std::equal(packed.front.orders, packed.front.orders + column_.column.tuple,
                      candidates.front().model.front.orders)) {
        candidates.push_back({.model = candidates.front().model});
        candidates.back().model.front = packed.front;
      }
      if (tries_everything(settings_.level, column_.bytes())) add_every_order(candidates);
      for (const Candidate& candidate : candidates) {
        WorkPart of_trial(&of_trials, 1 / static_cast<double>(candidates.size()));
        if (is_in_vain(candidate, least_bits)) continue;
        ColumnSection section = encode_on_trial(column_, candidate.model, &of_trial);
        if (section.size() >= least) {
          if (second.section.bytes.empty() || section.size() < second.section.size())
            second = {candidate.model, std::move(section)};
          continue;
        }
        least = section.size();
        model = candidate.model;
        made = std::move(section);
      }
    }
    if (!made.bytes.empty() || second.section.bytes.empty() ||
        second.section.size() >= column_.bytes())
      return;
    made = encode_on_trial(column_, packed, nullptr);
    if (made.size() <= second.section.size()) return;
    model = second.model;
    made = std::move(second.section);
  }

  // ---- Linear prediction in place of deltas, before the best of the coders that the device decodes

  bool linear_is_tried() const {
    return policy_.linear.shapes > 0 && !settings_.residuals && !settings_.order &&
           (!settings_.coder || decodes_on_device(*settings_.coder)) &&
           column_.column.type < ValueType::i64 && column_.records >= kFewestLinearTuples;
  }

  // Whether it may take less than what takes so many bytes. It has no strides: what those save of groups, it must save
  // otherwise.
  bool linear_may_pay(std::uint64_t saved_bytes, std::uint64_t others) const {
    if (policy_.plans_without_maps) return true;
    const std::uint64_t saved_by_strides = (bits_without_strides_ - by_widths_.bits) / 8;
    return saved_bytes >= saved_by_strides / 2 && saved_bytes >= others / kLinearGainShare;
  }

  void try_linear(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) {
    WorkPart of_words(work_, kShareOfLinear / 10), of_choice(work_, kShareOfLinear / 5),
        of_fit(work_, kShareOfLinear / 2), of_section(work_, kShareOfLinear / 5);
    ColumnModel candidate = model;
    candidate.front = linear_front(packed.front.map);
    std::vector<unsigned char> words =
        mapped_words(column_, candidate.front.map, workers_, &of_words);
    auto choice = choose_linear({words.data(), column_.records, value_bytes(column_.column.type)},
                                column_.column.tuple,
                                reads_unsigned(column_.column.type, candidate.front.map),
                                policy_.linear, workers_, &of_choice);
    if (!choice) return;
    const std::uint64_t others =
        made.bytes.empty() ? expected_bytes_of_pack(packed.front) : made.size();
    if (!linear_may_pay(choice->saved_bytes, others)) return;
    LinearResiduals residuals =
        predict_front(column_, std::move(words), std::move(choice->model), workers_, &of_fit);
    ColumnSection section =
        encode_on_trial(residuals.column(column_), without_front(candidate), &of_section);
    section.table.predictor_fields = std::move(residuals.fields);
    is_linear_ = section.size() < others;
    Section other{candidate, std::move(section)};
    if (is_linear_) {
      std::swap(model, other.model);
      std::swap(made, other.section);
    }
    const bool is_close = quick_trials_ && !made.bytes.empty() && !other.section.bytes.empty() &&
                          !exceeds_clearly(other.section.size(), made.size(), kTrialDoubtShare);
    if (is_linear_ || is_close) linear_ = std::move(residuals);
    if (is_close) rival_ = std::move(other);
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const LevelPolicy& policy_;
  Workers& workers_;
  Work* work_;
  std::uint64_t bytes_to_beat_;
  std::vector<Coder> on_trial_;
  /// Whether trials fit tables as lower levels do, and what is best is encoded once more.
  bool quick_trials_ = false;
  std::optional<PlainFronts> plain_;
  /// The candidate of a coder of which frames have asked what it is expected to take.
  std::optional<Candidate> expected_;
  /// What linear prediction leaves, if it is the best or nearly so.
  std::optional<LinearResiduals> linear_;
  bool is_linear_ = false;
  /// With linear prediction, if the best is without, or the other way round; if quick trials can hardly tell.
  std::optional<Section> rival_;
  FrameChoice frames_;
  WidthPlan by_widths_;
  std::uint64_t bits_without_strides_ = 0;  // of the best plain one
};

}  // namespace

ColumnModel plan_column(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                        ColumnSection& made, Work* work, std::uint64_t bytes_to_beat,
                        std::optional<PlainFronts> plain) {
  return ColumnPlanner(column, settings, workers, work, bytes_to_beat, std::move(plain)).plan(made);
}

ColumnSection encode_section(const ColumnBytes& column, const ColumnModel& model,
                             const LevelPolicy& policy, const AnsEffort& ans, Workers& workers,
                             Work* work, std::span<const unsigned char> page_states) {
  ColumnSection section;
  column_coder(model.section.coder)
      .encode({.column = column,
               .model = model,
               .zstd_levels = policy.zstd.levels,
               .ans_effort = ans,
               .workers = workers,
               .page_states = page_states,
               .work = work},
              section.bytes, section.table);
  return section;
}

ColumnModel without_front(ColumnModel model) {
  model.front = Front{.predictor = Predictor::none};
  return model;
}

}  // namespace gdelta
