// What somebody who mistyped a word may have meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gdelta::cli {

/// The one of `words` that differs from `word` by a slip or two of the fingers; nothing if none
/// does.
std::optional<std::string> similar_word(std::string_view word,
                                        const std::vector<std::string>& words);

}  // namespace gdelta::cli
