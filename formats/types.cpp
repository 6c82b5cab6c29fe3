#include "gdelta/types.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "formats/gdelta/coder_traits.h"

namespace gdelta {

namespace {

constexpr std::string_view kTypeNames[kNumValueTypes] = {"i8",  "u8",   "i16", "u16", "i24",
                                                         "u24", "i32",  "u32", "i64", "u64",
                                                         "f16", "bf16", "f32", "f64"};
constexpr std::string_view kTypeList =
    "i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64, each with :be for big-endian";

/// What an error quotes of the user's text: enough to find it again, whatever its length.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMostShown = 40;
  if (text.size() <= kMostShown) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kMostShown));
}

std::optional<ValueType> find_type(std::string_view name) {
  for (int i = 0; i < kNumValueTypes; ++i)
    if (kTypeNames[i] == name) return static_cast<ValueType>(i);
  return std::nullopt;
}

/// A decimal number in 1..kMaxTuple, nothing else around it.
std::optional<std::uint8_t> parse_tuple(std::string_view digits) {
  int tuple = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, tuple);
  if (error != std::errc{} || stop != end || tuple < 1 || tuple > kMaxTuple) return std::nullopt;
  return static_cast<std::uint8_t>(tuple);
}

Result<Column> parse_column(std::string_view text) {
  const std::size_t x = text.rfind('x');
  auto column = parse_type(text.substr(0, x));
  if (!column || x == std::string_view::npos) return column;
  const auto tuple = parse_tuple(text.substr(x + 1));
  if (!tuple)
    return fail(
        Errc::invalid_argument,
        fmt::format("{} is not a tuple: after the x stands a number from 1 to {}, as in i32x3",
                    quoted(text), kMaxTuple));
  column->tuple = *tuple;
  return column;
}

}  // namespace

