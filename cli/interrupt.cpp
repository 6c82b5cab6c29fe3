#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace gdelta::cli {

namespace {

// A handler may touch lock-free atomics and plain memory written before them, nothing that
// allocates.
char unfinished_path[8192];
std::atomic<bool> has_unfinished = false;
static_assert(std::atomic<bool>::is_always_lock_free);

bool ignored_closed_pipes = false;  // whoever started the command did

extern "C" void remove_unfinished_and_die(int signal_number) {
  if (has_unfinished.exchange(false)) unlink(unfinished_path);
  signal(signal_number, SIG_DFL);
  raise(signal_number);  // delivered when the handler returns, so that the caller sees the cause
}

}  // namespace

void handle_signals() {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // as under nohup
    action = {};
    action.sa_handler = remove_unfinished_and_die;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
  ignored_closed_pipes = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  signal(SIGXFSZ, SIG_IGN);
}

void remove_on_signal(const std::string& path) {
  has_unfinished = false;
  if (path.size() >= sizeof unfinished_path) return;
  std::memcpy(unfinished_path, path.c_str(), path.size() + 1);
  has_unfinished = true;
}

void keep_on_signal() { has_unfinished = false; }

void end_by_closed_pipe() {
  if (ignored_closed_pipes) return;
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

}  // namespace gdelta::cli
