#include "output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "temporary_name.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kHoleBytes = 4096;  // what file systems give or leave out

tl::unexpected<Error> fail_exists() {
  return fail(Errc::io_error, "exists already; -f overwrites it");
}

tl::unexpected<Error> fail_is_input() { return fail(Errc::io_error, "is the input itself"); }

/// Where the name of a file stands.
std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
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
      if (S_ISREG(target.st_mode) && is_same_file(target, input.status())) return fail_is_input();
      if (S_ISCHR(target.st_mode) || S_ISFIFO(target.st_mode)) {
        file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (file.fd_ < 0) return fail_errno();
        return file;
      }
      if (!S_ISREG(target.st_mode)) return fail(Errc::io_error, "is no regular file");
    }
    if (!overwrite) return fail_exists();
  }
  remove_leftovers(path);
  if (auto created = file.create_temporary(); !created) return tl::unexpected(created.error());
  return file;
}

/// The file is locked as long as it is open, which tells other processes that it is no leftover.
Result<void> OutputFile::create_temporary() {
  constexpr int kMostAttempts = 100;
  std::random_device random;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    temporary_ = temporary_name(name_, static_cast<std::uint32_t>(random()));
    remove_on_signal(temporary_);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ >= 0 && lock_temporary(fd_)) return {};
    const int reason = errno;
    if (fd_ >= 0) {
      unlink(temporary_.c_str());
      close(std::exchange(fd_, -1));
    }
    keep_on_signal();
    temporary_.clear();
    errno = reason;
    if (errno != EEXIST && errno != EWOULDBLOCK) break;
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

Result<OutputFile> OutputFile::standard_output(const InputFile& input) {
  struct stat there = {};
  if (input.is_regular() && fstat(STDOUT_FILENO, &there) == 0 &&
      is_same_file(there, input.status()))
    return fail_is_input();
  return standard_output();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      is_stdout_(other.is_stdout_),
      overwrite_(other.overwrite_),
      failed_(other.failed_),
      pipe_closed_(other.pipe_closed_),
      sparse_(other.sparse_),
      bytes_written_(other.bytes_written_),
      skipped_at_end_(other.skipped_at_end_) {}

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
  return sparse_ ? write_sparsely(bytes) : write_through(bytes);
}

/// Leaves out the blocks of the file that are zero. A block that came in two parts is written.
Result<void> OutputFile::write_sparsely(std::span<const std::byte> bytes) {
  std::size_t pending = 0;  // not yet written, at the front of `bytes`
  while (pending < bytes.size()) {
    const auto to_edge =
        static_cast<std::size_t>(kHoleBytes - (bytes_written_ + pending) % kHoleBytes);
    const std::size_t count = std::min(to_edge, bytes.size() - pending);
    if (count < kHoleBytes || !is_zero(bytes.subspan(pending, count))) {
      pending += count;
      continue;
    }
    if (auto put = write_through(bytes.first(pending)); !put) return put;
    skipped_at_end_ += count;
    bytes_written_ += count;
    bytes = bytes.subspan(pending + count);
    pending = 0;
  }
  return write_through(bytes);
}

Result<void> OutputFile::write_through(std::span<const std::byte> bytes) {
  if (!bytes.empty() && skipped_at_end_ > 0) {
    if (lseek(fd_, static_cast<off_t>(bytes_written_), SEEK_SET) < 0) return fail_errno();
    skipped_at_end_ = 0;
  }
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

bool takes_place_of(const std::string& path, const OutputFile& output) {
  namespace fs = std::filesystem;
  struct stat there = {};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && S_ISCHR(there.st_mode)) return false;
  struct stat other = {};
  if (output.is_stdout())
    return exists && fstat(STDOUT_FILENO, &other) == 0 && is_same_file(there, other);
  if (exists && S_ISFIFO(there.st_mode) && stat(output.name().c_str(), &other) == 0)
    return is_same_file(there, other);
  std::error_code error;
  const fs::path a = path, b = output.name();
  return a.filename() == b.filename() && fs::equivalent(folder_of(a), folder_of(b), error);
}

Result<void> OutputFile::commit(const InputFile& like, bool durable) {
  if (is_stdout_) return {};
  const bool in_place = temporary_.empty();
  if (skipped_at_end_ > 0 && ftruncate(fd_, static_cast<off_t>(bytes_written_)) != 0)
    return fail_errno();
  if (!in_place) copy_attributes(like);
  if (!in_place && durable && fsync(fd_) != 0) return fail_errno();
  // The lock stays until the file has its name: another process must not take it for a leftover.
  const int lock = in_place ? -1 : dup(fd_);
  Result<void> placed;
  if (close(std::exchange(fd_, -1)) != 0) {
    placed = fail_errno();
  } else if (!in_place) {
    placed = put_in_place();
  }
  if (lock >= 0) close(lock);
  if (!placed || in_place) return placed;
  keep_on_signal();
  temporary_.clear();
  return {};
}

}  // namespace gdelta::cli
