// What a stream is handed to, part by part: a function, a vector, the caller's memory.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "codec/coders/host_copies.h"
#include "codec/stream/fresh_memory.h"
#include "gdelta/stream.h"

namespace gdelta {

class StreamSink {
 public:
  StreamSink() = default;
  StreamSink(const StreamSink&) = delete;
  StreamSink& operator=(const StreamSink&) = delete;
  virtual ~StreamSink() = default;

  /// About so many bytes will be put.
  virtual void expect(std::uint64_t /*bytes*/) {}
  virtual Result<void> put(std::span<const std::byte> bytes) = 0;
  /// Likewise of bytes that stay where they are until `settle` is called.
  virtual Result<void> put_lasting(std::span<const std::byte> bytes) { return put(bytes); }
  virtual void settle() {}
};

class FunctionSink final : public StreamSink {
 public:
  /// Does not own it.
  explicit FunctionSink(const Sink& sink) : sink_(sink) {}
  Result<void> put(std::span<const std::byte> bytes) override { return sink_(bytes); }

 private:
  const Sink& sink_;
};

/// A vector, which has room for what is expected.
class VectorSink final : public StreamSink {
 public:
  VectorSink(std::vector<std::byte>& out, int threads) : out_(out), threads_(threads) {}

  void expect(std::uint64_t bytes) override {
    const auto size = static_cast<std::size_t>(out_.size() + bytes);
    if (size <= out_.capacity()) return;
    if (reserve_if_possible(out_, size))
      populate(out_.data() + out_.size(), size - out_.size(), threads_);
  }
  Result<void> put(std::span<const std::byte> bytes) override {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    return {};
  }

 private:
  std::vector<std::byte>& out_;
  int threads_;
};

/// Memory of the caller's, to which many threads copy what lasts.
class RoomSink final : public StreamSink {
 public:
  RoomSink(std::span<std::byte> room, Workers& workers) : room_(room), workers_(workers) {}

  Result<void> put(std::span<const std::byte> bytes) override {
    auto to = take(bytes.size());
    if (!to) return tl::unexpected(std::move(to.error()));
    std::ranges::copy(bytes, *to);
    return {};
  }
  Result<void> put_lasting(std::span<const std::byte> bytes) override {
    auto to = take(bytes.size());
    if (!to) return tl::unexpected(std::move(to.error()));
    copies_.push_back({*to, bytes.data(), bytes.size()});
    return {};
  }
  void settle() override {
    run_host_copies(workers_, copies_);
    copies_.clear();
  }

  std::size_t used() const { return used_; }

 private:
  /// Where the next `bytes` go.
  Result<std::byte*> take(std::size_t bytes) {
    if (bytes > room_.size() - used_)
      return fail(Errc::output_too_small,
                  "the stream is longer than the room for it: compress_bound tells what is always "
                  "enough");
    std::byte* const to = room_.data() + used_;
    used_ += bytes;
    return to;
  }

  std::span<std::byte> room_;
  Workers& workers_;
  std::size_t used_ = 0;
  std::vector<HostCopy> copies_;
};

}  // namespace gdelta
