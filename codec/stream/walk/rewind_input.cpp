#include "codec/stream/walk/rewind_input.h"

#include <algorithm>

#include "formats/gdelta/block_frame.h"

namespace gdelta {

namespace {

// A head of the longest kind with what frames it; an end block may be longer, and is then lost.
constexpr std::size_t kMostKept = format::kMaxHeadBytes + 4096;
constexpr std::size_t kReadAhead = 64 << 10;

}  // namespace

void RewindInput::restart(std::uint64_t at) {
  file_.emplace(*read_at_, file_bytes_);
  (void)file_->skip(at);
  input_ = &*file_;
  at_ = kept_at_ = file_->at();
  ended_ = false;
  kept_.clear();
}

void RewindInput::mark() {
  keeping_ = true;
  const auto passed = static_cast<std::ptrdiff_t>(std::min(at_, kept_end()) - kept_at_);
  // Only now and then, for the rest has to move.
  if (passed == 0 || static_cast<std::size_t>(passed) < kept_.size() / 2) return;
  kept_.erase(kept_.begin(), kept_.begin() + passed);
  kept_at_ += static_cast<std::uint64_t>(passed);
}

Result<std::size_t> RewindInput::read(std::span<std::byte> buffer) {
  std::size_t done = 0;
  if (at_ < kept_end()) {
    const auto from = static_cast<std::size_t>(at_ - kept_at_);
    done = std::min(buffer.size(), kept_.size() - from);
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(from), done, buffer.begin());
  }
  if (done < buffer.size()) {
    auto got = input_->read(buffer.subspan(done));
    if (!got) return got;
    if (keeping_ && kept_.size() + *got <= kMostKept) {
      const auto more = buffer.subspan(done, *got);
      kept_.insert(kept_.end(), more.begin(), more.end());
    } else {
      kept_.clear();
      kept_at_ = at_ + done + *got;
    }
    done += *got;
  }
  at_ += done;
  return done;
}

Result<std::uint64_t> RewindInput::skip(std::uint64_t bytes) {
  std::uint64_t done = std::min(bytes, kept_end() - at_);
  at_ += done;
  if (done == bytes) return done;
  auto skipped = input_->skip(bytes - done);
  if (!skipped) return skipped;
  at_ += *skipped;
  kept_.clear();
  kept_at_ = at_;
  return done + *skipped;
}

void RewindInput::go_to(std::uint64_t at) {
  const bool is_kept = at >= kept_at_ && at <= kept_end();
  if (!is_kept && is_file()) return restart(std::min(at, file_bytes_));
  at_ = std::clamp(at, kept_at_, kept_end());
}

Result<std::span<const std::byte>> RewindInput::peek(std::size_t bytes) {
  if (kept_end() - at_ < bytes && !ended_) {
    // What is behind is not needed any more while one looks ahead.
    const auto passed = static_cast<std::ptrdiff_t>(at_ - kept_at_);
    if (static_cast<std::size_t>(passed) > kept_.size() / 2) {
      kept_.erase(kept_.begin(), kept_.begin() + passed);
      kept_at_ = at_;
    }
    const std::size_t had = kept_.size();
    const std::size_t asked = std::max<std::size_t>(kReadAhead, at_ + bytes - kept_end());
    kept_.resize(had + asked);
    auto got = input_->read(std::span(kept_).subspan(had));
    kept_.resize(had + (got ? *got : 0));
    if (!got) return tl::unexpected(got.error());
    ended_ = *got < asked;
  }
  const auto there =
      std::span<const std::byte>(kept_).subspan(static_cast<std::size_t>(at_ - kept_at_));
  return there.first(std::min(bytes, there.size()));
}

}  // namespace gdelta
