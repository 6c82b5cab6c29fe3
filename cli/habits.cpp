#include "habits.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace gdelta::cli {

namespace {

using Words = std::vector<std::string>;

struct Mode {
  char letter;
  std::string_view word;
  std::string_view command;
};
constexpr Mode kModes[] = {
    {'z', "--compress", "compress"},
    {'d', "--decompress", "decompress"},
    {'t', "--test", "test"},
    {'l', "--list", "list"},
};

// The other letters that may stand in a cluster with those of modes.
constexpr std::string_view kPlainLetters = "cfhkqrvV123456789";
constexpr std::string_view kValueLetters = "oTM";  // the rest of the cluster, or else the next word

// Long options whose value may begin with a dash, so that it looks like a cluster.
constexpr std::string_view kNameOptions[] = {"--output", "--output-dir", "--filelist",
                                             "--filelist0"};

/// What a program of this name does if nobody says more; nothing for gdelta itself.
std::optional<Words> arguments_of_name(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == "ungdelta") return Words{"--decompress"};
  if (name == "gdcat") return Words{"--decompress", "--stdout"};
  return std::nullopt;
}

const Mode* find_mode(char letter) {
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [letter](const Mode& m) { return m.letter == letter; });
  return mode == std::end(kModes) ? nullptr : mode;
}

const Mode* find_mode(std::string_view word) {
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [word](const Mode& m) { return m.word == word; });
  return mode == std::end(kModes) ? nullptr : mode;
}

/// "-dkf" and the like.
struct Cluster {
  bool valid = false;          // every letter is known: the word is no misspelling and no file
  const Mode* mode = nullptr;  // the last one in it
  std::string rest;            // without modes; "-" if nothing is left
  bool value_follows = false;  // in the next word
};

Cluster read_cluster(std::string_view word) {
  Cluster cluster;
  if (word.size() < 2 || word[0] != '-' || word[1] == '-') return cluster;
  cluster.rest = "-";
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (const Mode* mode = find_mode(word[i])) {
      cluster.mode = mode;
      continue;
    }
    cluster.rest += word[i];
    if (kValueLetters.find(word[i]) != std::string_view::npos) {
      cluster.rest += word.substr(i + 1);
      cluster.value_follows = i + 1 == word.size();
      break;
    }
    if (kPlainLetters.find(word[i]) == std::string_view::npos) return cluster;
  }
  cluster.valid = true;
  return cluster;
}

/// Takes the modes out of `arguments`; returns the last of them.
const Mode* take_modes(const Words& arguments, Words& others) {
  const Mode* mode = nullptr;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {
      others.insert(others.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    if (const Mode* named = find_mode(word)) {
      mode = named;
      continue;
    }
    const Cluster cluster = read_cluster(word);
    if (cluster.mode != nullptr && cluster.valid) mode = cluster.mode;
    if (!cluster.valid) {
      others.push_back(word);
    } else if (cluster.rest != "-") {
      others.push_back(cluster.rest);
    }
    const bool names =
        std::find(std::begin(kNameOptions), std::end(kNameOptions), word) != std::end(kNameOptions);
    if ((names || (cluster.valid && cluster.value_follows)) && i + 1 < arguments.size())
      others.push_back(arguments[++i]);
  }
  return mode;
}

}  // namespace

const Words& command_names() {
  static const Words names = {"compress", "decompress", "test", "list", "cat", "bench", "devices"};
  return names;
}

bool is_command(std::string_view word) {
  const Words& names = command_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

Call understand(std::string_view program, Words arguments) {
  const auto first = arguments_of_name(program);
  if (first) arguments.insert(arguments.begin(), first->begin(), first->end());
  Call call;
  if (!first && !arguments.empty() && is_command(arguments.front())) {
    call.command = arguments.front();
    arguments.erase(arguments.begin());
  }
  if (!call.command.empty() && call.command != "compress" && call.command != "decompress") {
    call.arguments = std::move(arguments);
    return call;
  }
  const Mode* mode = take_modes(arguments, call.arguments);
  if (mode != nullptr) {
    call.command = mode->command;
  } else if (call.command.empty()) {
    call.command = "compress";
    call.named = false;
  }
  return call;
}

}  // namespace gdelta::cli
