#include "codec/plan/segment_planner.h"

#include <algorithm>

#include "codec/coders/coder.h"
#include "codec/coders/linear_front.h"
#include "codec/coders/segments_front.h"
#include "codec/coders/segments_in_pages.h"
#include "codec/plan/column_planner.h"
#include "codec/plan/segment_choice.h"
#include "codec/plan/segment_sample.h"
#include "codec/plan/tried_coders.h"
#include "formats/gdelta/maps/integer_map.h"

namespace gdelta {
namespace {

using format::ColumnModel;

// A sample errs by less than this part, of what it takes inside segments and without them alike.
constexpr std::uint64_t kSampleDoubtShare = 64;

class SegmentPlanner {
 public:
  SegmentPlanner(const ColumnBytes& column, const EncodeSettings& settings,
                 std::span<const std::uint32_t> lengths, Workers& workers)
      : column_(column),
        settings_(settings),
        lengths_(lengths),
        heads_(SegmentDelta{.lengths = lengths}.heads()),
        policy_(level_policy(settings.level)),
        workers_(workers) {}

  void plan(ColumnModel& model, const MappedColumn* mapped, ColumnSection& made) const {
    if (settings_.coder && !format::codes_residuals(*settings_.coder)) return;
    const ColumnBytes& column = mapped ? mapped->column() : column_;
    const ValueMap map = format::integer_map(column.column.type);
    const OrderCost cost = order_cost();
    if (!settings_.order && cost == OrderCost::groups && sample_is_hopeless(column, map, model))
      return;
    const std::vector<unsigned char> words = mapped_words(column, map, workers_);
    const ChosenSegmentOrders chosen =
        choose_segment_orders({.lengths = lengths_,
                               .tuple = column.column.tuple,
                               .value_bytes = value_bytes(column.column.type)},
                              words, settings_.order, policy_.orders.highest, cost);
    if (!settings_.order && cost == OrderCost::groups &&
        is_hopeless(chosen.bits, bytes_without(column, model, made)))
      return;
    format::SegmentOrders orders = chosen.orders;
    const SegmentResiduals residuals = predict_segments(column, words, lengths_, orders);
    const ColumnBytes as_values = residuals.column(column);
    EncodeSettings of_residuals = settings_;
    of_residuals.residuals = true;
    of_residuals.order = 0;
    ColumnSection section;
    ColumnModel candidate = plan_column(as_values, of_residuals, workers_, section, nullptr);
    if (!format::codes_residuals(candidate.section.coder)) return;
    orders.says_states = mapped == nullptr && states_pay(column, map, candidate.section, orders);
    candidate.front = segment_front(map, orders, column.column.tuple);
    if (orders.says_states) {
      section = encode_with_states(
          as_values, candidate, predict_states(column, words, lengths_, orders, candidate.section));
    } else if (section.bytes.empty()) {
      section = encode_section(as_values, without_front(candidate), policy_, policy_.ans, workers_);
    }
    section.table.predictor_fields = segment_fields(orders, column.column.tuple);
    if (!settings_.order && !saves_enough(section, bytes_without(column, model, made))) return;
    model = candidate;
    made = std::move(section);
  }

 private:
  // Of the coder that will have the residuals, as far as that is known.
  OrderCost order_cost() const {
    const std::vector<Coder> tried = tried_coders(format::ChosenBy::trial, settings_.coder,
                                                  settings_.level, settings_.device_decodable);
    const Coder packed = format::coder_chosen_by(format::ChosenBy::widths);
    return column_coder(tried.empty() ? packed : tried.front()).order_cost;
  }

  // They let kernels join each page alone (codec/coders/segments_in_pages.h).
  bool states_pay(const ColumnBytes& column, ValueMap map, const format::Section& section,
                  const format::SegmentOrders& orders) const {
    const Column& shape = column.column;
    return format::coder_traits(section.coder).states_of_segments &&
           format::heads_suit_states(heads_, column.records) &&
           pages_can_be_joined(value_bytes(shape.type), shape.tuple, orders.highest(shape.tuple),
                               {.map = map}, section);
  }

  // What saves enough takes less. In bytes, or in bits.
  std::uint64_t limit_of(std::uint64_t without) const {
    const std::uint64_t all_of_it = 1000;
    const std::uint64_t permille =
        std::min(policy_.segments.gain_permille + policy_.segments.heads_permille * heads_ /
                                                      std::max<std::uint64_t>(column_.records, 1),
                 all_of_it);
    return without - without * permille / all_of_it;
  }
  bool saves_enough(const ColumnSection& section, std::uint64_t bytes_without) const {
    return section.size() < limit_of(bytes_without);
  }
  // Groups are those of heads and of other tuples apart here, so a section may be a little shorter than they say, but no eighth.
  bool is_hopeless(std::uint64_t group_bits, std::uint64_t bytes_without) const {
    return group_bits / 9 > limit_of(bytes_without);
  }

  // Whether what is saved would clearly not be enough if the column were as a sample of it.
  bool sample_is_hopeless(const ColumnBytes& column, ValueMap map, const ColumnModel& model) const {
    const auto bits =
        sample_segment_bits(column, model.front, map, lengths_, policy_.orders.highest);
    if (!bits) return false;
    const std::uint64_t without =
        format::codes_residuals(model.section.coder) ? bits->without : 8 * column.bytes();
    return bits->inside - bits->inside / kSampleDoubtShare >= limit_of(without);
  }

  ColumnSection encode_with_states(const ColumnBytes& residuals, const ColumnModel& candidate,
                                   std::span<const unsigned char> states) const {
    ColumnModel model = without_front(candidate);
    model.front.says_states = true;
    model.front.page_states = candidate.front.page_states;
    return encode_section(residuals, model, policy_, policy_.ans, workers_, nullptr, states);
  }

  std::uint64_t bytes_without(const ColumnBytes& column, const ColumnModel& model,
                              ColumnSection& made) const {
    if (!format::codes_residuals(model.section.coder)) return column.bytes();
    if (made.bytes.empty()) made = encode_section(column, model, policy_, policy_.ans, workers_);
    return made.size();
  }

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  std::span<const std::uint32_t> lengths_;
  std::uint64_t heads_;  // segments that have one
  const LevelPolicy& policy_;
  Workers& workers_;
};

}  // namespace

void plan_segments(const ColumnBytes& column, const EncodeSettings& settings,
                   std::span<const std::uint32_t> lengths, const MappedColumn* mapped,
                   Workers& workers, ColumnModel& model, ColumnSection& made) {
  SegmentPlanner(column, settings, lengths, workers).plan(model, mapped, made);
}

}  // namespace gdelta
