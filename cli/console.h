// What the command says on stderr, and the exit status that follows from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gdelta/error.h"

namespace gdelta::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitWarning = 2;

/// A file name as it may be printed: control characters become '?'.
std::string printable(std::string_view name);

/// Every message goes through one of these, so that it never mixes with the progress line.
class Console {
 public:
  void set_verbosity(int quiet, int verbose);
  bool verbose() const { return verbosity_ > 0; }

  /// "gdelta: FILE: sentence"; the exit status becomes 1. Silent with -qq.
  void error(std::string_view file, std::string_view sentence);
  void error(std::string_view file, const Error& error);
  /// "gdelta: FILE: warning: sentence"; the exit status becomes 2 unless it is 1. Silent with -q.
  void warning(std::string_view file, std::string_view sentence);
  /// Something good to know; silent with -q.
  void note(std::string_view file, std::string_view sentence);
  /// An error that nobody can read about any more, because they closed the pipe.
  void fail_silently() { status_ = kExitError; }

  /// Shows how far a file is, a few times a second, where stderr is a terminal.
  void progress(std::string_view file, std::uint64_t done, std::optional<std::uint64_t> total);
  /// Shows at once what is under way, where stderr is a terminal, until something else is shown.
  void show_step(std::string_view file, std::string_view step);
  void clear_progress();

  int exit_status() const { return status_; }

 private:
  void print(std::string_view file, std::string_view kind, std::string_view sentence);

  int verbosity_ = 0;  // -2 … 1
  int status_ = kExitOk;
  bool progress_shown_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_progress_;
};

}  // namespace gdelta::cli
