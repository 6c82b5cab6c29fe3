// A file to read from, or stdin.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gdelta/error.h"
#include "gdelta/stream.h"

namespace gdelta::cli {

/// What a system call is asked to read or write at most.
inline constexpr std::size_t kMostBytesACall = std::size_t{1} << 30;

class InputFile {
 public:
  /// Opens `path`; "-" is stdin. Waits at a FIFO until somebody writes.
  /// Errors      io_error: missing, unreadable, a directory
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  /// What messages call it: the path, or "(stdin)".
  const std::string& name() const { return name_; }
  bool is_stdin() const { return is_stdin_; }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_terminal() const;
  const struct stat& status() const { return status_; }
  /// Bytes of a regular file from where it stood when it was opened: stdin may stand behind its front. Positions are
  /// counted from there.
  std::uint64_t size() const;
  /// Bytes from here to the end if that is known: for regular files that are not empty (files
  /// such as those in /proc say 0 and have content).
  std::optional<std::uint64_t> bytes_left() const;

  /// Errors      io_error
  Result<std::size_t> read(std::span<std::byte> buffer);
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// Where a regular file is read next.
  std::uint64_t position() const;
  /// So many bytes of a regular file have been read otherwise.
  void pass(std::uint64_t bytes);
  /// Whether a regular file is no longer what it was when it was opened, or was not read wholly.
  bool has_changed() const;
  /// Whether anybody has the file open for writing, as far as the system tells.
  bool is_being_written() const;
  /// Reads a regular file anywhere. The file must outlive the function.
  ReadAt reader_at() const;

 private:
  InputFile() = default;
  std::string name_;
  int fd_ = -1;
  bool is_stdin_ = false;
  struct stat status_ = {};
  std::uint64_t start_ = 0;  // where stdin stood
  std::uint64_t bytes_read_ = 0;
};

/// Whether both are of one file.
bool is_same_file(const struct stat& a, const struct stat& b);

/// The system's sentence for errno, as an error.
tl::unexpected<Error> fail_errno();

}  // namespace gdelta::cli
