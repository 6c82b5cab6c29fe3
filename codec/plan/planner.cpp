#include "codec/plan/planner.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "codec/coders/coder.h"
#include "codec/coders/linear_front.h"
#include "codec/coders/segment_front.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/column_map_choice.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/linear_choice.h"
#include "codec/plan/repetition.h"
#include "codec/plan/segment_choice.h"
#include "codec/plan/stride_search.h"
#include "codec/plan/symbol_orders.h"
#include "formats/gdelta/column_head.h"
#include "formats/gdelta/maps/integer_map.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/order_cost.h"

namespace gdelta {
namespace {

using format::Arrangement;
using format::ChosenBy;
using format::ColumnModel;
using format::Front;
using format::StrideLink;

constexpr Coder kWidthCoder = format::coder_chosen_by(ChosenBy::widths);
constexpr Coder kFrameCoder = format::coder_chosen_by(ChosenBy::stretches);
constexpr std::uint64_t kShortestPlaneFrame = 4096;
constexpr std::uint8_t kMaxPlaneOrder = 3;
constexpr int kPercentOfBytes =
    95;  // of pack, if there are no numbers: zstd is what one expects then
constexpr int kQuickOrder = 2;
constexpr std::uint64_t kMostQuickGroups = 32;
constexpr std::uint64_t kShortColumn = 1 << 16;  // bytes
constexpr std::uint64_t kMatchBits = 32;  // about what a frame spends on a sequence that repeats
constexpr std::uint64_t kShortestMatch = 2, kLongestMatch = 32;
constexpr std::uint64_t kHopelessShare = 2;  // levels that count do not make frames so much shorter
constexpr std::uint64_t kFewestLinearTuples = 1024;
constexpr std::uint64_t kExceptionShare = 16;  // of a column's bytes, exceptions take less

class ColumnPlanner {
 public:
  /// Frames of `bytes_to_beat` or more are not wanted.
  ColumnPlanner(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                std::uint64_t bytes_to_beat = ~std::uint64_t{0})
      : column_(column),
        settings_(settings),
        policy_(level_policy(settings.level)),
        workers_(workers),
        bytes_to_beat_(bytes_to_beat) {}

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
    add_strides(model.front);
    const ColumnModel packed = model;
    try_other_coders(packed, model, made);
    if (linear_is_tried()) try_linear(packed, model, made);
    if (zstd_is_tried()) choose_zstd(packed, model, made);
    // No order helps, and zstd was not asked or did not: spare the work of finding out by encoding.
    if (!settings_.coder && model.section.coder == kWidthCoder && made.bytes.empty() &&
        !looks_worth_packing(packed_bits_, column_.column.tuple, column_.bytes()))
      model.section.coder = format::coder_chosen_by(ChosenBy::no_gain);
    return model;
  }

 private:
  bool zstd_is_tried() const {
    return tries_zstd(settings_.coder, settings_.level, settings_.device_decodable,
                      settings_.plain_bytes);
  }

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
    return !zstd_is_tried() || zstd_limit((descriptor_bits + exceptions) / 8) <= kShortestFrame;
  }

  ResidualSource source_of(const Front& front) const { return {column_, front}; }

  OrderEffort effort() const { return {policy_.orders.highest, policy_.orders.groups}; }
  OrderEffort quick_effort() const {
    return {kQuickOrder, std::min(policy_.orders.groups / 4, kMostQuickGroups)};
  }

  // The orders that suit map and strides best; returns what they cost.
  std::uint64_t set_best_orders(Front& front) const {
    const LaneOrders lanes = choose_orders(source_of(front), settings_.order, effort(), workers_);
    std::copy_n(lanes.orders, column_.column.tuple, front.orders);
    return lanes.bits;
  }

  // Chooses them without strides, under every map there is.
  Front choose_map_and_orders() {
    packed_bits_ = ~std::uint64_t{0};
    for (int number = 0; number < kNumValueMaps; ++number) {
      const auto map = static_cast<ValueMap>(number);
      if (format::has_fields(map) || !format::map_takes(map, column_.column.type) ||
          settings_.level < format::map_traits(map).tried_from_level)
        continue;
      Front& plain = plain_.emplace_back();
      plain.map = map;
      const std::uint64_t bits = set_best_orders(plain);
      if (bits >= packed_bits_) continue;
      packed_bits_ = bits;
      best_plain_ = plain_.size() - 1;
    }
    return plain_[best_plain_];
  }

