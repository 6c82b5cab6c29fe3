#include "codec/plan/planner.h"

#include <memory>
#include <optional>
#include <utility>

#include "codec/plan/column_map_choice.h"
#include "codec/plan/column_planner.h"
#include "codec/plan/levels.h"
#include "codec/plan/quick_maps.h"
#include "codec/plan/segment_planner.h"
#include "codec/plan/tried_coders.h"

namespace gdelta {
namespace {

using format::ColumnModel;

constexpr std::uint64_t kExceptionShare = 16;  // of a column's bytes, exceptions take less
// All values of a chunk wait for its lengths, and a warp takes a page from one end to the other: few have short pages.
constexpr std::uint32_t kLengthPageGroups = 8;
constexpr std::size_t kFewLengths = 16384;

// Plans it behind its maps, if it has some that the sample promised and the whole column keeps.
ColumnModel plan_with_maps(const ColumnBytes& column, const EncodeSettings& settings,
                           Workers& workers, ColumnMaps& maps,
                           std::shared_ptr<MappedColumn>& mapped, ColumnSection& made, Work* work) {
  const LevelPolicy& policy = level_policy(settings.level);
  std::optional<PlainFronts> plain_fronts;
  if (settings.maps && policy.quick_maps) {
    mapped = map_quickly(column, settings, workers, maps, plain_fronts);
  } else if (settings.maps) {
    maps = choose_column_maps(column, settings);
    if (!maps.empty()) mapped = std::make_shared<MappedColumn>(column, maps, workers);
  }
  if (mapped == nullptr)
    return plan_column(column, settings, workers, made, work, kNothingToBeat,
                       std::move(plain_fronts));
  WorkPart of_mapped(work, 0.5), of_plain(work, 0.5);
  const ColumnModel model = plan_column(mapped->column(), settings, workers, made, &of_mapped);
  maps.table_coders = table_coders(model, settings);
  mapped->code_tables(maps.table_coders);
  const std::uint64_t exception_bytes = mapped->exception_bytes();
  const std::uint64_t behind = exception_bytes + mapped->table_bytes();
  const bool keeps = exception_bytes < column.bytes() / kExceptionShare &&
                     format::codes_residuals(model.section.coder);
  // What repeats may repeat without a dictionary, too. Low levels have asked for more than a little.
  const bool plans_without =
      policy.plans_without_maps || (!policy.quick_maps && !maps.tables.empty());
  if (keeps && !plans_without) return model;
  if (keeps && made.bytes.empty())
    made = encode_section(mapped->column(), model, policy, policy.ans, workers);
  ColumnSection plain_made;
  EncodeSettings of_values = settings;
  // Behind quick maps a column takes less than without: if even a stride does not make it worth coding there, it is not looked for.
  if (policy.quick_maps) of_values.stride = 0;
  const ColumnModel plain =
      plan_column(column, of_values, workers, plain_made, &of_plain,
                  keeps ? made.size() + behind : kNothingToBeat, std::move(plain_fronts));
  const bool plain_is_less =
      !plain_made.bytes.empty() && (made.bytes.empty() || plain_made.size() < made.size() + behind);
  if (keeps && !plain_is_less) return model;
  maps = {};
  mapped.reset();
  made = std::move(plain_made);
  return plain;
}

// Those of a chunk whose columns have so many bytes. Whatever was asked for is meant for the values.
ChunkPlan plan_lengths(std::span<const std::uint32_t> lengths, EncodeSettings settings,
                       Workers& workers, std::uint64_t chunk_bytes) {
  settings.order.reset();
  settings.stride = 0;
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
    own.stride = 0;
  }
  if (own.coder && !format::coder_traits(*own.coder).can_be_asked) own.coder.reset();
  // Devices look nothing up in chunks that say their segments, and decode what low levels write.
  if (!segments.empty() && (own.device_decodable || level_policy(own.level).quick_maps))
    own.dictionaries = false;
  ColumnBytes column{.first = reinterpret_cast<const unsigned char*>(values.data()),
                     .record_bytes = layout.record_bytes(),
                     .records = values.size() / layout.record_bytes(),
                     .column = {}};
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
  for (const Column& next : layout.columns) {
    column.column = next;
    const std::size_t number = plan.columns.size();
    WorkPart of_column(work, static_cast<double>(next.bytes()) / column.record_bytes);
    ColumnSection& made = plan.made[number];
    std::shared_ptr<MappedColumn> mapped;
    plan.columns.push_back(
        plan_with_maps(column, own, workers, plan.maps[number], mapped, made, &of_column));
    if (!segments.empty())
      plan_segments(column, own, segments.lengths, mapped.get(), workers, plan.columns.back(),
                    made);
    if (mapped && !made.bytes.empty()) mapped->forget_column();
    plan.mapped[number] = std::move(mapped);
    column.first += next.bytes();
  }
  std::uint64_t chunk_bytes = 0;  // as far as it has been made
  for (const ColumnSection& made : plan.made) chunk_bytes += made.size();
  add_lengths(chunk_bytes);
  return plan;
}

}  // namespace gdelta
