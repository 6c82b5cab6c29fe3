#include "codec/stream/walk/byte_input.h"

#include <algorithm>
#include <cstring>

namespace gdelta {

namespace {

constexpr std::size_t kSourceBufferBytes = 64 << 10;

}  // namespace

SourceInput::SourceInput(Source source) : source_(std::move(source)) {}

Result<std::size_t> SourceInput::read_some(std::span<std::byte> buffer) {
  auto got = source_(buffer);
  if (!got) return got;
  if (*got > buffer.size())
    return fail(Errc::invalid_argument, "the source returned more bytes than it was asked for");
  ended_ = *got == 0;
  return got;
}

Result<void> SourceInput::refill() {
  // Not filled with zeros: that would take longer than decoding a short stream.
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kSourceBufferBytes);
  auto got = read_some({buffer_.get(), kSourceBufferBytes});
  if (!got) return tl::unexpected(got.error());
  begin_ = 0;
  end_ = *got;
  return {};
}

Result<std::size_t> SourceInput::read(std::span<std::byte> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const auto rest = buffer.subspan(done);
    if (begin_ < end_) {
      const std::size_t count = std::min(rest.size(), end_ - begin_);
      std::memcpy(rest.data(), buffer_.get() + begin_, count);
      begin_ += count;
      done += count;
    } else if (ended_) {
      break;
    } else if (rest.size() >= kSourceBufferBytes) {
      auto got = read_some(rest);
      if (!got) return got;
      done += *got;
    } else {
      if (auto refilled = refill(); !refilled) return tl::unexpected(refilled.error());
    }
  }
  at_ += done;
  return done;
}

Result<std::uint64_t> SourceInput::skip(std::uint64_t bytes) {
  std::uint64_t done = 0;
  while (done < bytes) {
    if (begin_ < end_) {
      const std::uint64_t count = std::min<std::uint64_t>(bytes - done, end_ - begin_);
      begin_ += static_cast<std::size_t>(count);
      done += count;
    } else if (ended_) {
      break;
    } else {
      if (auto refilled = refill(); !refilled) return tl::unexpected(refilled.error());
    }
  }
  at_ += done;
  return done;
}

FileInput::FileInput(const ReadAt& read_at, std::uint64_t file_bytes)
    : read_at_(read_at), file_bytes_(file_bytes) {}

Result<std::size_t> FileInput::read(std::span<std::byte> buffer) {
  const std::uint64_t left = file_bytes_ - at_;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left));
  std::size_t done = 0;
  while (done < wanted) {
    const bool in_ahead = at_ >= ahead_at_ && at_ < ahead_at_ + ahead_bytes_;
    if (in_ahead) {
      const auto from = static_cast<std::size_t>(at_ - ahead_at_);
      const std::size_t count = std::min(wanted - done, ahead_bytes_ - from);
      std::memcpy(buffer.data() + done, ahead_ + from, count);
      at_ += count;
      done += count;
    } else if (wanted - done >= kLookAheadBytes) {
      auto got = read_fully(read_at_, at_, buffer.subspan(done, wanted - done));
      if (!got) return got;
      at_ += *got;
      done += *got;
      break;
    } else {
      ahead_bytes_ = 0;
      ahead_at_ = at_;
      const auto more = std::min<std::uint64_t>(kLookAheadBytes, file_bytes_ - at_);
      auto got = read_fully(read_at_, at_, std::span(ahead_).first(static_cast<std::size_t>(more)));
      if (!got) return got;
      ahead_bytes_ = *got;
      if (*got == 0) break;
    }
  }
  return done;
}

Result<std::uint64_t> FileInput::skip(std::uint64_t bytes) {
  const std::uint64_t count = std::min(bytes, file_bytes_ - at_);
  at_ += count;
  return count;
}

Result<std::size_t> read_fully(const ReadAt& read_at, std::uint64_t offset,
                               std::span<std::byte> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const auto rest = buffer.subspan(done);
    auto got = read_at(offset + done, rest);
    if (!got) return got;
    if (*got > rest.size())
      return fail(Errc::invalid_argument, "the file returned more bytes than it was asked for");
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

ReadAt read_from(std::span<const std::byte> bytes) {
  return [bytes](std::uint64_t offset, std::span<std::byte> buffer) -> Result<std::size_t> {
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count =
        std::min<std::size_t>(buffer.size(), bytes.size() - static_cast<std::size_t>(offset));
    if (count > 0) std::memcpy(buffer.data(), bytes.data() + offset, count);
    return count;
  };
}

}  // namespace gdelta
