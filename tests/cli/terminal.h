// A pseudo-terminal for a command to write to or read from.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

namespace gdelta::cli_test {

/// What is written to `inside` is read from `outside`.
struct Terminal {
  Terminal() : outside(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    grantpt(outside);
    unlockpt(outside);
    inside = open(ptsname(outside), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    close(inside);
    close(outside);
  }

  /// All that was written since the last call.
  std::string written() const {
    fcntl(outside, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 1 << 14> buffer;
    for (;;) {
      const ssize_t got = ::read(outside, buffer.data(), buffer.size());
      if (got <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  /// Collects what is written until `wanted(text)` holds; gives up after a long time.
  template <class Wanted>
  std::string written_until(const Wanted& wanted) const {
    using namespace std::chrono_literals;
    std::string text;
    for (int i = 0; i < 3000; ++i) {
      text += written();
      if (wanted(text)) break;
      std::this_thread::sleep_for(10ms);
    }
    return text;
  }

  int outside, inside = -1;
};

}  // namespace gdelta::cli_test
