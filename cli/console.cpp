#include "console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "output_file.h"

namespace gdelta::cli {

std::string printable(std::string_view name) {
  if (name.empty()) return "''";
  std::string text(name);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

void Console::set_verbosity(int quiet, int verbose) {
  verbosity_ = quiet > 0 ? -std::min(quiet, 2) : std::min(verbose, 1);
}

bool Console::is_watched() const {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal && verbosity_ >= 0 && !shares_terminal_;
}

void Console::print(std::string_view place, std::string_view kind, std::string_view sentence) {
  progress_.print_over(fmt::format("gdelta: {}{}{}\n", place, kind, sentence));
}

void Console::error(std::string_view file, std::string_view sentence) {
  if (status_ != kExitClosedPipe) status_ = kExitError;
  if (verbosity_ > -2) print(printable(file) + ": ", "", sentence);
}

void Console::error(std::string_view sentence) {
  if (status_ != kExitClosedPipe) status_ = kExitError;
  if (verbosity_ > -2) print("", "", sentence);
}

void Console::error(std::string_view file, const Error& error) {
  std::string sentence = error.to_string();
  if (error.code == Errc::memory_limit) sentence += " (-M)";
  if (error.code == Errc::output_limit) sentence += " (--max-output)";
  this->error(file, sentence);
}

void Console::warning(std::string_view file, std::string_view sentence) {
  if (status_ == kExitOk) status_ = kExitWarning;
  if (verbosity_ > -1) print(printable(file) + ": ", "warning: ", sentence);
}

void Console::note(std::string_view file, std::string_view sentence) {
  if (verbosity_ > -1) print(printable(file) + ": ", "", sentence);
}

void Console::note(std::string_view sentence) {
  if (verbosity_ > -1) print("", "", sentence);
}

void Console::out(std::string_view text) {
  if (stdout_failed_) return;
  progress_.hide();
  OutputFile output = OutputFile::standard_output();
  const auto done = output.write(std::as_bytes(std::span(text)));
  if (!done) fail_stdout(output.pipe_closed(), done.error());
}

void Console::end_stdout() {
  progress_.hide();
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  if (errno == 0) errno = EIO;  // the write that failed is long past
  fail_stdout(errno == EPIPE, fail_errno().value());
}

void Console::fail_stdout(bool pipe_closed, const Error& error) {
  stdout_failed_ = true;
  if (pipe_closed) return closed_pipe();
  this->error("(stdout)", error);
}

void Console::start_progress(std::string_view file, std::optional<std::uint64_t> total_bytes) {
  if (is_watched()) progress_.start(printable(file), total_bytes);
}

void Console::show_step(std::string_view file, std::string_view step) {
  if (is_watched()) progress_.show(printable(file) + ": ", step);
}

int print_to_stdout(std::string_view text) {
  Console console;
  console.out(text);
  return console.exit_status();
}

}  // namespace gdelta::cli