std::string_view coder_name(Coder coder) {
  switch (coder) {
#define GDELTA_CASE(name, number, ...) \
  case Coder::name:                    \
    return #name;
    GDELTA_CODERS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return "unknown";
}

std::vector<Coder> asked_coders() {
  std::vector<Coder> coders;
  for (int number = 0; number < kNumCoders; ++number) {
    const auto coder = static_cast<Coder>(number);
    if (format::coder_traits(coder).can_be_asked) coders.push_back(coder);
  }
  return coders;
}

std::string asked_coder_names() {
  std::string names;
  for (const Coder coder : asked_coders())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", coder_name(coder));
  return names;
}

bool decodes_on_device(Coder coder) {
  return format::coder_traits(coder).device != format::DeviceDecoding::none;
}

std::string_view map_name(ValueMap map) {
  switch (map) {
    case ValueMap::none:
      return "none";
    case ValueMap::by_lane:
      return "by_lane";
#define GDELTA_CASE(name, number, ...) \
  case ValueMap::name:                 \
    return #name;
      GDELTA_VALUE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return "unknown";
}

std::string_view map_name(LaneMap map) {
  switch (map) {
    case LaneMap::none:
      return "none";
#define GDELTA_CASE(name, number, ...) \
  case LaneMap::name:                  \
    return #name;
      GDELTA_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return "unknown";
}

std::string_view map_sentence(ValueMap map) {
  switch (map) {
    case ValueMap::none:
      break;
    case ValueMap::by_lane:
      return "each lane has a map of its own";
#define GDELTA_CASE(name, number, sentence, ...) \
  case ValueMap::name:                           \
    return sentence;
      GDELTA_VALUE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

std::string_view map_sentence(LaneMap map) {
  switch (map) {
    case LaneMap::none:
      break;
#define GDELTA_CASE(name, number, kinds, sentence) \
  case LaneMap::name:                              \
    return sentence;
      GDELTA_LANE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

std::string_view predictor_name(Predictor predictor) {
  switch (predictor) {
    case Predictor::none:
      return "none";
#define GDELTA_CASE(name, number, ...) \
  case Predictor::name:                \
    return #name;
      GDELTA_PREDICTORS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return "unknown";
}

std::string_view predictor_sentence(Predictor predictor) {
  switch (predictor) {
    case Predictor::none:
      break;
#define GDELTA_CASE(name, number, sentence, ...) \
  case Predictor::name:                          \
    return sentence;
      GDELTA_PREDICTORS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

std::string_view origin_name(LayoutOrigin origin) {
  switch (origin) {
    case LayoutOrigin::given:
      return "given";
    case LayoutOrigin::found:
      return "found";
    case LayoutOrigin::file_format:
      return "file format";
    case LayoutOrigin::unknown:
      break;
  }
  return "unknown";
}

std::string_view type_name(ValueType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kNumValueTypes ? kTypeNames[number] : "unknown";
}

std::uint64_t Layout::record_bytes() const {
  std::uint64_t bytes = 0;
  for (const Column& column : columns) bytes += static_cast<std::uint64_t>(column.bytes());
  return bytes;
}

const Layout& byte_layout() {
  static const Layout layout{{Column{}}};
  return layout;
}

Result<void> check_layout(const Layout& layout) {
  if (layout.columns.empty())
    return fail(Errc::invalid_argument, "a layout needs at least one column, for example i32x3");
  if (layout.columns.size() > kMaxColumns)
    return fail(Errc::invalid_argument,
                fmt::format("{} columns are too many: a record has at most {}",
                            layout.columns.size(), kMaxColumns));
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const Column& column = layout.columns[i];
    if (static_cast<int>(column.type) >= kNumValueTypes)
      return fail(Errc::invalid_argument,
                  fmt::format("column {} has the unknown type number {}; there are {}", i,
                              static_cast<int>(column.type), kTypeList));
    if (column.tuple < 1 || column.tuple > kMaxTuple)
      return fail(Errc::invalid_argument,
                  fmt::format("column {} has tuple {}; a tuple is 1 to {} values", i, column.tuple,
                              kMaxTuple));
  }
  if (layout.record_bytes() > kMaxRecordBytes)
    return fail(Errc::invalid_argument, fmt::format("a record of {} bytes is too long: at most {}",
                                                    layout.record_bytes(), kMaxRecordBytes));
  return {};
}

Result<Column> parse_type(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto type = find_type(text.substr(0, colon));
  if (!type) {
    const bool has_tuple = find_type(text.substr(0, text.find('x'))).has_value();
    return fail(
        Errc::invalid_argument,
        has_tuple
            ? fmt::format("{} names a tuple where only a type can stand, as in i32", quoted(text))
            : fmt::format("there is no type {}; the types are {}", quoted(text), kTypeList));
  }
  Column column{*type, 1, false};
  if (colon != std::string_view::npos) {
    const std::string_view order = text.substr(colon + 1);
    if (order != "be" && order != "le")
      return fail(
          Errc::invalid_argument,
          fmt::format("{} has no known byte order: write :be (big-endian) or :le", quoted(text)));
    column.big_endian = order == "be";
  }
  return column;
}

Result<Layout> parse_record(std::string_view text) {
  Layout layout;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto column = parse_column(text.substr(at, end - at));
    if (!column) return tl::unexpected(column.error());
    layout.columns.push_back(*column);
    if (layout.columns.size() > kMaxColumns) break;  // check_layout says it
    at = end + 1;
  }
  if (const auto checked = check_layout(layout); !checked) return tl::unexpected(checked.error());
  return layout;
}

std::string to_string(const Layout& layout) {
  std::string text;
  for (const Column& column : layout.columns) {
    if (!text.empty()) text += ',';
    text += type_name(column.type);
    if (column.big_endian) text += ":be";
    if (column.tuple != 1) text += fmt::format("x{}", column.tuple);
  }
  return text;
}

}  // namespace gdelta
