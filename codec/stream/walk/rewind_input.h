// An input that can go back: to what was read since a mark, or anywhere if it is a file.
#pragma once

#include <optional>
#include <vector>

#include "codec/stream/walk/byte_input.h"

namespace gdelta {

class RewindInput final : public ByteInput {
 public:
  /// Over bytes that come once; the longest head of a block can be taken back.
  explicit RewindInput(ByteInput& once) : input_(&once), at_(once.at()), kept_at_(at_) {}
  RewindInput(const ReadAt& read_at, std::uint64_t file_bytes)
      : read_at_(&read_at), file_bytes_(file_bytes) {
    restart(0);
  }

  RewindInput(const RewindInput&) = delete;
  RewindInput& operator=(const RewindInput&) = delete;

  Result<std::size_t> read(std::span<std::byte> buffer) override;
  Result<std::uint64_t> skip(std::uint64_t bytes) override;
  std::uint64_t at() const override { return at_; }

  /// From here on bytes are kept.
  void mark();
  /// From here on bytes are passed on and forgotten.
  void forget() { keeping_ = false; }
  /// Goes to a place since the mark, or as far back as bytes are kept; in a file to any place.
  void go_to(std::uint64_t at);
  /// Up to `bytes` bytes from here on, without passing them; fewer only at the end. Keeps them.
  Result<std::span<const std::byte>> peek(std::size_t bytes);
  bool is_file() const { return read_at_ != nullptr; }

 private:
  void restart(std::uint64_t at);
  std::uint64_t kept_end() const { return kept_at_ + kept_.size(); }

  const ReadAt* read_at_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::optional<FileInput> file_;
  ByteInput* input_ = nullptr;  // stands at the end of what is kept
  std::uint64_t at_ = 0;
  bool ended_ = false;  // nothing comes behind what is kept
  bool keeping_ = true;
  std::uint64_t kept_at_ = 0;
  std::vector<std::byte> kept_;
};

}  // namespace gdelta
