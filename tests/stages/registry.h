// The stages that tests go through: a row for each coder and the list of types. A test that is about all
// coders, or all of a kind, takes them from here, so that a new one is tested by its row.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "formats/gdelta/model.h"
#include "gdelta/types.h"

namespace gdelta::test {

struct CoderRow {
  Coder coder;
  bool asked_for;  // by EncodeOptions and --coder
  bool has_front;  // value map, orders and strides
  bool on_device;  // decodes there
};

// By their numbers in the format.
inline constexpr CoderRow kCoderRows[] = {
    {.coder = Coder::raw, .asked_for = true, .has_front = false, .on_device = true},
    {.coder = Coder::constant, .asked_for = false, .has_front = false, .on_device = true},
    {.coder = Coder::pack, .asked_for = true, .has_front = true, .on_device = true},
    {.coder = Coder::zstd, .asked_for = true, .has_front = true, .on_device = false},
};
static_assert(std::size(kCoderRows) == format::kNumCoders);

template <class Wanted>
std::vector<Coder> coders_that(Wanted wanted) {
  std::vector<Coder> coders;
  for (const CoderRow& row : kCoderRows)
    if (wanted(row)) coders.push_back(row.coder);
  return coders;
}

inline std::vector<Coder> asked_coders() {
  return coders_that([](const CoderRow& row) { return row.asked_for; });
}
inline std::vector<Coder> front_coders() {
  return coders_that([](const CoderRow& row) { return row.has_front; });
}
/// Those that may be asked for if a device is to decode what comes out.
inline std::vector<Coder> device_coders() {
  return coders_that([](const CoderRow& row) { return row.asked_for && row.on_device; });
}
/// The planner's choice, and each that may be asked for.
inline std::vector<std::optional<Coder>> coder_choices() {
  std::vector<std::optional<Coder>> choices{std::nullopt};
  for (const Coder coder : asked_coders()) choices.emplace_back(coder);
  return choices;
}

/// The names of all types, in the order of their numbers.
inline std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (int type = 0; type < kNumValueTypes; ++type)
    names.emplace_back(type_name(static_cast<ValueType>(type)));
  return names;
}

}  // namespace gdelta::test
