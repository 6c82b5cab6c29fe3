// Reads the few Python literals that heads of arrays are made of, one token after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gdelta::format {

/// A reader over text. A read that finds something else than it looks for gives nothing; then the
/// text is not what it claims to be, and the reader is not used further.
class PythonLiteral {
 public:
  explicit PythonLiteral(std::string_view text) : text_(text) {}

  /// Whether this character comes next, after white space.
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  /// The same, and passes it.
  bool take(char c) {
    const bool found = next_is(c);
    if (found) ++at_;
    return found;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  /// What stands between quotes, escapes left as they are.
  std::optional<std::string_view> string() {
    if (!next_is('\'') && !next_is('"')) return std::nullopt;
    const char quote = text_[at_];
    const std::size_t begin = ++at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) return text_.substr(begin, at_++ - begin);
      if (text_[at_] == '\\') ++at_;
    }
    at_ = text_.size();
    return std::nullopt;
  }

  std::optional<bool> boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    return std::nullopt;
  }

  /// An integer below 2^63; Python 2 wrote long ones with an L.
  std::optional<std::uint64_t> integer() {
    skip_space();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (value > (std::uint64_t{1} << 63) / 10 - 1) return std::nullopt;
      value = 10 * value + static_cast<std::uint64_t>(text_[at_] - '0');
    }
    if (at_ == begin) return std::nullopt;
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  /// "()", "(3,)", "(3, 4)": appends the numbers.
  bool tuple(std::size_t most, std::vector<std::uint64_t>& numbers) {
    if (!take('(')) return false;
    while (!take(')')) {
      const auto number = integer();
      if (!number || numbers.size() == most) return false;
      numbers.push_back(*number);
      if (!take(',') && !next_is(')')) return false;
    }
    return true;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace gdelta::format