  // The lane that costs most gains most from a stride.
  int widest_lane(const Front& front) const {
    const ResidualSource source = source_of(front);
    int widest = 0;
    std::uint64_t most = 0;
    for (int lane = 0; lane < column_.column.tuple; ++lane) {
      const std::uint64_t bits =
          lane_bits(source, lane, front.orders[lane], quick_effort(), workers_);
      if (bits > most) {
        most = bits;
        widest = lane;
      }
    }
    return widest;
  }

  // The candidate with the least cost by a quick look; nothing if none beats the front without.
  std::optional<Front> best_stride(const Front& before) const {
    const auto quick_bits = [&](const Front& front) {
      return choose_orders(source_of(front), settings_.order, quick_effort(), workers_).bits;
    };
    std::uint64_t least = quick_bits(before);
    std::optional<Front> best;
    const int lane = column_.column.tuple == 1 ? 0 : widest_lane(before);
    for (const std::uint32_t stride : find_strides(source_of(before), lane, policy_.strides)) {
      Front candidate = before;
      candidate.strides[candidate.num_strides++] = StrideLink{stride, 1};
      const std::uint64_t bits = quick_bits(candidate);
      if (bits >= least) continue;
      least = bits;
      best = candidate;
    }
    return best;
  }

  void add_strides(Front& front) {
    if (settings_.residuals) return;
    while (front.num_strides < policy_.strides.most) {
      auto candidate = best_stride(front);
      if (!candidate) return;
      const std::uint64_t bits = set_best_orders(*candidate);
      if (bits * 1000 >= packed_bits_ * (1000 - policy_.strides.gain_permille)) return;
      packed_bits_ = bits;
      front = *candidate;
    }
  }

  // ---- zstd: by trial

