#include "decode_batch.h"

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
  decoded_bytes_ += chunk.decoded_bytes;
  return {};
}

Result<void> DecodeBatch::decode(SteadyBackend& backend, bool verify, ProgressMeter& progress) {
  if (!values_.resize(static_cast<std::size_t>(decoded_bytes_)))
    return fail(Errc::out_of_memory, "no memory for the decoded bytes of a batch of chunks");
  std::vector<DecodeJob> jobs(chunks_.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    const auto bytes = static_cast<std::size_t>(chunk.decoded_bytes);
    jobs[i].block = std::as_const(blocks_).all().subspan(chunk.block_at, chunk.block_bytes);
    jobs[i].byte = chunk.byte;
    jobs[i].number = chunk.number;
    jobs[i].layout = chunk.layout.get();
    jobs[i].out = values_.all().subspan(at, bytes);
    at += bytes;
  }
  if (auto decoded = backend.decode(jobs, verify, progress); !decoded) return decoded;
  for (DecodeJob& job : jobs) {
    if (job.error) {
      error_ = std::move(job.error);
      break;
    }
    ++good_chunks_;
    good_bytes_ += job.out.size();
  }
  return {};
}

void DecodeBatch::clear(bool keep_memory) {
  chunks_.clear();
  blocks_.clear();
  values_.clear();
  if (!keep_memory) {
    blocks_ = {};
    values_ = {};
  }
  decoded_bytes_ = 0;
  good_chunks_ = 0;
  good_bytes_ = 0;
  error_.reset();
}

}  // namespace gdelta
