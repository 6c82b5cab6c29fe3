#include "codec/stream/walk/file_structure.h"

#include <limits>

#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/byte_input.h"

namespace gdelta {

namespace {

using format::UnknownModels;

class WalkCursor final : public ChunkCursor {
 public:
  WalkCursor(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t memory_limit,
             UnknownModels unknown)
      : input_(read_at, file_bytes), blocks_(input_, memory_limit, unknown) {
    totals_.compressed_bytes = file_bytes;
  }

  Result<std::optional<ChunkPlace>> next() override {
    auto chunk = blocks_.next();
    if (!chunk) return tl::unexpected(std::move(chunk.error()));
    totals_.streams = blocks_.streams();
    if (!*chunk) return std::optional<ChunkPlace>();
    if (auto skipped = blocks_.skip_payload(**chunk); !skipped)
      return tl::unexpected(std::move(skipped.error()));
    auto place = take_block(totals_, **chunk);
    if (!place) return tl::unexpected(std::move(place.error()));
    return std::optional(std::move(*place));
  }

  void tell_metadata(BlockStream::OnMetadata on_metadata) override {
    blocks_.tell_metadata(std::move(on_metadata));
  }

  const FileTotals& totals() const { return totals_; }

 private:
  FileInput input_;
  BlockStream blocks_;
  FileTotals totals_;
};

}  // namespace

bool add_chunk(FileTotals& totals, const ChunkPlace& place) {
  if (place.decoded_bytes > std::numeric_limits<std::uint64_t>::max() - totals.decoded_bytes)
    return false;
  ++totals.chunks;
  totals.decoded_bytes += place.decoded_bytes;
  if (!place.opaque) totals.records += place.records;
  if (place.segments.lengths > 0) totals.segments += place.segments.begun();
  return true;
}

Result<ChunkPlace> take_block(FileTotals& totals, const ChunkBlock& block) {
  ChunkPlace place{.number = block.number,
                   .byte = block.byte,
                   .block_bytes = block.block_bytes(),
                   .check = block.check,
                   .records = block.records(),
                   .decoded_at = totals.decoded_bytes,
                   .decoded_bytes = block.decoded_bytes,
                   .records_at = totals.records,
                   .segments = block.parsed.segments,
                   .segments_at = totals.segments,
                   .opaque = block.parsed.opaque(),
                   .layout = block.layout,
                   .end_block_byte = std::nullopt};
  if (!add_chunk(totals, place))
    return fail_at(Errc::corrupt, place.byte, "the chunks decode to more than 2^64 bytes");
  return place;
}

std::unique_ptr<ChunkCursor> walk_chunks(const ReadAt& read_at, std::uint64_t file_bytes,
                                         std::uint64_t memory_limit) {
  return std::make_unique<WalkCursor>(read_at, file_bytes, memory_limit, UnknownModels::listed);
}

Result<FileTotals> walk_file(const ReadAt& read_at, std::uint64_t file_bytes,
                             std::uint64_t memory_limit, UnknownModels unknown) {
  WalkCursor cursor(read_at, file_bytes, memory_limit, unknown);
  for (;;) {
    const auto place = cursor.next();
    if (!place) return tl::unexpected(place.error());
    if (!*place) return cursor.totals();
  }
}

Result<FileStructure> FileStructure::read(const ReadAt& read_at, std::uint64_t file_bytes,
                                          std::uint64_t memory_limit) {
  FileStructure structure;
  structure.memory_limit_ = memory_limit;
  auto indexed = IndexedChunks::read(read_at, file_bytes);
  if (!indexed) return tl::unexpected(std::move(indexed.error()));
  if (*indexed) {
    structure.indexed_ = std::move(*indexed);
    structure.totals_ = structure.indexed_->totals();
    return structure;
  }
  const auto totals = walk_file(read_at, file_bytes, memory_limit, UnknownModels::listed);
  if (!totals) return tl::unexpected(totals.error());
  structure.totals_ = *totals;
  return structure;
}

std::unique_ptr<ChunkCursor> FileStructure::from_start(const ReadAt& read_at) const {
  if (indexed_) return indexed_->from_start(read_at);
  return walk_chunks(read_at, totals_.compressed_bytes, memory_limit_);
}

std::unique_ptr<ChunkCursor> FileStructure::from_byte(const ReadAt& read_at,
                                                      std::uint64_t byte) const {
  if (indexed_) return indexed_->from_byte(read_at, byte);
  return walk_chunks(read_at, totals_.compressed_bytes, memory_limit_);
}

std::unique_ptr<ChunkCursor> FileStructure::from_segment(const ReadAt& read_at,
                                                         std::uint64_t segment) const {
  if (indexed_) return indexed_->from_segment(read_at, segment);
  return walk_chunks(read_at, totals_.compressed_bytes, memory_limit_);
}

std::unique_ptr<ChunkCursor> FileStructure::from_record(const ReadAt& read_at,
                                                        std::uint64_t record) const {
  if (indexed_) return indexed_->from_record(read_at, record);
  return walk_chunks(read_at, totals_.compressed_bytes, memory_limit_);
}

}  // namespace gdelta
