#include "progress_line.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "size_text.h"

namespace gdelta::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kFirstDrawAfter = 150ms;
constexpr auto kDrawEvery = 250ms;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::size_t terminal_columns() {
  constexpr std::size_t kUsualColumns = 80;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

/// "0:07", "12:34", "1:02:03".
std::string clock_text(std::chrono::duration<double> time) {
  const auto seconds = static_cast<std::uint64_t>(std::max(0.0, time.count()));
  const std::uint64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

/// The end of a name that is too long tells files apart better than its beginning.
std::string shortened(std::string_view name, std::size_t columns) {
  constexpr std::string_view kDots = "...";
  if (name.size() <= columns || name.size() <= kDots.size()) return std::string(name);
  const std::size_t kept = std::max(columns, kDots.size()) - kDots.size();
  return std::string(kDots).append(name.substr(name.size() - kept));
}

}  // namespace

void print_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void ProgressLine::start(std::string_view name, std::optional<std::uint64_t> total_bytes) {
  stop();
  name_ = name;
  total_bytes_ = total_bytes;
  started_ = Clock::now();
  done_bytes_ = 0;
  reported_after_ = 0;
  stopping_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread can be had: the work goes on without a line.
  }
}

void ProgressLine::report(std::uint64_t done_bytes) {
  done_bytes_ = done_bytes;
  reported_after_ = (Clock::now() - started_).count();
}

void ProgressLine::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (shown_) draw(name_ + ": ", numbers());
    if (shown_) print_to_stderr(kClearLine);
    shown_ = false;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressLine::print_over(std::string_view text) {
  const std::lock_guard lock(mutex_);
  print_to_stderr((shown_ ? std::string(kClearLine) : std::string()).append(text));
  shown_ = false;
}

void ProgressLine::run() {
  std::unique_lock lock(mutex_);
  auto pause = kFirstDrawAfter;
  while (!wake_.wait_for(lock, pause, [this] { return stopping_; })) {
    draw(name_ + ": ", numbers());
    pause = kDrawEvery;
  }
}

void ProgressLine::show(std::string_view name, std::string_view text) {
  const std::lock_guard lock(mutex_);
  draw(name, text);
}

void ProgressLine::hide() {
  const std::lock_guard lock(mutex_);
  if (shown_) print_to_stderr(kClearLine);
  shown_ = false;
}

/// The caller holds the mutex.
void ProgressLine::draw(std::string_view name, std::string_view text) {
  constexpr std::size_t kLeastName = 8;
  const std::size_t columns = terminal_columns();
  const std::size_t left = columns > text.size() + 1 ? columns - text.size() - 1 : 0;
  print_to_stderr(fmt::format("\r{}{}\x1b[K", shortened(name, std::max(left, kLeastName)), text));
  shown_ = true;
}

/// "52.0 MiB of 97.3 MiB, 53 %, 12.3 MiB/s, 0:04 (0:04 left)": done, speed, time gone and to come.
/// The time to come is counted down between two reports, which may be far apart.
std::string ProgressLine::numbers() const {
  const auto seconds_of = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  const std::uint64_t done = done_bytes_;
  const double gone = seconds_of(Clock::now() - started_);
  const double reported = seconds_of(Clock::duration(reported_after_));
  std::string text = readable_bytes(done);
  const bool has_total = total_bytes_ && *total_bytes_ > 0;
  if (has_total)
    text +=
        fmt::format(" of {}, {} %", readable_bytes(*total_bytes_),
                    static_cast<int>(100.0 * static_cast<double>(std::min(done, *total_bytes_)) /
                                     static_cast<double>(*total_bytes_)));
  const double speed = reported > 0 ? static_cast<double>(done) / reported : 0;
  if (speed >= 1) text += fmt::format(", {}/s", readable_bytes(static_cast<std::uint64_t>(speed)));
  text += ", " + clock_text(std::chrono::duration<double>(gone));
  if (has_total && speed >= 1 && done < *total_bytes_) {
    const double to_come = static_cast<double>(*total_bytes_ - done) / speed - (gone - reported);
    text += fmt::format(" ({} left)", clock_text(std::chrono::duration<double>(to_come)));
  }
  return text;
}

}  // namespace gdelta::cli
