#include "input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace gdelta::cli {

namespace {

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

tl::unexpected<Error> fail_errno() {
  return fail(Errc::io_error, std::generic_category().message(errno));
}

Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file;
  file.is_stdin_ = path == "-";
  file.name_ = file.is_stdin_ ? "(stdin)" : path;
  file.fd_ = file.is_stdin_ ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file.fd_ < 0 || fstat(file.fd_, &file.status_) != 0) return fail_errno();
  if (S_ISDIR(file.status_.st_mode))
    return fail(Errc::io_error, "is a directory; name the files in it");
  if (file.is_regular() && file.is_stdin_)
    file.start_ = static_cast<std::uint64_t>(std::max<off_t>(lseek(file.fd_, 0, SEEK_CUR), 0));
  if (file.is_regular()) posix_fadvise(file.fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      is_stdin_(other.is_stdin_),
      status_(other.status_),
      start_(other.start_),
      bytes_read_(other.bytes_read_) {}

InputFile::~InputFile() {
  if (fd_ >= 0 && !is_stdin_) close(fd_);
}

bool InputFile::is_terminal() const { return isatty(fd_) == 1; }

std::uint64_t InputFile::size() const {
  const auto bytes = static_cast<std::uint64_t>(std::max<off_t>(status_.st_size, 0));
  return bytes - std::min(bytes, start_);
}

std::optional<std::uint64_t> InputFile::bytes_left() const {
  if (!is_regular() || status_.st_size <= 0) return std::nullopt;
  const off_t at = lseek(fd_, 0, SEEK_CUR);
  if (at < 0 || at >= status_.st_size) return std::nullopt;
  return static_cast<std::uint64_t>(status_.st_size - at);
}

Result<std::size_t> InputFile::read(std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t got = ::read(fd_, buffer.data(), std::min(buffer.size(), kMostBytesACall));
    if (got >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) return fail_errno();
  }
}

std::uint64_t InputFile::position() const {
  return static_cast<std::uint64_t>(lseek(fd_, 0, SEEK_CUR)) - start_;
}

void InputFile::pass(std::uint64_t bytes) {
  lseek(fd_, static_cast<off_t>(bytes), SEEK_CUR);
  bytes_read_ += bytes;
}

bool InputFile::has_changed() const {
  struct stat now = {};
  if (fstat(fd_, &now) != 0) return true;
  return now.st_size != status_.st_size || bytes_read_ != static_cast<std::uint64_t>(now.st_size) ||
         !same_time(now.st_mtim, status_.st_mtim) || !same_time(now.st_ctim, status_.st_ctim);
}

// A read lease is given only while nobody has the file open for writing.
bool InputFile::is_being_written() const {
  if (fcntl(fd_, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  fcntl(fd_, F_SETLEASE, F_UNLCK);
  return false;
}

ReadAt InputFile::reader_at() const {
  return [fd = fd_, start = start_](std::uint64_t offset,
                                    std::span<std::byte> buffer) -> Result<std::size_t> {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t got =
          pread(fd, buffer.data() + done, std::min(buffer.size() - done, kMostBytesACall),
                static_cast<off_t>(start + offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail_errno();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  };
}

}  // namespace gdelta::cli