  // Stretches of whole groups, spread evenly; all of a short column.
  std::vector<TupleRange> trial_ranges() const {
    const std::uint64_t records = column_.records;
    const std::uint64_t tuple_bytes = column_.column.bytes();
    const std::uint64_t stretches = policy_.zstd.stretches;
    const std::uint64_t length =
        std::max<std::uint64_t>(policy_.zstd.stretch_bytes / tuple_bytes / 128, 1) * 128;
    if (stretches == 0 || records <= stretches * length) return {{0, records}};
    std::vector<TupleRange> ranges;
    for (std::uint64_t k = 0; k < stretches; ++k)
      ranges.push_back({k * (records - length) / (stretches - 1) / 128 * 128, length});
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

  // Tuples of a part / 128; 0: all in one.
  std::uint32_t frame_part_groups() const {
    const std::uint64_t tuple_bytes = format::tuple_bytes(column_.column);
    const std::uint64_t longest = policy_.zstd.frame_bytes;
    if (column_.records * tuple_bytes <= longest) return 0;
    const std::uint64_t groups =
        std::max<std::uint64_t>(longest / tuple_bytes / format::kGroupValues, 1);
    return groups * format::kGroupValues < column_.records ? static_cast<std::uint32_t>(groups) : 0;
  }

  // Planes have little in common, so each gets a frame of its own, unless they are too short to pay
  // for that.
  Arrangement best_planes() const {
    return column_.records >= kShortestPlaneFrame ? Arrangement::plane_frames : Arrangement::planes;
  }

  // The section of a model, or of these ranges alone. For all of the column, at the encoder's levels,
  // it is what the encoder makes.
  ColumnSection try_zstd(const ColumnBytes& column, const ColumnModel& model,
                         std::span<const TupleRange> ranges, ZstdLevels levels) const {
    ColumnSection section;
    if (is_whole(ranges)) {
      column_coder(kFrameCoder)
          .encode({.column = column,
                   .model = model,
                   .zstd_levels = levels,
                   .ans_effort = policy_.ans,
                   .workers = workers_},
                  section.bytes, section.table);
    } else {
      encode_frames(residual_bytes({column, model.front}, ranges, model, workers_),
                    frame_bytes(model, column.column, tuples_of(ranges)), levels, workers_,
                    section.bytes);
    }
    return section;
  }

  std::uint64_t packed_bytes(const Front& front, std::span<const TupleRange> ranges) const {
    const ResidualSource source = source_of(front);
    std::uint64_t bits = 0;
    for (const TupleRange& range : ranges)
      bits += packed_bits(source, front.orders, range.first, range.count, workers_);
    return bits / 8;
  }

  // As planes the lanes are coded apart, so each can be given the order that it likes best: a low one,
  // or that of pack.
  void choose_plane_orders(ColumnModel& model, std::span<const TupleRange> ranges) const {
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
      Trial& trial = trials[i];
      ColumnBytes lane_bytes = column_;
      lane_bytes.column.tuple = 1;
      lane_bytes.first = column_.at(0, trial.lane);
      ColumnModel lane_model = model;
      lane_model.front.orders[0] = trial.order;
      trial.bytes = try_zstd(lane_bytes, lane_model, ranges, policy_.zstd.quick).bytes.size();
    });
    std::uint64_t least[kMaxTuple];
    std::fill_n(least, column_.column.tuple, ~std::uint64_t{0});
    for (const Trial& trial : trials) {
      if (trial.bytes >= least[trial.lane]) continue;
      least[trial.lane] = trial.bytes;
      model.front.orders[trial.lane] = trial.order;
    }
  }

  // Maps and strides that zstd may like: those of pack, and none with each map.
  std::vector<Front> zstd_fronts(const Front& packed) const {
    std::vector<Front> fronts{packed};
    for (const Front& plain : plain_) {
      if (settings_.order || (plain.map != ValueMap::none && !policy_.zstd.every_front)) continue;
      if (packed.map == plain.map && packed.num_strides == 0) continue;
      fronts.push_back(plain);
    }
    return fronts;
  }

  std::vector<ColumnModel> zstd_candidates(const Front& packed,
                                           std::span<const TupleRange> ranges) const {
    const bool every_front = policy_.zstd.every_front;
    std::vector<ColumnModel> candidates;
    const auto add = [&](ColumnModel model, bool planes) {
      model.section.arrangement = planes ? best_planes() : Arrangement::values;
      candidates.push_back(model);
      if (!policy_.zstd.both_plane_frames || model.section.arrangement != Arrangement::plane_frames)
        return;
      candidates.back().section.arrangement = Arrangement::planes;
      candidates.push_back(model);
    };
    // Bytes have one plane.
    const bool planes_differ = column_.column.bytes() > 1;
    for (const Front& front : zstd_fronts(packed)) {
      ColumnModel model{.front = front,
                        .section = {.coder = kFrameCoder,
                                    .arrangement = best_planes(),
                                    .part_groups = frame_part_groups()}};
      if (!settings_.plain_bytes || policy_.zstd.percent_of_pack > 0) add(model, false);
      if (!every_front || settings_.order) {
        if (planes_differ) add(model, true);
      } else {
        ColumnModel planes = model;
        choose_plane_orders(planes, ranges);
        add(planes, true);
      }
      if (settings_.order) continue;
      const std::uint8_t last_order = every_front ? 1 : 0;
      for (std::uint8_t order = 0; order <= last_order; ++order) {
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

  // Compresses the ranked candidates anew and sorts them by what comes out. `made` becomes the section
  // of the first, if that is what the encoder would make and has less than `limit` bytes.
  void rank(std::span<const ColumnModel> candidates, std::span<const TupleRange> ranges,
            ZstdLevels levels, std::uint64_t limit, std::vector<Ranked>& ranking,
            ColumnSection& made) const {
    const bool as_the_encoder = levels == policy_.zstd.levels && is_whole(ranges);
    std::mutex mutex;
    Ranked first{limit, 0};
    workers_.for_each(ranking.size(), [&](std::size_t i) {
      Ranked& ranked = ranking[i];
      ColumnSection section = try_zstd(column_, candidates[ranked.candidate], ranges, levels);
      ranked.bytes = section.bytes.size();
      if (!as_the_encoder) return;
      const std::lock_guard lock(mutex);
      if (ranked.bytes >= limit || (!made.bytes.empty() && first < ranked)) return;
      first = ranked;
      made = std::move(section);
    });
    std::sort(ranking.begin(), ranking.end());
  }

  // Frames have to be shorter than this, if the best of the others takes so many bytes.
  std::uint64_t zstd_limit(std::uint64_t bytes_of_others) const {
    if (settings_.coder == kFrameCoder) return ~std::uint64_t{0};
    const int percent =
        std::max(policy_.zstd.percent_of_pack, settings_.plain_bytes ? kPercentOfBytes : 0);
    return bytes_of_others * static_cast<std::uint64_t>(percent) / 100;
  }

  // What the best of the others takes for these ranges: of one that has been made, its share of what
  // pack would take.
  std::uint64_t bytes_of_others(const Front& packed, std::span<const TupleRange> ranges,
                                const ColumnSection& made) const {
    const std::uint64_t bytes = packed_bytes(packed, ranges);
    if (made.bytes.empty()) return bytes;
    if (is_whole(ranges)) return std::min(bytes, made.size());
    const std::uint64_t all = std::max<std::uint64_t>(packed_bits_ / 8, 1);
    return std::min(bytes, static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) *
                                                      made.size() / all));
  }

  // Whether sequences of residuals repeat, or of their upper halves, that are long enough for a frame to
  // take fewer bits than `limit` bytes for all do. What does not repeat, symbols and offsets take as well.
  bool seems_to_repeat(std::span<const TupleRange> ranges, std::uint64_t limit) const {
    const ColumnModel model{.front = plain_[best_plain_], .section = {.coder = kFrameCoder}};
    const std::vector<unsigned char> residuals =
        residual_bytes(source_of(model.front), ranges, model, workers_);
    const std::uint64_t values = tuples_of(ranges) * column_.column.tuple;
    // The lowest bit of a half is that of a sign.
    for (const int skipped : {0, value_bits(column_.column.type) / 2 + 1}) {
      const std::uint64_t others = static_cast<std::uint64_t>(skipped) * values;
      if (8 * limit <= others) break;
      const std::uint64_t length =
          std::clamp(kMatchBits * values / (8 * limit - others), kShortestMatch, kLongestMatch);
      if (repeated_values(residuals, value_bytes(column_.column.type), skipped, length) >=
          values / policy_.zstd.repeated_share)
        return true;
    }
    return false;
  }

  // Whether frames of planes may win without repetition: where the upper bytes of residuals say something
  // of those that follow.
  bool planes_are_short(const Front& packed, std::span<const TupleRange> ranges,
                        std::uint64_t limit) const {
    if (!policy_.zstd.every_front) return false;
    const ColumnModel planes{.front = packed,
                             .section = {.coder = kFrameCoder,
                                         .arrangement = best_planes(),
                                         .part_groups = frame_part_groups()}};
    const std::uint64_t bytes = try_zstd(column_, planes, ranges, policy_.zstd.quick).bytes.size();
    return bytes <= limit;
  }

  void choose_zstd(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) const {
    const std::vector<TupleRange> ranges = trial_ranges();
    const std::uint64_t limit = zstd_limit(bytes_of_others(packed.front, ranges, made));
    if (limit <= kShortestFrame) return;
    if (!made.bytes.empty() && !seems_to_repeat(ranges, limit) &&
        !planes_are_short(packed.front, ranges, limit))
      return;
    const std::vector<ColumnModel> candidates = zstd_candidates(packed.front, ranges);
    std::vector<Ranked> ranking;
    ColumnSection frames;
    for (std::size_t c = 0; c < candidates.size(); ++c) ranking.push_back({0, c});
    rank(candidates, ranges, policy_.zstd.quick, limit, ranking, frames);
    // The quick trial ranks, and its sizes are upper bounds. Only if it leaves doubt, those at the top
    // are tried at the levels that count.
    const std::uint64_t least = ranking.front().bytes;
    if (is_whole(ranges) && least > bytes_to_beat_ + bytes_to_beat_ / kHopelessShare) return;
    const std::uint64_t close = least + least / policy_.zstd.doubt_share;
    const auto doubtful = [&](const Ranked& ranked) { return ranked.bytes <= close; };
    const auto finalists =
        static_cast<std::size_t>(std::count_if(ranking.begin(), ranking.end(), doubtful));
    if (policy_.zstd.most_finalists > 0 && (finalists > 1 || least >= limit)) {
      ranking.resize(std::min(finalists, policy_.zstd.most_finalists));
      rank(candidates, ranges, policy_.zstd.levels, limit, ranking, frames);
    }
    const ColumnModel& best = candidates[ranking.front().candidate];
    if (!is_whole(ranges) && !made.bytes.empty() &&
        ranking.front().bytes < limit + limit / policy_.zstd.close_share) {
      // Stretches say little about long frames: the whole column decides between two that are close.
      const TupleRange all{0, column_.records};
      frames = try_zstd(column_, best, {&all, 1}, policy_.zstd.levels);
      if (frames.size() >= zstd_limit(made.size())) return;
    } else if (ranking.front().bytes >= limit) {
      return;
    }
    model = best;
    made = std::move(frames);
  }

  // ---- Coders that say themselves from which level on they are tried

  bool is_tried(Coder coder) const {
    if (format::chosen_by(coder) != ChosenBy::trial) return false;
    if (settings_.coder) return *settings_.coder == coder;
    const int from = column_coder(coder).tried_from_level;
    return from > 0 && settings_.level >= from &&
           !(settings_.device_decodable && !decodes_on_device(coder));
  }

  bool others_are_tried() const {
    for (int number = 0; number < kNumCoders; ++number) {
      const auto coder = static_cast<Coder>(number);
      if (is_tried(coder) && column_coder(coder).shortest < column_.bytes()) return true;
    }
    return false;
  }

  ColumnSection encode(const ColumnModel& model) const {
    ColumnSection section;
    column_coder(model.section.coder)
        .encode({.column = column_,
                 .model = model,
                 .zstd_levels = policy_.zstd.levels,
                 .ans_effort = policy_.ans,
                 .workers = workers_},
                section.bytes, section.table);
    return section;
  }

  // The front that suits pack, with the orders that suit the coder.
  ColumnModel candidate_of(Coder coder, const ColumnModel& packed) const {
    ColumnModel candidate = packed;
    candidate.section.coder = coder;
    const ColumnCoder& with = column_coder(coder);
    if (format::coder_traits(coder).parts != format::PartRule::pages) {
      candidate.section.part_groups = frame_part_groups();
    } else if (with.page_groups != nullptr) {
      candidate.section.part_groups = with.page_groups(column_.column, column_.records);
    }
    if (with.order_cost == OrderCost::symbols) {
      // Sizes of groups and of symbols hardly differ by more than an order.
      std::uint8_t highest[kMaxTuple];
      for (int lane = 0; lane < column_.column.tuple; ++lane)
        highest[lane] =
            static_cast<std::uint8_t>(std::min(packed.front.orders[lane] + 1, effort().max_order));
      const LaneOrders lanes = choose_symbol_orders(source_of(packed.front), settings_.order,
                                                    highest, effort().column_groups, workers_);
      std::copy_n(lanes.orders, column_.column.tuple, candidate.front.orders);
    }
    return candidate;
  }

  // Exact if that is soon found out: of short columns the sample is only a part.
  std::uint64_t expected_bytes_of_pack(const Front& packed) const {
    if (column_.bytes() > kShortColumn) return packed_bits_ / 8;
    const TupleRange all{0, column_.records};
    return packed_bytes(packed, {&all, 1});
  }

  // Encodes all of the column by each of them, against what pack is expected to take.
  void try_other_coders(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) const {
    std::uint64_t least = settings_.coder
                              ? ~std::uint64_t{0}
                              : std::min(expected_bytes_of_pack(packed.front), column_.bytes());
    for (int number = 0; number < kNumCoders; ++number) {
      const auto coder = static_cast<Coder>(number);
      if (!is_tried(coder) || (!settings_.coder && column_coder(coder).shortest >= least)) continue;
      std::vector<ColumnModel> candidates{candidate_of(coder, packed)};
      // A stride that narrows groups may widen most residuals.
      if (policy_.zstd.every_front && packed.front.num_strides > 0) {
        ColumnModel plain = packed;
        plain.front.num_strides = 0;
        candidates.push_back(candidate_of(coder, plain));
      }
      // Sizes of residuals do not tell how often they repeat: short columns try the orders of pack, too.
      if (column_.bytes() <= kShortColumn &&
          !std::equal(packed.front.orders, packed.front.orders + column_.column.tuple,
                      candidates.front().front.orders)) {
        candidates.push_back(candidates.front());
        candidates.back().front = packed.front;
      }
      for (const ColumnModel& candidate : candidates) {
        ColumnSection section = encode(candidate);
        if (section.size() >= least) continue;
        least = section.size();
        model = candidate;
        made = std::move(section);
      }
    }
  }

  // ---- Linear prediction in place of deltas, before the best of the coders that the device decodes

  bool linear_is_tried() const {
    return policy_.linear.shapes > 0 && !settings_.residuals && !settings_.order &&
           settings_.coder != kFrameCoder && column_.column.type < ValueType::i64 &&
           column_.records >= kFewestLinearTuples;
  }

  void try_linear(const ColumnModel& packed, ColumnModel& model, ColumnSection& made) const {
    ColumnModel candidate = model;
    candidate.front = linear_front(packed.front.map);
    std::vector<unsigned char> words = mapped_words(column_, candidate.front.map, workers_);
    const auto shape = choose_linear(
        {words.data(), column_.records, value_bytes(column_.column.type)}, column_.column.tuple,
        reads_unsigned(column_.column.type, candidate.front.map), policy_.linear, workers_);
    if (!shape) return;
    LinearResiduals residuals = predict_front(column_, std::move(words), *shape, workers_);
    ColumnModel of_residuals = candidate;
    of_residuals.front = Front{.predictor = Predictor::none};
    ColumnSection section;
    section.table.predictor_fields = std::move(residuals.fields);
    column_coder(candidate.section.coder)
        .encode({.column = residuals.column(column_),
                 .model = of_residuals,
                 .zstd_levels = policy_.zstd.levels,
                 .ans_effort = policy_.ans,
                 .workers = workers_},
                section.bytes, section.table);
    const std::uint64_t others =
        made.bytes.empty() ? expected_bytes_of_pack(packed.front) : made.size();
    if (section.size() >= others) return;
    model = candidate;
    made = std::move(section);
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const LevelPolicy& policy_;
  Workers& workers_;
  std::uint64_t bytes_to_beat_;
  std::uint64_t packed_bits_ = 0;
  std::vector<Front> plain_;  // with each map there is, without strides
  std::size_t best_plain_ = 0;
};

}  // namespace

