// maps/differences.md
#include "plain_maps.h"

namespace plain_decoder {
namespace {

struct Step {
  std::uint64_t target;
  std::uint64_t source;
  std::uint64_t kind;
};

void undo(const Step& step, std::vector<Lane>& lanes, const Column& column) {
  for (std::size_t i = 0; i < lanes[step.target].size(); ++i) {
    const std::uint64_t source = lanes[step.source][i];
    const auto half = static_cast<std::uint64_t>(signed_number(source, column) >> 1);
    const std::uint64_t lost = step.kind == 0 ? source : step.kind == 1 ? half : 0 - half;
    lanes[step.target][i] = (lanes[step.target][i] + lost) & column.mask();
  }
}

}  // namespace

std::function<void(std::vector<Lane>&)> read_differences(Input& fields, const Column& column) {
  const auto lanes = static_cast<std::uint64_t>(column.tuple);
  const std::uint64_t count = fields.number(1);
  require(count >= 1, "no steps of lanes");
  require_known(count <= 64, "more steps of lanes than are known");
  std::vector<Step> steps;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t target = fields.number(1);
    require(target < lanes, "a lane that is not there");
    const std::uint64_t source = fields.number(1);
    require(source < lanes && source != target, "a lane that is not there, or not another");
    const std::uint64_t kind = fields.number(1);
    require_known(kind <= 2, "an unknown kind of a step");
    steps.push_back({target, source, kind});
  }
  return [steps, column](std::vector<Lane>& of_column) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) undo(*step, of_column, column);
  };
}

}  // namespace plain_decoder
