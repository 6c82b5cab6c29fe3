// The line on a terminal that shows how far a file is.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace gdelta::cli {

/// Draws on stderr from a thread of its own, several times a second, so that the line also moves
/// while the work has nothing to report.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { stop(); }

  /// Shows `name` from now on; nothing of what is done at once. `total_bytes` if it is known.
  void start(std::string_view name, std::optional<std::uint64_t> total_bytes);
  /// Threads     any, at any time
  void report(std::uint64_t done_bytes);
  /// Shows where the work ended, then takes the line away.
  void stop();
  /// Shows `text` after `name` at once, without a thread, until hide().
  void show(std::string_view name, std::string_view text);
  /// Takes the line away; it comes back when it is drawn next.
  void hide();
  /// Writes `text` to stderr, not into the line.
  void print_over(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void draw(std::string_view name, std::string_view text);
  std::string numbers() const;

  std::string name_;
  std::optional<std::uint64_t> total_bytes_;
  Clock::time_point started_;
  std::atomic<std::uint64_t> done_bytes_ = 0;
  std::atomic<Clock::duration::rep> reported_after_ = 0;  // since the start

  std::mutex mutex_;  // of what stands on the terminal
  std::condition_variable wake_;
  bool stopping_ = false;
  bool shown_ = false;
  std::thread thread_;
};

/// Writes `text` to stderr, whatever becomes of it: there is nowhere to say that this failed.
void print_to_stderr(std::string_view text);

}  // namespace gdelta::cli