bool tries_zstd(std::optional<Coder> asked, int level, bool device_decodable, bool plain_bytes) {
  if (asked) return *asked == kFrameCoder;
  return !device_decodable && (plain_bytes || level_policy(level).zstd.percent_of_pack > 0);
}

namespace {

// Plans it behind its maps, if it has some that the sample promised and the whole column keeps.
ColumnModel plan_column(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                        ColumnMaps& maps, ColumnSection& made) {
  const auto plan = [&](const ColumnBytes& values, ColumnSection& section) {
    return ColumnPlanner(values, settings, workers).plan(section);
  };
  maps = choose_column_maps(column, settings);
  if (maps.empty()) return plan(column, made);
  const MappedColumn mapped(column, maps, workers);
  const ColumnModel model = plan(mapped.column(), made);
  const std::uint64_t exception_bytes = mapped.exception_bytes();
  const bool keeps = exception_bytes < column.bytes() / kExceptionShare &&
                     format::codes_residuals(model.section.coder);
  if (keeps && !level_policy(settings.level).plans_without_maps) return model;
  ColumnSection plain_made;
  const ColumnModel plain =
      ColumnPlanner(column, settings, workers,
                    keeps && !made.bytes.empty() ? made.size() : ~std::uint64_t{0})
          .plan(plain_made);
  const bool plain_is_less =
      !plain_made.bytes.empty() &&
      (made.bytes.empty() || plain_made.size() < made.size() + exception_bytes);
  if (keeps && !plain_is_less) return model;
  maps = {};
  made = std::move(plain_made);
  return plain;
}

// A column of a chunk that says its segments: deltas inside them in the place of what was planned without
// them, if that is less.
class SegmentPlanner {
 public:
  SegmentPlanner(const ColumnBytes& column, const EncodeSettings& settings,
                 std::span<const std::uint32_t> lengths, Workers& workers)
      : column_(column),
        settings_(settings),
        lengths_(lengths),
        policy_(level_policy(settings.level)),
        workers_(workers) {}

