#include "codec/stream/decode_batch.h"

#include <algorithm>

namespace gdelta {

Result<void> DecodeBatch::add(BlockStream& blocks, ChunkBlock&& chunk) {
  const std::size_t at = blocks_.size();
  if (!blocks_.resize(at + chunk.head.size()))
    return tl::unexpected(Error{.code = Errc::out_of_memory,
                                .message = "no memory for the head of a chunk",
                                .chunk = chunk.number,
                                .byte = chunk.byte});
  std::copy(chunk.head.begin(), chunk.head.end(), blocks_.data() + at);
  if (auto read = blocks.read_payload(chunk, blocks_); !read) {
    (void)blocks_.resize(at);
    return read;
  }
  add_job(std::move(chunk));
  return {};
}

void DecodeBatch::add(ChunkBlock&& chunk, std::span<const std::byte> block,
                      std::span<std::byte> out) {
  add_job(std::move(chunk));
  jobs_.back().block = block;
  jobs_.back().out = out;
}

void DecodeBatch::add_job(ChunkBlock&& chunk) {
  load_.add(chunk);
  DecodeJob& job = jobs_.emplace_back();
  job.byte = chunk.byte;
  job.number = chunk.number;
  job.layout = chunk.layout.get();
  job.parsed = std::move(chunk.parsed);
  layouts_.push_back(std::move(chunk.layout));
}

void DecodeBatch::spread_within(std::uint64_t bytes) {
  spread_ = false;
  spread_ = held_bytes() + load_.spread_bytes() <= bytes;
}

Result<void> DecodeBatch::decode(SteadyBackend& backend, bool verify, ProgressMeter& progress) {
  const bool holds_values = blocks_.size() > 0;
  if (holds_values && !values_.resize(static_cast<std::size_t>(load_.decoded_bytes())))
    return fail(Errc::out_of_memory, "no memory for the decoded bytes of a batch of chunks");
  std::size_t block_at = 0, value_at = 0;
  for (DecodeJob& job : jobs_) {
    job.alone = !spread_;
    if (!holds_values) continue;
    job.block = std::as_const(blocks_).all().subspan(
        block_at, static_cast<std::size_t>(job.parsed.frame.block_bytes()));
    job.out = values_.all().subspan(
        value_at, static_cast<std::size_t>(job.parsed.records * job.layout->record_bytes()));
    block_at += job.block.size();
    value_at += job.out.size();
  }
  return backend.decode(jobs_, verify, progress);
}

std::size_t DecodeBatch::good_chunks() const {
  const auto failed = std::find_if(jobs_.begin(), jobs_.end(),
                                   [](const DecodeJob& job) { return job.error.has_value(); });
  return static_cast<std::size_t>(failed - jobs_.begin());
}

std::span<const std::byte> DecodeBatch::good_values() const {
  std::size_t bytes = 0;
  for (const DecodeJob& job : std::span(jobs_).first(good_chunks())) bytes += job.out.size();
  return values_.all().first(bytes);
}

std::uint64_t DecodeBatch::held_bytes(const DecodeLoad& load) const {
  const auto unused = [](std::uint64_t capacity, std::uint64_t used) {
    return capacity > used ? capacity - used : 0;
  };
  return load.bytes() + (spread_ ? load.spread_bytes() : 0) +
         unused(blocks_.capacity(), load.block_bytes()) +
         unused(values_.capacity(), load.decoded_bytes());
}

std::uint64_t DecodeBatch::held_bytes_with(const ChunkBlock& chunk) const {
  DecodeLoad more = load_;
  more.add(chunk);
  return held_bytes(more);
}

std::uint64_t DecodeBatch::work_bytes_with(const ChunkBlock& chunk) const {
  DecodeLoad more = load_;
  more.add(chunk);
  return more.work_bytes();
}

void DecodeBatch::clear(bool keep_memory) {
  load_ = DecodeLoad(threads_);
  jobs_.clear();
  layouts_.clear();
  spread_ = false;
  blocks_.clear();
  values_.clear();
  if (keep_memory) return;
  jobs_.shrink_to_fit();
  layouts_.shrink_to_fit();
  blocks_.release();
  values_.release();
}

}  // namespace gdelta
