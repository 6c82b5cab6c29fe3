#include "console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "size_text.h"

namespace gdelta::cli {

namespace {

bool stderr_is_terminal() {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal;
}

}  // namespace

std::string printable(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

void Console::set_verbosity(int quiet, int verbose) {
  verbosity_ = quiet > 0 ? -std::min(quiet, 2) : std::min(verbose, 1);
}

void Console::print(std::string_view file, std::string_view kind, std::string_view sentence) {
  clear_progress();
  const std::string place = file.empty() ? std::string() : printable(file) + ": ";
  fmt::print(stderr, "gdelta: {}{}{}\n", place, kind, sentence);
}

void Console::error(std::string_view file, std::string_view sentence) {
  status_ = kExitError;
  if (verbosity_ > -2) print(file, "", sentence);
}

void Console::error(std::string_view file, const Error& error) {
  std::string sentence = error.to_string();
  if (error.code == Errc::memory_limit) sentence += " (-M)";
  this->error(file, sentence);
}

void Console::warning(std::string_view file, std::string_view sentence) {
  if (status_ == kExitOk) status_ = kExitWarning;
  if (verbosity_ > -1) print(file, "warning: ", sentence);
}

void Console::note(std::string_view file, std::string_view sentence) {
  if (verbosity_ > -1) print(file, "", sentence);
}

void Console::show_step(std::string_view file, std::string_view step) {
  if (!stderr_is_terminal() || verbosity_ < 0) return;
  fmt::print(stderr, "\r{}: {}\x1b[K", printable(file), step);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::progress(std::string_view file, std::uint64_t done,
                       std::optional<std::uint64_t> total) {
  using namespace std::chrono_literals;
  if (!stderr_is_terminal() || verbosity_ < 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (!last_progress_) last_progress_ = now;  // nothing is shown for what is done at once
  if (now - *last_progress_ < 150ms) return;
  last_progress_ = now;
  std::string text = fmt::format("{}: {}", printable(file), readable_bytes(done));
  if (total && *total > 0)
    text += fmt::format(
        " of {}, {:.0f} %", readable_bytes(*total),
        100.0 * static_cast<double>(std::min(done, *total)) / static_cast<double>(*total));
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::clear_progress() {
  if (progress_shown_) fmt::print(stderr, "\r\x1b[K");
  progress_shown_ = false;
  last_progress_.reset();
}

}  // namespace gdelta::cli
