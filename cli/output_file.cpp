#include "output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "interrupt.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kMostBytesACall = std::size_t{1} << 30;

tl::unexpected<Error> fail_exists() {
  return fail(Errc::io_error, "exists already; -f overwrites it");
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// "dir/.name.1f3a…": hidden, beside the file it will become, so that a rename is enough. A long
/// name is cut, for the file system may allow no longer one.
std::string temporary_beside(const std::string& path, std::uint32_t number) {
  const std::size_t slash = path.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{:08x}", path.substr(0, base), path.substr(base, 200), number);
}

mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, bool overwrite,
                                      const InputFile& input) {
  OutputFile file;
  file.name_ = path;
  file.overwrite_ = overwrite;
  struct stat there = {};
  if (lstat(path.c_str(), &there) == 0) {
    struct stat target = {};
    if (stat(path.c_str(), &target) == 0) {
      if (S_ISDIR(target.st_mode)) return fail(Errc::io_error, "is a directory");
      if (S_ISREG(target.st_mode) && same_file(target, input.status()))
        return fail(Errc::io_error, "is the input itself");
      if (S_ISCHR(target.st_mode) || S_ISFIFO(target.st_mode)) {
        file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (file.fd_ < 0) return fail_errno();
        return file;
      }
      if (!S_ISREG(target.st_mode)) return fail(Errc::io_error, "is no regular file");
    }
    if (!overwrite) return fail_exists();
  }
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    file.temporary_ = temporary_beside(path, static_cast<std::uint32_t>(random()));
    remove_on_signal(file.temporary_);
    file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.fd_ >= 0) return file;
    keep_on_signal();
    file.temporary_.clear();
    if (errno != EEXIST) break;
  }
  return fail_errno();
}

OutputFile OutputFile::standard_output() {
  OutputFile file;
  file.name_ = "(stdout)";
  file.fd_ = STDOUT_FILENO;
  file.is_stdout_ = true;
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      is_stdout_(other.is_stdout_),
      overwrite_(other.overwrite_),
      failed_(other.failed_),
      pipe_closed_(other.pipe_closed_),
      bytes_written_(other.bytes_written_) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (fd_ >= 0 && !is_stdout_) close(fd_);
  fd_ = -1;
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  keep_on_signal();
  temporary_.clear();
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), std::min(bytes.size(), kMostBytesACall));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      failed_ = true;
      pipe_closed_ = errno == EPIPE;
      return fail_errno();
    }
    bytes_written_ += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

// What cannot be kept is left as the system made it; a group that cannot be given gets no more
// rights than the rest of the world had.
void OutputFile::copy_attributes(const InputFile& like) const {
  if (like.is_stdin() || !like.is_regular()) {
    (void)fchmod(fd_, default_mode());
    return;
  }
  const struct stat& from = like.status();
  mode_t mode = from.st_mode & 0777;
  if (fchown(fd_, static_cast<uid_t>(-1), from.st_gid) != 0) {
    const mode_t both = ((mode & 0070) >> 3) & (mode & 0007);
    mode = (mode & 0700) | (both << 3) | both;
  }
  if (fchown(fd_, from.st_uid, static_cast<gid_t>(-1)) != 0) errno = 0;
  (void)fchmod(fd_, mode);
  const struct timespec times[2] = {from.st_atim, from.st_mtim};
  (void)futimens(fd_, times);
}

Result<void> OutputFile::put_in_place() {
  if (overwrite_)
    return rename(temporary_.c_str(), name_.c_str()) == 0 ? Result<void>() : fail_errno();
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, name_.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  if (errno == EEXIST) return fail_exists();
  if (errno != EINVAL && errno != ENOSYS) return fail_errno();
  // A file system without RENAME_NOREPLACE: look, then rename.
  struct stat there = {};
  if (lstat(name_.c_str(), &there) == 0) return fail_exists();
  return rename(temporary_.c_str(), name_.c_str()) == 0 ? Result<void>() : fail_errno();
}

Result<void> OutputFile::commit(const InputFile& like, bool durable) {
  if (is_stdout_) return {};
  const bool in_place = temporary_.empty();
  if (!in_place) copy_attributes(like);
  if (!in_place && durable && fsync(fd_) != 0) return fail_errno();
  if (close(std::exchange(fd_, -1)) != 0) return fail_errno();
  if (in_place) return {};
  if (auto placed = put_in_place(); !placed) return placed;
  keep_on_signal();
  temporary_.clear();
  return {};
}

}  // namespace gdelta::cli
