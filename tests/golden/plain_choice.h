// What the plain encoder is told of a column, and the steps of residuals that its coders share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "formats/gdelta/chunk_block.h"
#include "plain_ans.h"
#include "plain_linear.h"
#include "plain_maps.h"
#include "plain_segments.h"

namespace gdelta::plain {

using Bytes = std::vector<std::byte>;

/// A model, and what the encoder is free to choose besides.
struct Choice {
  format::ColumnModel model;
  int width = -1;                     // of every group of pack; -1: the cheapest
  bool begin_at_first_value = false;  // the state of the first page of pack and ans
  bool free_states = false;           // every page of pack and ans begins with some states
  std::vector<LaneChoice> maps;       // one for all lanes, or one for each
  std::vector<StepChoice> steps;
  /// Places that are exceptions though their maps give their values back.
  std::set<std::uint64_t> exceptions;
  AnsModel ans;
  LinearPlainModel linear;
  SegmentChoice segments;
  /// Makes the page of ans whose residuals these are, lane by lane; without it, encode_ans_page does.
  std::function<AnsPage(std::size_t first_tuple, const AnsLanes& residuals)> make_ans_page;
};

inline Choice raw() { return {}; }

inline Choice constant() {
  Choice choice;
  choice.model.section.coder = Coder::constant;
  return choice;
}

/// `orders` names one order for all lanes or one for each.
inline Choice linked(Coder coder, const Column& column, std::vector<int> orders) {
  Choice choice;
  choice.model.section.coder = coder;
  if (format::coder_traits(coder).parts == format::PartRule::pages)
    choice.model.section.part_groups = 1;
  if (coder == Coder::ans) choice.ans = ans_model(value_bits(column.type));
  for (int lane = 0; lane < column.tuple; ++lane)
    choice.model.front.orders[lane] = static_cast<std::uint8_t>(
        orders[std::min<std::size_t>(static_cast<std::size_t>(lane), orders.size() - 1)]);
  return choice;
}

inline Choice with_stride(Choice choice, std::uint32_t stride, int order) {
  choice.model.front.strides[choice.model.front.num_strides++] = {stride,
                                                                  static_cast<std::uint8_t>(order)};
  return choice;
}

/// Predicted linearly in place of deltas.
inline Choice predicted(Coder coder, const Column& column, const LinearPlainModel& linear) {
  Choice choice = linked(coder, column, {0});
  choice.model.front.predictor = Predictor::linear;
  choice.linear = linear;
  return choice;
}

/// Inside segments in place of deltas.
inline Choice inside(Coder coder, const Column& column, const SegmentChoice& segments) {
  Choice choice = linked(coder, column, {0});
  choice.model.front.predictor = Predictor::segments;
  choice.segments = segments;
  return choice;
}

/// One map for all lanes, or one for each.
inline Choice with_maps(Choice choice, std::vector<LaneChoice> maps) {
  choice.model.front.map = maps.size() == 1 ? maps[0].map : ValueMap::by_lane;
  choice.maps = std::move(maps);
  return choice;
}

inline Choice with_steps(Choice choice, std::vector<StepChoice> steps,
                         LaneMap map = LaneMap::differences) {
  choice.model.front.lane_map = map;
  choice.steps = std::move(steps);
  return choice;
}

namespace detail {

/// The residual that leads from `state` (y1 ... yq) to the value, and the state after.
inline std::uint64_t plain_step(Lane& state, std::uint64_t value, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  std::uint64_t residual = value;
  for (std::size_t k = state.size(); k-- > 0;) {
    const std::uint64_t before = state[k];
    state[k] = residual;
    residual = (residual - before) & mask;
  }
  return residual;
}

/// The same, zigzagged.
inline std::uint64_t step(Lane& state, std::uint64_t value, const Column& column) {
  const std::uint64_t residual = plain_step(state, value, column);
  const std::uint64_t mask = mask_of(column);
  const std::uint64_t sign = mask ^ (mask >> 1);
  return ((residual << 1) ^ ((residual & sign) != 0 ? ~std::uint64_t{0} : 0)) & mask;
}

inline void append_states(Bytes& section, const std::vector<Lane>& states, const Column& column) {
  for (const Lane& state : states)
    for (const std::uint64_t y : state) format::append_le(section, value_bytes(column.type), y);
}

}  // namespace detail

}  // namespace gdelta::plain
