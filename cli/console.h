// What the command says, and the exit status that follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gdelta/error.h"
#include "progress_line.h"

namespace gdelta::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitWarning = 2;
/// Nobody read the output to its end: the process ends by SIGPIPE, which shells call so.
inline constexpr int kExitClosedPipe = 141;

/// A file name as it may be printed: control characters become '?', no name becomes ''.
std::string printable(std::string_view name);

/// Every message goes through one of these, so that it never mixes with the progress line.
class Console {
 public:
  void set_verbosity(int quiet, int verbose);
  bool verbose() const { return verbosity_ > 0; }
  /// Whether somebody looks on: stderr is a terminal, and nothing asks for quiet.
  bool is_watched() const;
  /// The terminal gets the output too: nothing is shown there in between.
  void leave_terminal_to_output() { shares_terminal_ = true; }

  /// "gdelta: FILE: sentence", or of no one file; the exit status becomes 1. Silent with -qq.
  void error(std::string_view file, std::string_view sentence);
  void error(std::string_view sentence);
  void error(std::string_view file, const Error& error);
  /// "gdelta: FILE: warning: sentence"; the exit status becomes 2 unless it is 1. Silent with -q.
  void warning(std::string_view file, std::string_view sentence);
  /// Something good to know, of a file or of all; silent with -q.
  void note(std::string_view file, std::string_view sentence);
  void note(std::string_view sentence);
  /// A write failed because nobody reads the pipe any more.
  void closed_pipe() { status_ = kExitClosedPipe; }

  /// Writes `text` to stdout at once. If that fails it is an error, told once.
  void out(std::string_view text);
  /// Does the same for what went to stdout through stdio: writes the rest of it.
  void end_stdout();
  bool stdout_failed() const { return stdout_failed_; }

  /// Shows how far a file is until end_progress(), if somebody looks on.
  void start_progress(std::string_view file, std::optional<std::uint64_t> total_bytes);
  void end_progress() { progress_.stop(); }
  /// Shows at once what is under way, if somebody looks on, until something else is said.
  void show_step(std::string_view file, std::string_view step);
  /// Lets the encoder or decoder that gets `options` report to the line.
  template <class Options>
  void follow(Options& options) {
    options.progress_user = &progress_;
    options.progress = [](std::uint64_t bytes_done, void* line) {
      static_cast<ProgressLine*>(line)->report(bytes_done);
      return true;
    };
  }

  int exit_status() const { return status_; }

 private:
  void fail_stdout(bool pipe_closed, const Error& error);
  void print(std::string_view place, std::string_view kind, std::string_view sentence);

  int verbosity_ = 0;  // -2 … 1
  int status_ = kExitOk;
  bool stdout_failed_ = false;
  bool shares_terminal_ = false;
  ProgressLine progress_;
};

/// Does the same for a text that is all there is to do. Returns the exit status.
int print_to_stdout(std::string_view text);

}  // namespace gdelta::cli
