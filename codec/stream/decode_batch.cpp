#include "codec/stream/decode_batch.h"

#include <algorithm>

namespace gdelta {

Result<void> DecodeBatch::add(BlockStream& blocks, const ChunkBlock& chunk) {
  const std::size_t at = blocks_.size();
  if (!blocks_.resize(at + chunk.head.size()))
    return tl::unexpected(
        Error{Errc::out_of_memory, "no memory for the head of a chunk", chunk.number, chunk.byte});
  std::copy(chunk.head.begin(), chunk.head.end(), blocks_.data() + at);
  if (auto read = blocks.read_payload(chunk, blocks_); !read) {
    (void)blocks_.resize(at);
    return read;
  }
  chunks_.push_back(
      {chunk.number, chunk.byte, at, blocks_.size() - at, chunk.decoded_bytes, chunk.layout});
  load_.add(chunk);
  return {};
}

Result<void> DecodeBatch::decode(SteadyBackend& backend, bool verify, ProgressMeter& progress) {
  if (!values_.resize(static_cast<std::size_t>(load_.decoded_bytes())))
    return fail(Errc::out_of_memory, "no memory for the decoded bytes of a batch of chunks");
  jobs_.resize(chunks_.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    const auto bytes = static_cast<std::size_t>(chunk.decoded_bytes);
    jobs_[i].block = std::as_const(blocks_).all().subspan(chunk.block_at, chunk.block_bytes);
    jobs_[i].byte = chunk.byte;
    jobs_[i].number = chunk.number;
    jobs_[i].layout = chunk.layout.get();
    jobs_[i].out = values_.all().subspan(at, bytes);
    at += bytes;
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
  return load.bytes() + unused(blocks_.capacity(), load.block_bytes()) +
         unused(values_.capacity(), load.decoded_bytes());
}

std::uint64_t DecodeBatch::held_bytes_with(const ChunkBlock& chunk) const {
  DecodeLoad more = load_;
  more.add(chunk);
  return held_bytes(more);
}

void DecodeBatch::clear(bool keep_memory) {
  load_ = DecodeLoad(threads_);
  chunks_.clear();
  jobs_.clear();
  blocks_.clear();
  values_.clear();
  if (keep_memory) return;
  chunks_.shrink_to_fit();
  jobs_.shrink_to_fit();
  blocks_.release();
  values_.release();
}

}  // namespace gdelta
