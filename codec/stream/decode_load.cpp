#include "codec/stream/decode_load.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/backend/backend.h"
#include "codec/stream/walk/memory_words.h"

namespace gdelta {

namespace {

// A job with its error, what a batch keeps of a chunk, and room that their vectors leave unused.
constexpr std::uint64_t kNotesOfAChunk = 3 * sizeof(DecodeJob) + 256;

}  // namespace

Error chunk_over_limit(std::uint64_t number, std::uint64_t byte, std::uint64_t needed,
                       std::uint64_t limit) {
  return {.code = Errc::memory_limit,
          .message = fmt::format(
              "decoding this chunk takes {}, more than the memory limit of {}: raise the limit",
              needed_memory(needed), allowed_memory(limit)),
          .chunk = number,
          .byte = byte};
}

Error output_over_limit(std::uint64_t limit) {
  return {
      .code = Errc::output_limit,
      .message = fmt::format(
          "the output has more than the {} bytes allowed: raise the limit on the output", limit),
      .chunk = std::nullopt,
      .byte = std::nullopt};
}

void DecodeLoad::add(const ChunkBlock& chunk) {
  ++chunks_;
  block_bytes_ += chunk.block_bytes();
  decoded_bytes_ += chunk.decoded_bytes;
  // The head is there twice until the next one is read.
  notes_bytes_ += kNotesOfAChunk + (chunks_ == 1 ? chunk.head.size() : 0);
  if (chunk.layout.get() != last_layout_)
    notes_bytes_ += chunk.layout->columns.size() * sizeof(Column);
  last_layout_ = chunk.layout.get();
  notes_bytes_ += parsed_chunk_bytes(*chunk.layout) + lengths_bytes(chunk.parsed);
  scratch_.cover(chunk.scratch);
}

bool DecodeLoad::is_full_for(const ChunkBlock& chunk, std::uint64_t batch_bytes) const {
  return chunks_ > 0 && (decoded_bytes_ + chunk.decoded_bytes > batch_bytes ||
                         chunks_ >= kMostChunksOfABatch || notes_bytes_ >= kMostNotesOfABatch);
}

std::uint64_t DecodeLoad::work_bytes() const {
  const auto at_once = std::min<std::uint64_t>(chunks_, static_cast<std::uint64_t>(threads_));
  return notes_bytes_ + at_once * scratch_.bytes;
}

}  // namespace gdelta
