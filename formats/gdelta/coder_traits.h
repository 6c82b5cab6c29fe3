// What coders have in common and where they differ, as heads show it. Shared by host code and CUDA
// kernels.
#pragma once

#include <string_view>

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/coders/coder_fields.h"
#include "gdelta/coders.h"

namespace gdelta::format {

/// How many parts a column may have (spec.md, section 4).
enum class PartRule : std::uint8_t {
  any,    // one, or parts of equal length
  one,    // no more
  pages,  // parts of equal length, bounded: part_groups is not 0
};

/// How long a section is, or is at most.
enum class SectionBound : std::uint8_t {
  tuples,     // just the tuples
  one_tuple,  // just one
  groups,     // every group at the width of the type, with descriptors and states
  frames,     // frames of zstd, or streams of LZMA2, that do not shrink
  symbols,    // every residual with 24 bits more than the type's width
};

/// How a device decodes it.
enum class DeviceDecoding : std::uint8_t {
  none,        // the host does
  copy,        // tuples as they are
  fill,        // one tuple everywhere
  pages,       // a block a page
  warp_pages,  // and short pages of narrow tuples by a warp each
};

/// What brings an encoder that has the choice to a coder. All but `trial` and `patience`, which may have
/// several, bring it to one (coder_chosen_by).
enum class ChosenBy : std::uint8_t {
  trial,         // it has tried the whole column, from some level on (codec/coders/coder.h)
  no_gain,       // whatever it tried takes no less than the values
  equal_tuples,  // the column has one tuple, again and again
  widths,        // of residuals; maps, orders and strides are chosen by them, too
  stretches,     // trials on stretches, against the best of the others
  patience,  // slow, so a sample of residuals as bytes has to promise much before it has tried it, from some level on
};

struct CoderTraits {
  bool can_be_asked = false;        // by the options of an encoder
  bool codes_residuals = false;     // its models have a front, and its parts have ends
  bool codes_tables = false;        // of dictionaries, too, in the place of bins
  bool states_of_segments = false;  // its pages may begin with those of deltas inside segments
  std::uint8_t arrangements = 0;    // of which a field of its own chooses one; 0: there is no field
  CoderFields fields = CoderFields::none;
  PartRule parts = PartRule::any;
  SectionBound bound = SectionBound::groups;
  DeviceDecoding device = DeviceDecoding::none;
  bool device_encodes_plans = false;  // those of the host, which encodes others itself
};

/// Gives what the coder's row sets. Precondition: a number below kNumCoders.
GDELTA_HD constexpr CoderTraits coder_traits(Coder coder) {
  switch (coder) {
#define GDELTA_CASE(name, number, reason, ...) \
  case Coder::name:                            \
    return {__VA_ARGS__};
    GDELTA_CODERS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

/// What one frame of zstd or one stream of LZMA2 takes at most for so many bytes: libzstd's own bound is below that.
GDELTA_HD constexpr std::uint64_t most_coded_bytes(std::uint64_t bytes, std::uint64_t frames = 1) {
  return bytes + bytes / 256 + 64 * frames;
}

/// Gives the reason in the coder's row. Precondition: as above.
constexpr ChosenBy chosen_by(Coder coder) {
  switch (coder) {
#define GDELTA_CASE(name, number, reason, ...) \
  case Coder::name:                            \
    return ChosenBy::reason;
    GDELTA_CODERS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return ChosenBy::trial;
}

constexpr int num_chosen_by(ChosenBy reason) {
  int count = 0;
  for (int number = 0; number < kNumCoders; ++number)
    count += chosen_by(static_cast<Coder>(number)) == reason ? 1 : 0;
  return count;
}
static_assert(num_chosen_by(ChosenBy::no_gain) == 1 && num_chosen_by(ChosenBy::equal_tuples) == 1 &&
              num_chosen_by(ChosenBy::widths) == 1 && num_chosen_by(ChosenBy::stretches) == 1);

/// Gives the one coder chosen for a reason. Precondition: a reason that brings encoders to one.
constexpr Coder coder_chosen_by(ChosenBy reason) {
  int number = 0;
  while (chosen_by(static_cast<Coder>(number)) != reason) ++number;
  return static_cast<Coder>(number);
}
static_assert(coder_chosen_by(ChosenBy::no_gain) == Coder{});

/// Whether a section holds residuals, so that the model has a front.
GDELTA_HD constexpr bool codes_residuals(Coder coder) {
  return coder_traits(coder).codes_residuals;
}

}  // namespace gdelta::format
