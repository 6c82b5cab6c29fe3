// The stages that tests go through, by the rows of their tables. A test that is about all coders, or all
// of a kind, takes them from here, so that a new one is tested by its row.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "formats/gdelta/coder_traits.h"
#include "gdelta/codec.h"
#include "gdelta/types.h"
#include "golden/coders/plain_coders.h"

namespace gdelta::test {

template <class Wanted>
std::vector<Coder> coders_that(Wanted wanted) {
  std::vector<Coder> coders;
  for (int number = 0; number < kNumCoders; ++number) {
    const auto coder = static_cast<Coder>(number);
    if (wanted(format::coder_traits(coder))) coders.push_back(coder);
  }
  return coders;
}

inline std::vector<Coder> front_coders() {
  return coders_that([](const format::CoderTraits& traits) { return traits.codes_residuals; });
}
/// Whether the coder makes a wandering column of the type shorter, so that it is not left as it is. Its steps do not
/// repeat, for else strides would leave zeros alone.
inline bool shrinks_a_walk(Coder coder, ValueType type) {
  std::mt19937 random(1);
  std::vector<std::byte> walk;
  std::uint32_t value = 0;
  for (int i = 0; i < 4096; ++i) {
    value += random() % 61 - 30;
    for (int b = 0; b < value_bytes(type); ++b)
      walk.push_back(static_cast<std::byte>(value >> (8 * b)));
  }
  EncodeOptions options;
  options.layout = Layout{{{type, 1}}};
  options.coder = coder;
  const auto stream = compress(walk, options);
  return stream && inspect(*stream).value().chunks[0].columns[0].coder == coder;
}
/// Of these, those that do so for short values and for long ones: runs of equal residuals, say, would not.
inline std::vector<Coder> shrinking_coders() {
  std::vector<Coder> coders;
  for (const Coder coder : front_coders())
    if (shrinks_a_walk(coder, ValueType::i8) && shrinks_a_walk(coder, ValueType::i32))
      coders.push_back(coder);
  return coders;
}
/// Those that the plain encoder and decoder have code for, written from the specification alone.
inline std::vector<Coder> plain_coders() {
#define GDELTA_CODER(name) Coder::name,
  return {GDELTA_PLAIN_CODERS(GDELTA_CODER)};
#undef GDELTA_CODER
}
/// Those that may make the tables of dictionaries.
inline std::vector<Coder> table_coders() {
  return coders_that([](const format::CoderTraits& traits) { return traits.codes_tables; });
}
/// Those that may be asked for if a device is to decode what comes out.
inline std::vector<Coder> device_coders() {
  return coders_that([](const format::CoderTraits& traits) {
    return traits.can_be_asked && traits.device != format::DeviceDecoding::none;
  });
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
