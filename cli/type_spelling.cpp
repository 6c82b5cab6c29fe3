#include "type_spelling.h"

#include <algorithm>
#include <optional>

namespace gdelta::cli {

namespace {

struct Spelling {
  std::string_view other;
  std::string_view own;
};
// Kinds, before a number of bits; the longer of two that begin alike stands first.
constexpr Spelling kKinds[] = {
    {"uint", "u"}, {"int", "i"}, {"bfloat", "bf"}, {"float", "f"}, {"bf", "bf"},
    {"s", "i"},    {"i", "i"},   {"u", "u"},       {"f", "f"},
};
// Names without a number of bits.
constexpr Spelling kWords[] = {{"half", "f16"}, {"float", "f32"}, {"double", "f64"}};
// Byte orders, after the number of bits.
constexpr Spelling kOrders[] = {
    {":le", ":le"}, {":be", ":be"}, {"_le", ""}, {"_be", ":be"}, {"le", ""}, {"be", ":be"},
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "<f4", ">i2", "=u8", "|i1": a kind and its bytes, as NumPy writes it.
std::optional<std::string> from_numpy(std::string_view name) {
  constexpr std::string_view kNumpyOrders = "<>=|";
  const bool form = name.size() == 3 && kNumpyOrders.find(name[0]) != std::string_view::npos &&
                    std::string_view("iuf").find(name[1]) != std::string_view::npos &&
                    std::string_view("1248").find(name[2]) != std::string_view::npos;
  if (!form) return std::nullopt;
  return name[1] + std::to_string(8 * (name[2] - '0')) + (name[0] == '>' ? ":be" : "");
}

std::string_view word_type(std::string_view name) {
  for (const Spelling& word : kWords)
    if (name == word.other) return word.own;
  return {};
}

/// A kind, bits and an order, such as "s16le", or a word such as "double", whose end is no order.
std::optional<std::string> from_words(std::string_view name) {
  if (const std::string_view type = word_type(name); !type.empty()) return std::string(type);
  std::string_view order;
  for (const Spelling& spelling : kOrders) {
    if (!name.ends_with(spelling.other)) continue;
    name.remove_suffix(spelling.other.size());
    order = spelling.own;
    break;
  }
  if (const std::string_view type = word_type(name); !type.empty())
    return std::string(type).append(order);
  for (const Spelling& kind : kKinds) {
    if (!name.starts_with(kind.other)) continue;
    const std::string_view bits = name.substr(kind.other.size());
    if (bits.empty() || !std::all_of(bits.begin(), bits.end(), is_digit)) return std::nullopt;
    return std::string(kind.own).append(bits).append(order);
  }
  return std::nullopt;
}

/// The spelling of one column, with its tuple if it has one.
std::string own_column(std::string_view text) {
  const std::size_t x = std::min(text.rfind('x'), text.size());
  const std::string name = lower_case(text.substr(0, x));
  auto own = from_numpy(name);
  if (!own) own = from_words(name);
  return own ? own->append(text.substr(x)) : std::string(text);
}

}  // namespace

std::string own_type_names(std::string_view text) {
  std::string own;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    own += own_column(text.substr(0, comma));
    if (comma == text.size()) return own;
    own += ',';
    text.remove_prefix(comma + 1);
  }
}

}  // namespace gdelta::cli
