// What suits one column best, of what is tried at a level: orders and strides, a coder, linear prediction.
#pragma once

#include <optional>

#include "codec/chunk/chunk_encode.h"
#include "codec/plan/frame_choice.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"

namespace gdelta {

/// Gives the model that suits a column best, maps in a pass of their own apart. Sections of `bytes_to_beat` or more are
/// not wanted. `plain`: what plain maps do for the column, if that is known. `made` becomes the section, if a trial has made it.
format::ColumnModel plan_column(const ColumnBytes& column, const EncodeSettings& settings,
                                Workers& workers, ColumnSection& made, Work* work,
                                std::uint64_t bytes_to_beat = kNothingToBeat,
                                std::optional<PlainFronts> plain = std::nullopt);

/// Encodes all of the column; by the effort of the policy it is what the encoder makes. `page_states`: as ColumnToEncode has
/// them.
ColumnSection encode_section(const ColumnBytes& column, const format::ColumnModel& model,
                             const LevelPolicy& policy, const AnsEffort& ans, Workers& workers,
                             Work* work = nullptr, std::span<const unsigned char> page_states = {});

/// What the coder of residuals sees: nothing is left to be predicted.
format::ColumnModel without_front(format::ColumnModel model);

}  // namespace gdelta
