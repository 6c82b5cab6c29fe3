// A file that appears only when it is complete, or stdout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gdelta/error.h"
#include "input_file.h"

namespace gdelta::cli {

/// Writes to a temporary file beside `path`, which commit() renames; without it everything is as it
/// was. Devices and FIFOs that are there already are written in place. Temporary files for `path`
/// that killed processes left are removed first.
class OutputFile {
 public:
  /// Errors      io_error: `path` exists and may not be overwritten, is the input itself, or cannot
  /// be made
  static Result<OutputFile> create(const std::string& path, bool overwrite, const InputFile& input);
  static OutputFile standard_output();
  /// Errors      io_error: it is the input itself, which would then grow while it is read
  static Result<OutputFile> standard_output(const InputFile& input);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  const std::string& name() const { return name_; }
  bool is_stdout() const { return is_stdout_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

  /// Lets long stretches of zeros take no room on the disk, if the file is a new one.
  void make_sparse() { sparse_ = !temporary_.empty(); }
  /// Errors      io_error; failed() holds afterwards
  Result<void> write(std::span<const std::byte> bytes);
  bool failed() const { return failed_; }
  /// Nobody reads the pipe any more.
  bool pipe_closed() const { return pipe_closed_; }

  /// Makes the file appear under its name, with the mode, owner and times of `like` if that is a
  /// regular file. `durable`: not before the disk has it, so that the input may be removed.
  Result<void> commit(const InputFile& like, bool durable);

 private:
  OutputFile() = default;
  Result<void> create_temporary();
  Result<void> write_through(std::span<const std::byte> bytes);
  Result<void> write_sparsely(std::span<const std::byte> bytes);
  void copy_attributes(const InputFile& like) const;
  Result<void> put_in_place();
  void discard();

  std::string name_;
  std::string temporary_;  // empty: written in place
  int fd_ = -1;
  bool is_stdout_ = false;
  bool overwrite_ = false;
  bool failed_ = false;
  bool pipe_closed_ = false;
  bool sparse_ = false;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t skipped_at_end_ = 0;  // zeros that the file does not reach to yet
};

/// Whether a file made as `path` would take the place of `output`, or both write into one FIFO.
bool takes_place_of(const std::string& path, const OutputFile& output);

}  // namespace gdelta::cli
