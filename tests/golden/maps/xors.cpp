// Spec: maps/xors.md.
#include "../golden_parts.h"

namespace gdelta::plain::detail {
namespace {

void apply(std::vector<Lane>& lanes, const StepChoice& step, const Column&) {
  Lane& target = lanes[static_cast<std::size_t>(step.target)];
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] ^= lanes[static_cast<std::size_t>(step.source)][i];
}

void append_fields(std::vector<std::byte>& out, const std::vector<StepChoice>& steps,
                   const Column& column) {
  std::vector<int> sources(column.tuple);
  for (const StepChoice& step : steps)
    sources[static_cast<std::size_t>(step.target)] = step.source + 1;
  for (std::size_t lane = 1; lane < column.tuple; ++lane)
    format::append_le(out, 1, static_cast<std::uint64_t>(sources[lane]));
}

void add_cases(std::vector<GoldenCase>& cases) {
  one_chunk(cases, "xors_i16x3", "i16x3", 140, 5, [](const Column& column) {
    return with_steps(linked(Coder::pack, column, {1}), {{2, 0, 0}, {1, 0, 0}}, LaneMap::xors);
  });
}

}  // namespace

const PlainLaneMap plain_xors_map{
    .apply = apply, .append_fields = append_fields, .add_cases = add_cases};

}  // namespace gdelta::plain::detail
