// gdelta: the command. Finds the subcommand or the habit; the rest is in the file of its name.
#include <fcntl.h>
#include <fmt/core.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "console.h"
#include "habits.h"
#include "interrupt.h"
#include "similar_word.h"
#include "transfer_arguments.h"

namespace gdelta::cli {
namespace {

constexpr std::string_view kHelp =
    R"(gdelta compresses streams of numbers without losing a bit, on the CPU and on the GPU.

Usage: gdelta COMMAND [OPTION...] [FILE...]

Commands
  compress     make FILE.gdz from FILE
  decompress   make FILE from FILE.gdz
  test         check that files decode
  list         show what files hold
  cat          write a part of a file to stdout
  bench        measure size, speed and memory on files
  devices      list the devices there are
  help         tell more about a command

  gdelta COMMAND --help tells more about one of them; gdelta --version (-V) names the version.

Without COMMAND, as other compressors have it
  gdelta FILE...                   compress; decompress where all FILEs end in .gdz
  gdelta -z, -d, -t, -l            compress, decompress, test, list; anywhere among the options
  ungdelta FILE..., gdcat FILE...  decompress; decompress to stdout
  tar -I gdelta -cf a.tar.gdz DIR  and tar -I gdelta -xf a.tar.gdz
  A FILE that is called like a command is written ./FILE.

Examples
  gdelta compress recording.wav              make recording.wav.gdz, keep recording.wav
  gdelta compress --type f32 --tuple 3 a.bin  say what the numbers are
  gdelta decompress recording.wav.gdz        the same bytes again
  sensor | gdelta compress -1 > log.gdz      as part of a pipe
  gdelta cat --range 1M:2M log.gdz           the second MiB, without decoding the rest

Without FILE, or where FILE is -, compress and decompress read stdin and write stdout.
GDELTA_LEVEL (1 to 9) and GDELTA_THREADS in the environment are defaults for -1 to -9 and -T.
Exit status: 0 all is well, 1 something failed, 2 there was a warning.
)";

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Command kCommands[] = {
    {"compress", compress_command}, {"decompress", decompress_command},
    {"test", test_command},         {"list", list_command},
    {"cat", cat_command},           {"bench", bench_command},
    {"devices", devices_command},
};

/// A file opened later must not become stdin, stdout or stderr because the caller closed those. What
/// is written to a closed stdout fails: it is opened for reading.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/// What one chunk gives back serves the next one. Otherwise the C library returns it to the system, and getting it again
/// takes up to an eighth of the time of coding.
void keep_memory_of_chunks() {
#ifdef __GLIBC__
  constexpr int kMostKept = 8 << 20,
                kLongBlock = 4 << 20;  // bytes: as much as a chunk of 1 MiB takes
  mallopt(M_TRIM_THRESHOLD, kMostKept);
  mallopt(M_MMAP_THRESHOLD, kLongBlock);
#endif
}

int complain(std::string_view sentence) {
  print_to_stderr(fmt::format("gdelta: {}\nTry 'gdelta --help'.\n", sentence));
  return kExitError;
}

bool is_there(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0;
}

/// A first word that is no option and no file was meant to be a command.
std::optional<std::string> misspelt_command(const std::string& word) {
  const bool letters = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
  if (word.empty() || !letters || is_command(word) || is_there(word)) return std::nullopt;
  const std::string sentence = fmt::format("there is no command and no file '{}'", printable(word));
  const auto meant = similar_word(word, command_names());
  return meant ? sentence + fmt::format("; did you mean 'gdelta {}'?", *meant) : sentence;
}

int run_command(std::string_view name, const std::vector<std::string>& arguments) {
  const auto* command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [name](const Command& known) { return known.name == name; });
  return command->run(arguments);
}

/// Compresses or decompresses, as the suffixes of the files say.
int run_unnamed(const std::vector<std::string>& arguments) {
  switch (suffixes_of(arguments)) {
    case Suffixes::none:
      return compress_command(arguments);
    case Suffixes::all:
      return decompress_command(arguments);
    case Suffixes::some:
      break;
  }
  return complain("some of the files end in .gdz and some do not; -z compresses, -d decompresses");
}

int dispatch(std::string_view program, std::vector<std::string> arguments) {
  Call call = understand(program, arguments);
  if (arguments.empty() && !call.named && isatty(STDIN_FILENO) == 1) {
    print_to_stderr(kHelp);
    return kExitError;
  }
  const std::string first = arguments.empty() ? std::string() : arguments.front();
  if (call.named) return run_command(call.command, call.arguments);
  const auto asks_for_help = [](std::string_view word) {
    return word == "help" || word == "--help" || word == "-h";
  };
  if (first == "help" && arguments.size() > 1 && !asks_for_help(arguments[1])) {
    if (is_command(arguments[1])) return run_command(arguments[1], {"--help"});
    return complain(misspelt_command(arguments[1]).value_or("there is no such command"));
  }
  if (asks_for_help(first)) return print_to_stdout(kHelp);
  if (first == "--version" || first == "-V") return print_to_stdout(version_text());
  if (const auto problem = misspelt_command(first)) return complain(*problem);
  return run_unnamed(call.arguments);
}

/// Runs the command and says what was thrown.
int guarded(std::string_view program, const std::vector<std::string>& arguments) {
  try {
    return dispatch(program, arguments);
  } catch (const std::bad_alloc&) {
    print_to_stderr("gdelta: the machine has no memory left for this\n");
  } catch (const std::exception& error) {
    print_to_stderr(fmt::format("gdelta: {}\n", error.what()));
  }
  return kExitError;
}

}  // namespace
}  // namespace gdelta::cli

int main(int argc, char** argv) {
  using namespace gdelta::cli;
  keep_memory_of_chunks();
  occupy_standard_descriptors();
  handle_signals();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int status = guarded(argc > 0 ? argv[0] : "gdelta", arguments);
  if (status != kExitClosedPipe) return status;
  end_by_closed_pipe();
  return kExitError;
}