  void plan(ColumnModel& model, const ColumnMaps& maps, ColumnSection& made) const {
    if (settings_.coder && !format::codes_residuals(*settings_.coder)) return;
    std::optional<MappedColumn> mapped;
    if (!maps.empty()) mapped.emplace(column_, maps, workers_);
    const ColumnBytes& column = mapped ? mapped->column() : column_;
    const ValueMap map = format::integer_map(column.column.type);
    const std::vector<unsigned char> words = mapped_words(column, map, workers_);
    const format::SegmentOrders orders =
        choose_segment_orders({.lengths = lengths_,
                               .tuple = column.column.tuple,
                               .value_bytes = value_bytes(column.column.type)},
                              words, settings_.order, policy_.orders.highest);
    SegmentResiduals residuals = predict_segments(column, words, lengths_, orders);
    const ColumnBytes as_values = residuals.column(column);
    EncodeSettings of_residuals = settings_;
    of_residuals.residuals = true;
    of_residuals.order = 0;
    ColumnSection section;
    ColumnModel candidate = ColumnPlanner(as_values, of_residuals, workers_).plan(section);
    if (!format::codes_residuals(candidate.section.coder)) return;
    candidate.front = segment_front(map);
    if (section.bytes.empty()) section = encode(as_values, plain(candidate));
    section.table.predictor_fields = std::move(residuals.fields);
    if (!settings_.order && section.size() >= bytes_without(column, model, made)) return;
    model = candidate;
    made = std::move(section);
  }

