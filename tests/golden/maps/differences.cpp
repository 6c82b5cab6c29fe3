// Spec: maps/differences.md.
#include "../plain_maps.h"

namespace gdelta::plain::detail {
namespace {

void apply(std::vector<Lane>& lanes, const StepChoice& step, const Column& column) {
  const Lane& source = lanes[static_cast<std::size_t>(step.source)];
  Lane& target = lanes[static_cast<std::size_t>(step.target)];
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::int64_t x = signed_of(source[i], column);
    const std::int64_t half = x / 2 - (x % 2 < 0 ? 1 : 0);
    const std::int64_t lost = step.kind == 0 ? x : half;
    const auto change = static_cast<std::uint64_t>(lost);
    target[i] = (step.kind == 2 ? target[i] + change : target[i] - change) & mask_of(column);
  }
}

void append_fields(std::vector<std::byte>& out, const std::vector<StepChoice>& steps,
                   const Column&) {
  format::append_le(out, 1, steps.size());
  for (const StepChoice& step : steps)
    for (const int field : {step.target, step.source, step.kind})
      format::append_le(out, 1, static_cast<std::uint64_t>(field));
}

}  // namespace

const PlainLaneMap plain_differences_map{.apply = apply, .append_fields = append_fields};

}  // namespace gdelta::plain::detail
