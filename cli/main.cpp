// gdelta: the command. Finds the subcommand; the rest is in the file of its name.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "console.h"
#include "gdelta/codec.h"
#include "interrupt.h"

namespace gdelta::cli {
namespace {

constexpr std::string_view kHelp =
    R"(gdelta compresses streams of numbers without losing a bit, on the CPU and on the GPU.

Usage: gdelta COMMAND [OPTION...] [FILE...]

Commands
  compress     make FILE.gdz from FILE
  decompress   make FILE from FILE.gdz (short: gdelta -d)
  test         check that files decode
  list         show what files hold
  cat          write a part of a file to stdout
  bench        measure size, speed and memory on files
  devices      list the devices there are

  gdelta COMMAND --help tells more about one of them; gdelta --version names the version.

Examples
  gdelta compress recording.wav              make recording.wav.gdz, keep recording.wav
  gdelta compress --type f32 --tuple 3 a.bin  say what the numbers are
  gdelta decompress recording.wav.gdz        the same bytes again
  sensor | gdelta compress -1 > log.gdz      as part of a pipe
  gdelta cat --range 1M:2M log.gdz           the second MiB, without decoding the rest

Without FILE, or where FILE is -, compress and decompress read stdin and write stdout.
Exit status: 0 all is well, 1 something failed, 2 there was a warning.
)";

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Command kCommands[] = {
    {"compress", compress_command}, {"decompress", decompress_command},
    {"-d", decompress_command},     {"test", test_command},
    {"list", list_command},         {"cat", cat_command},
    {"bench", bench_command},       {"devices", devices_command},
};

/// A file opened later must not become stdin, stdout or stderr because the caller closed those. What
/// is written to a closed stdout fails: it is opened for reading.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

int print_to_stdout(std::string_view text) {
  fmt::print("{}", text);
  return std::fflush(stdout) == 0 ? kExitOk : kExitError;
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", kHelp);
    return kExitError;
  }
  std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "help" && !arguments.empty()) {
    name = arguments.front();
    arguments = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") return print_to_stdout(kHelp);
  if (name == "--version" || name == "-V")
    return print_to_stdout(fmt::format("gdelta {}\n", library_version()));
  for (const Command& command : kCommands)
    if (name == command.name) return command.run(arguments);
  fmt::print(stderr, "gdelta: there is no command '{}'\nTry 'gdelta --help'.\n", printable(name));
  return kExitError;
}

}  // namespace
}  // namespace gdelta::cli

int main(int argc, char** argv) {
  using namespace gdelta::cli;
  occupy_standard_descriptors();
  handle_signals();
  try {
    return dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "gdelta: the machine has no memory left for this\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "gdelta: {}\n", error.what());
  }
  return kExitError;
}