 private:
  // What the coder of residuals sees: nothing is left to be predicted.
  static ColumnModel plain(ColumnModel model) {
    model.front = Front{.predictor = Predictor::none};
    return model;
  }

  ColumnSection encode(const ColumnBytes& column, const ColumnModel& model) const {
    ColumnSection section;
    column_coder(model.section.coder)
        .encode({.column = column,
                 .model = model,
                 .zstd_levels = policy_.zstd.levels,
                 .ans_effort = policy_.ans,
                 .workers = workers_},
                section.bytes, section.table);
    return section;
  }

  std::uint64_t bytes_without(const ColumnBytes& column, const ColumnModel& model,
                              ColumnSection& made) const {
    if (!format::codes_residuals(model.section.coder)) return column.bytes();
    if (made.bytes.empty()) made = encode(column, model);
    return made.size();
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  std::span<const std::uint32_t> lengths_;
  const LevelPolicy& policy_;
  Workers& workers_;
};

// Whatever was asked for is meant for the values.
ChunkPlan plan_lengths(std::span<const std::uint32_t> lengths, EncodeSettings settings,
                       Workers& workers) {
  settings.order.reset();
  settings.coder.reset();
  return plan_chunk(length_bytes(lengths), {{format::kLengthColumn}}, false, settings, workers);
}

}  // namespace

ChunkPlan plan_chunk(std::span<const std::byte> values, const Layout& layout, bool opaque,
                     const EncodeSettings& settings, Workers& workers,
                     const ChunkSegments& segments) {
  // An order that was asked for is meant for numbers.
  EncodeSettings own = settings;
  own.plain_bytes |= opaque;
  if (opaque) own.order.reset();
  if (own.coder && !format::coder_traits(*own.coder).can_be_asked) own.coder.reset();
  ColumnBytes column{.first = reinterpret_cast<const unsigned char*>(values.data()),
                     .record_bytes = layout.record_bytes(),
                     .records = values.size() / layout.record_bytes(),
                     .column = {}};
  ChunkPlan plan;
  plan.zstd_levels = level_policy(own.level).zstd.levels;
  plan.ans_effort = level_policy(own.level).ans;
  if (!segments.empty())
    plan.lengths =
        std::make_shared<const ChunkPlan>(plan_lengths(segments.lengths, settings, workers));
  if (values.empty()) return plan;
  plan.made.resize(layout.columns.size());
  plan.maps.resize(layout.columns.size());
  for (const Column& next : layout.columns) {
    column.column = next;
    const std::size_t number = plan.columns.size();
    plan.columns.push_back(plan_column(column, own, workers, plan.maps[number], plan.made[number]));
    if (!segments.empty())
      SegmentPlanner(column, own, segments.lengths, workers)
          .plan(plan.columns.back(), plan.maps[number], plan.made[number]);
    column.first += next.bytes();
  }
  return plan;
}

}  // namespace gdelta
