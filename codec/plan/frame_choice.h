// Whether frames of zstd take a column, and in which form: by trials of them against the best of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codec/chunk/chunk_encode.h"
#include "codec/plan/encode_settings.h"
#include "codec/plan/lane_orders.h"
#include "codec/plan/levels.h"

namespace gdelta {

/// What the widths of a column's residuals have told of it.
struct WidthPlan {
  format::Front front;     // the best one
  std::uint64_t bits = 0;  // that it is expected to take
  PlainFronts plain;       // without strides
};

/// Whether the planner tries zstd on a column that others code too. `plain_bytes`: it holds no numbers.
bool tries_zstd(std::optional<Coder> asked, int level, bool device_decodable, bool plain_bytes);

inline constexpr std::uint64_t kNothingToBeat = ~std::uint64_t{0};

class FrameTrials;

/// Of one column, whose WidthPlan stays as it is.
class FrameChoice {
 public:
  /// Frames of `bytes_to_beat` or more are not wanted.
  FrameChoice(const ColumnBytes& column, const EncodeSettings& settings, Workers& workers,
              std::uint64_t bytes_to_beat);
  ~FrameChoice();

  bool are_tried() const;

  /// Tuples of a part / 128; 0: all in one.
  std::uint32_t part_groups() const;

  /// Frames have to be shorter than this, if the best of the others takes so many bytes.
  std::uint64_t limit(std::uint64_t bytes_of_others) const;

  /// What the best of the others is expected to take, by a sample.
  using ExpectedBytes = std::function<std::uint64_t()>;

  /// Before the others are tried: changes the model to one of frames if values repeat and a quick trial takes so much
  /// less than is expected of the others that theirs would be in vain; false if not. `made` as below.
  bool choose_if_clear(const WidthPlan& by_widths, const ExpectedBytes& expected_bytes,
                       format::ColumnModel& model, ColumnSection& made, Work* work);

  /// Changes the model to one of frames, if that is worth it. `made`: the section of `model`, if a trial has
  /// made it; likewise afterwards.
  void choose(const WidthPlan& by_widths, format::ColumnModel& model, ColumnSection& made,
              Work* work);

 private:
  friend class FrameTrials;

  FrameTrials& trials(const WidthPlan& by_widths);

  const ColumnBytes& column_;
  const EncodeSettings& settings_;
  const ZstdPolicy& policy_;
  Workers& workers_;
  std::uint64_t bytes_to_beat_;
  std::unique_ptr<FrameTrials> trials_;  // what they have found so far
};

}  // namespace gdelta
