#include "codec/plan/planner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "codec/coders/default_pages.h"
#include "codec/plan/column_map_choice.h"
#include "codec/plan/column_planner.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"
#include "codec/plan/quick_maps.h"
#include "codec/plan/segment_planner.h"
#include "codec/plan/tried_coders.h"

namespace gdelta {
namespace {

using format::ColumnModel;

constexpr std::uint64_t kExceptionShare = 16;  // of a column's bytes, exceptions take less
// Of two ways to map a column a sample of groups errs by less than this part, even if symbols are coded.
constexpr std::uint64_t kMapDoubtShare = 32;
// All values of a chunk wait for its lengths, and a warp takes a page from one end to the other: few have short pages.
constexpr std::uint32_t kLengthPageGroups = 8;
constexpr std::size_t kFewLengths = 16384;
// Any plan but raw makes a column of equal tuples constant, and of so many bytes none is raw.
constexpr std::uint64_t kFewestBytesToCompare = 4096;

// A column behind maps in a pass of their own, and its plan there.
struct MappedPlan {
  ColumnMaps maps = {};
  std::shared_ptr<MappedColumn> mapped = nullptr;
  ColumnModel model = {};
  ColumnSection made = {};
  bool keeps = false;  // the whole column keeps what a sample promised

  // What is behind the section.
  std::uint64_t bytes_behind() const { return mapped->exception_bytes() + mapped->table_bytes(); }
  std::uint64_t bytes() const { return made.size() + bytes_behind(); }
};

void plan_behind_maps(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                      Work* work, MappedPlan& plan) {
  plan.model = plan_column(plan.mapped->column(), settings, workers, plan.made, work);
  plan.maps.table_coders = table_coders(plan.model, settings);
  plan.mapped->code_tables(plan.maps.table_coders);
  plan.keeps = plan.mapped->exception_bytes() < column.bytes() / kExceptionShare &&
               format::codes_residuals(plan.model.section.coder);
}

void make_section(const EncodeSettings& settings, Workers& workers, MappedPlan& plan) {
  const LevelPolicy& policy = level_policy(settings.level);
  if (plan.made.bytes.empty())
    plan.made = encode_section(plan.mapped->column(), plan.model, policy, policy.ans, workers);
}

// What a sample says that the column takes behind its maps, less these strides.
std::uint64_t bits_behind_maps(const MappedPlan& plan, const format::Front& strided,
                               const EncodeSettings& settings, Workers& workers) {
  format::Front front;
  front.num_strides = strided.num_strides;
  std::copy_n(strided.strides, strided.num_strides, front.strides);
  const OrderPolicy& orders = level_policy(settings.level).orders;
  return choose_orders({plan.mapped->column(), front}, settings.order,
                       {orders.highest, orders.groups}, workers)
             .bits +
         8 * plan.bytes_behind();
}

// Maps are chosen as if there were no strides. Behind one others may do better: what low levels choose, which gives every value
// back, and either without lanes less others, or without maps that only change the order of words.
std::vector<ColumnMaps> other_maps(const ColumnBytes& column, const EncodeSettings& settings,
                                   Workers& workers, const ColumnMaps& chosen) {
  std::vector<ColumnMaps> others;
  const auto add = [&](const ColumnMaps& maps) {
    const bool maps_nothing =
        maps.steps.empty() && std::all_of(maps.lanes.begin(), maps.lanes.end(),
                                          [](const LaneMapping& lane) { return lane.map == 0; });
    if (maps_nothing || is_same(maps, chosen)) return;
    if (std::none_of(others.begin(), others.end(),
                     [&](const ColumnMaps& other) { return is_same(other, maps); }))
      others.push_back(maps);
  };
  ColumnMaps quick;
  std::optional<PlainFronts> plain_fronts;
  map_quickly(column, settings, workers, quick, plain_fronts);
  const auto add_without_steps_too = [&](ColumnMaps maps) {
    add(maps);
    maps.steps.clear();
    add(maps);
  };
  for (ColumnMaps maps : {quick, chosen}) {
    add_without_steps_too(maps);
    for (LaneMapping& lane : maps.lanes)
      if (!format::has_fields(static_cast<ValueMap>(lane.map))) lane = {};
    add_without_steps_too(maps);
  }
  return others;
}

void try_other_maps(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
                    Work* work, MappedPlan& plan) {
  if (!plan.keeps || plan.model.front.num_strides == 0) return;
  std::vector<ColumnMaps> others = other_maps(column, settings, workers, plan.maps);
  if (others.empty()) return;
  format::Front strided = plan.model.front;
  std::uint64_t bits = bits_behind_maps(plan, strided, settings, workers);
  for (ColumnMaps& maps : others) {
    WorkPart of_plan(work, 1.0 / static_cast<double>(others.size()));
    MappedPlan other{.maps = std::move(maps)};
    other.mapped = std::make_shared<MappedColumn>(column, other.maps, workers);
    if (bits_behind_maps(other, strided, settings, workers) > bits + bits / kMapDoubtShare)
      continue;
    plan_behind_maps(column, settings, workers, &of_plan, other);
    if (!other.keeps) continue;
    make_section(settings, workers, plan);
    make_section(settings, workers, other);
    if (other.bytes() >= plan.bytes()) continue;
    plan = std::move(other);
    strided = plan.model.front;
    if (strided.num_strides == 0) return;
    bits = bits_behind_maps(plan, strided, settings, workers);
  }
}

// Plans it behind its maps, if it has some that the sample promised and the whole column keeps.
ColumnModel plan_with_maps(const ColumnBytes& column, const EncodeSettings& settings,
                           Workers& workers, ColumnMaps& maps,
                           std::shared_ptr<MappedColumn>& mapped, ColumnSection& made, Work* work) {
  const LevelPolicy& policy = level_policy(settings.level);
  std::optional<PlainFronts> plain_fronts;
  MappedPlan plan;
  if (settings.maps && policy.quick_maps) {
    plan.mapped = map_quickly(column, settings, workers, plan.maps, plain_fronts);
  } else if (settings.maps) {
    plan.maps = choose_column_maps(column, settings);
    if (!plan.maps.empty())
      plan.mapped = std::make_shared<MappedColumn>(column, plan.maps, workers);
  }
  if (plan.mapped == nullptr)
    return plan_column(column, settings, workers, made, work, kNothingToBeat,
                       std::move(plain_fronts));
  WorkPart of_mapped(work, 0.4), of_others(work, 0.2), of_plain(work, 0.4);
  plan_behind_maps(column, settings, workers, &of_mapped, plan);
  // What repeats may repeat without a dictionary, too. Low levels have asked for more than a little.
  const auto plans_without = [&] {
    return plan.keeps &&
           (policy.plans_without_maps || (!policy.quick_maps && !plan.maps.tables.empty()));
  };
  // Of what the maps that were chosen leave: a plan without that is not a little less is not looked at to its end.
  std::uint64_t bytes_to_beat = kNothingToBeat;
  const auto set_bytes_to_beat = [&] {
    if (!plans_without() || bytes_to_beat != kNothingToBeat) return;
    make_section(settings, workers, plan);
    bytes_to_beat = plan.bytes();
  };
  set_bytes_to_beat();
  if (!policy.quick_maps) try_other_maps(column, settings, workers, &of_others, plan);
  set_bytes_to_beat();
  const auto take_mapped = [&] {
    maps = std::move(plan.maps);
    mapped = std::move(plan.mapped);
    made = std::move(plan.made);
    return plan.model;
  };
  if (plan.keeps && !plans_without()) return take_mapped();
  EncodeSettings of_values = settings;
  // Behind quick maps a column takes less than without: if even a stride does not make it worth coding there, it is not looked for.
  if (policy.quick_maps) of_values.forget_strides();
  ColumnSection plain_made;
  const ColumnModel plain = plan_column(column, of_values, workers, plain_made, &of_plain,
                                        bytes_to_beat, std::move(plain_fronts));
  const bool plain_is_less =
      !plain_made.bytes.empty() && (plan.made.bytes.empty() || plain_made.size() < plan.bytes());
  if (plan.keeps && !plain_is_less) return take_mapped();
  made = std::move(plain_made);
  return plain;
}

// Whether there is nothing to plan: one tuple, again and again.
bool is_settled(const ColumnBytes& column, const EncodeSettings& settings) {
  return column.bytes() >= kFewestBytesToCompare &&
         (!settings.coder || format::codes_residuals(*settings.coder)) && column.has_equal_tuples();
}

ColumnModel settled_model(const ColumnBytes& column) {
  ColumnModel model;
  model.section.coder = format::coder_chosen_by(format::ChosenBy::widths);
  model.section.part_groups = default_page_groups(column.column.tuple);
  return model;
}

// Those of a chunk whose columns have so many bytes. Whatever was asked for is meant for the values.
ChunkPlan plan_lengths(std::span<const std::uint32_t> lengths, EncodeSettings settings,
                       Workers& workers, std::uint64_t chunk_bytes) {
  settings.order.reset();
  settings.forget_strides();
  const std::vector<std::byte> bytes = length_bytes(lengths);
  const Layout layout{{format::kLengthColumn}};
  const auto plan_by = [&](std::optional<Coder> coder) {
    settings.coder = coder;
    return plan_chunk(bytes, layout, false, settings, workers);
  };
  const auto size_of = [&](const ChunkPlan& plan) {
    return encode_chunk(bytes, layout, false, plan, workers).size();
  };
  const auto is_decoded = [](const ChunkPlan& plan, format::DeviceDecoding how) {
    return format::coder_traits(plan.columns[0].section.coder).device == how;
  };
  ChunkPlan plan = plan_by(std::nullopt);
  const std::uint64_t permille = level_policy(settings.level).segments.packed_lengths_permille;
  if (permille > 0 && is_decoded(plan, format::DeviceDecoding::pages)) {
    ChunkPlan packed = plan_by(format::coder_chosen_by(format::ChosenBy::widths));
    if (size_of(packed) <= size_of(plan) + chunk_bytes * permille / 1000) plan = std::move(packed);
  }
  if (lengths.size() <= kFewLengths && is_decoded(plan, format::DeviceDecoding::warp_pages)) {
    plan.columns[0].section.part_groups = kLengthPageGroups;
    plan.made[0] = {};  // it had pages of the usual size
    plan.mapped[0].reset();
  }
  return plan;
}

}  // namespace

double planning_share(const EncodeSettings& settings) {
  const bool compares = !tried_coders(format::ChosenBy::trial, settings.coder, settings.level,
                                      settings.device_decodable)
                             .empty();
  return compares ? 0.95 : 0.1;
}

ChunkPlan plan_chunk(std::span<const std::byte> values, const Layout& layout, bool opaque,
                     const EncodeSettings& settings, Workers& workers,
                     const ChunkSegments& segments, Work* work) {
  // What was asked for is meant for numbers.
  EncodeSettings own = settings;
  own.plain_bytes |= opaque;
  if (opaque) {
    own.order.reset();
    own.forget_strides();
  }
  if (own.coder && !format::coder_traits(*own.coder).can_be_asked) own.coder.reset();
  // Devices look nothing up in chunks that say their segments, and decode what low levels write.
  if (!segments.empty() && (own.device_decodable || level_policy(own.level).is_for_devices()))
    own.dictionaries = false;
  ChunkPlan plan;
  plan.zstd_levels = level_policy(own.level).zstd.levels;
  plan.ans_effort = level_policy(own.level).ans;
  const auto add_lengths = [&](std::uint64_t chunk_bytes) {
    if (!segments.empty())
      plan.lengths = std::make_shared<const ChunkPlan>(
          plan_lengths(segments.lengths, own, workers, chunk_bytes));
  };
  if (values.empty()) {
    add_lengths(0);
    return plan;
  }
  plan.made.resize(layout.columns.size());
  plan.maps.resize(layout.columns.size());
  plan.mapped.resize(layout.columns.size());
  const ColumnBytes whole_record{.first = reinterpret_cast<const unsigned char*>(values.data()),
                                 .record_bytes = layout.record_bytes(),
                                 .records = values.size() / layout.record_bytes(),
                                 .column = layout.columns.front()};
  if (layout.columns.size() > 1)
    plan.apart = std::make_shared<const ApartColumns>(values, layout, workers);
  for (std::size_t number = 0; number < layout.columns.size(); ++number) {
    const ColumnBytes column = plan.apart ? (*plan.apart)[number] : whole_record;
    WorkPart of_column(work, static_cast<double>(column.column.bytes()) /
                                 static_cast<double>(layout.record_bytes()));
    ColumnSection& made = plan.made[number];
    std::shared_ptr<MappedColumn> mapped;
    if (is_settled(column, own)) {
      plan.columns.push_back(settled_model(column));
    } else {
      plan.columns.push_back(
          plan_with_maps(column, own, workers, plan.maps[number], mapped, made, &of_column));
      if (!segments.empty())
        plan_segments(column, own, segments.lengths, mapped.get(), workers, plan.columns.back(),
                      made);
    }
    if (mapped && !made.bytes.empty()) mapped->forget_column();
    plan.mapped[number] = std::move(mapped);
  }
  std::uint64_t chunk_bytes = 0;  // as far as it has been made
  for (const ColumnSection& made : plan.made) chunk_bytes += made.size();
  add_lengths(chunk_bytes);
  return plan;
}

}  // namespace gdelta
