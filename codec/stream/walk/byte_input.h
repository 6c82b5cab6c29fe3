// Bytes read one after the other, from a source or from a file that can be read anywhere.
#pragma once

#include <memory>

#include "gdelta/stream.h"

namespace gdelta {

class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// Fills the buffer; returns fewer bytes only at the end.
  virtual Result<std::size_t> read(std::span<std::byte> buffer) = 0;
  /// Passes over bytes; returns how many there were, fewer only at the end.
  virtual Result<std::uint64_t> skip(std::uint64_t bytes) = 0;
  /// Offset of the next byte.
  virtual std::uint64_t at() const = 0;
};

/// Reads from a source. Small reads are served from a buffer, large ones go straight to their place.
class SourceInput final : public ByteInput {
 public:
  explicit SourceInput(Source source);
  Result<std::size_t> read(std::span<std::byte> buffer) override;
  Result<std::uint64_t> skip(std::uint64_t bytes) override;
  std::uint64_t at() const override { return at_; }

 private:
  Result<std::size_t> read_some(std::span<std::byte> buffer);
  Result<void> refill();

  Source source_;
  std::unique_ptr<std::byte[]> buffer_;  // none before the first refill
  std::size_t begin_ = 0;                // of what is left in the buffer
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t at_ = 0;
};

/// Reads from a file that can be read anywhere: skipping reads nothing.
class FileInput final : public ByteInput {
 public:
  FileInput(const ReadAt& read_at, std::uint64_t file_bytes);
  Result<std::size_t> read(std::span<std::byte> buffer) override;
  Result<std::uint64_t> skip(std::uint64_t bytes) override;
  std::uint64_t at() const override { return at_; }

 private:
  const ReadAt& read_at_;
  std::uint64_t file_bytes_;
  std::uint64_t at_ = 0;
  // Holds the head of a common chunk, so that walking over blocks is one read a block.
  static constexpr std::size_t kLookAheadBytes = 512;
  std::byte ahead_[kLookAheadBytes];  // read already, from ahead_at_ on
  std::size_t ahead_bytes_ = 0;
  std::uint64_t ahead_at_ = 0;
};

/// Reads at an offset until the buffer is full or the file ends.
Result<std::size_t> read_fully(const ReadAt& read_at, std::uint64_t offset,
                               std::span<std::byte> buffer);

/// Reads memory as a file.
ReadAt read_from(std::span<const std::byte> bytes);

}  // namespace gdelta
