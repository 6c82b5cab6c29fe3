#include "temporary_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>

namespace gdelta::cli {

namespace {

constexpr std::string_view kPartSuffix = ".gdelta-part";
constexpr std::size_t kNumberDigits = 8;
// A longer name is cut, for the file system may allow no longer one.
constexpr std::size_t kMostNameBytes = 200;

/// "dir/" and "name", or "" and "name".
struct SplitPath {
  explicit SplitPath(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    folder = path.substr(0, base);
    name = path.substr(base);
  }
  std::string folder;
  std::string name;
};

/// The name that `temporary` was made from; empty if it is none.
std::string_view name_within(std::string_view temporary) {
  constexpr std::size_t kAround = 1 + 1 + kNumberDigits + kPartSuffix.size();
  if (temporary.size() <= kAround || temporary[0] != '.' || !temporary.ends_with(kPartSuffix))
    return {};
  const std::size_t dot = temporary.size() - kPartSuffix.size() - kNumberDigits - 1;
  const std::string_view number = temporary.substr(dot + 1, kNumberDigits);
  const bool digits = number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return digits && temporary[dot] == '.' ? temporary.substr(1, dot - 1) : std::string_view();
}

using Leftovers = std::multimap<std::string, std::string, std::less<>>;  // name, temporary name

Leftovers find_leftovers(const std::string& folder) {
  Leftovers found;
  DIR* listing = opendir(folder.empty() ? "." : folder.c_str());
  if (listing == nullptr) return found;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = name_within(entry->d_name);
    if (!name.empty()) found.emplace(name, entry->d_name);
  }
  closedir(listing);
  return found;
}

/// Removes `path` if it is a file of this user that no process has locked. Looked at through the
/// descriptor that holds the lock, for the name may get another file at any time.
void remove_if_dead(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat file = {};
  struct stat named = {};
  const bool dead = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                    file.st_nlink == 1 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                    lstat(path.c_str(), &named) == 0 && named.st_dev == file.st_dev &&
                    named.st_ino == file.st_ino;
  if (dead) unlink(path.c_str());
  close(fd);
}

}  // namespace

std::string temporary_name(const std::string& path, std::uint32_t number) {
  const SplitPath split(path);
  return fmt::format("{}.{}.{:08x}{}", split.folder, split.name.substr(0, kMostNameBytes), number,
                     kPartSuffix);
}

bool is_temporary_name(std::string_view name) { return !name_within(name).empty(); }

bool lock_temporary(int fd) {
  struct stat status = {};
  // A file system without locks has no leftovers either, for nobody can tell them.
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  if (fstat(fd, &status) != 0 || status.st_nlink > 0) return true;
  errno = EWOULDBLOCK;
  return false;
}

void remove_leftovers(const std::string& path) {
  static std::map<std::string, Leftovers> folders;
  const SplitPath split(path);
  if (split.name.size() >= kMostNameBytes) return;  // could be the temporary file of another name
  auto folder = folders.find(split.folder);
  if (folder == folders.end())
    folder = folders.emplace(split.folder, find_leftovers(split.folder)).first;
  const auto [first, last] = folder->second.equal_range(split.name);
  for (auto leftover = first; leftover != last; ++leftover)
    remove_if_dead(split.folder + leftover->second);
  folder->second.erase(first, last);
}

}  // namespace gdelta::cli
