#include "file_structure.h"

#include <algorithm>
#include <limits>

#include "block_stream.h"
#include "byte_input.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

using format::BlockTag;

/// The chunks of one stream, and where its header starts.
struct IndexedStream {
  std::uint64_t byte = 0;
  std::vector<ChunkPlace> chunks;
};

Result<std::vector<std::byte>> read_bytes(const ReadAt& read_at, std::uint64_t offset,
                                          std::uint64_t bytes) {
  std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
  const auto got = read_fully(read_at, offset, buffer);
  if (!got) return tl::unexpected(got.error());
  buffer.resize(*got);
  return buffer;
}

/// Turns an index into places, the first block being at 0. Nothing where it is not sound.
std::optional<IndexedStream> places_of(std::span<const std::byte> head, std::uint64_t end) {
  IndexedStream stream;
  format::IndexParser index(head);
  auto opaque = std::make_shared<const Layout>(byte_layout());
  std::shared_ptr<const Layout> layout;
  std::uint64_t at = 0;
  while (auto entry = index.next()) {
    if (entry->block_bytes > end - at) return std::nullopt;
    if (entry->tag == BlockTag::layout) {
      layout = std::make_shared<const Layout>(std::move(*entry->layout));
    } else {
      const bool is_opaque = entry->tag == BlockTag::opaque_chunk;
      const auto& of_chunk = is_opaque ? opaque : layout;
      if (!of_chunk) return std::nullopt;
      const std::uint64_t record_bytes = of_chunk->record_bytes();
      if (entry->records == 0 || entry->records > kMaxChunkBytes / record_bytes)
        return std::nullopt;
      stream.chunks.push_back({at, entry->block_bytes, entry->records, 0,
                               entry->records * record_bytes, of_chunk, is_opaque});
    }
    at += entry->block_bytes;
  }
  if (!index.whole() || at + format::kStreamHeaderBytes > end) return std::nullopt;
  const std::uint64_t first_block = end - at;
  stream.byte = first_block - format::kStreamHeaderBytes;
  for (ChunkPlace& chunk : stream.chunks) chunk.byte += first_block;
  return stream;
}

/// The stream that ends at `end`, by its index. Nothing where there is none that holds.
Result<std::optional<IndexedStream>> read_indexed_stream(const ReadAt& read_at, std::uint64_t end) {
  const std::optional<IndexedStream> none;
  constexpr std::uint64_t kSmallestStream =
      format::kStreamHeaderBytes + format::kSmallestEndBytes + format::kFooterBytes;
  if (end < kSmallestStream) return none;
  const auto footer = read_bytes(read_at, end - format::kFooterBytes, format::kFooterBytes);
  if (!footer) return tl::unexpected(footer.error());
  if (footer->size() < format::kFooterBytes) return none;
  const std::uint64_t end_bytes =
      format::load_le(reinterpret_cast<const format::Byte*>(footer->data()), format::kFooterBytes);
  if (end_bytes <= format::kSmallestEndBytes ||
      end_bytes > end - format::kFooterBytes - format::kStreamHeaderBytes)
    return none;
  const std::uint64_t block_at = end - format::kFooterBytes - end_bytes;
  const auto block = read_bytes(read_at, block_at, end_bytes);
  if (!block) return tl::unexpected(block.error());
  const auto head = format::end_block_head(*block, block_at);
  if (!head) return none;
  auto stream = places_of(*head, block_at);
  if (!stream) return none;
  const auto header = read_bytes(read_at, stream->byte, format::kStreamHeaderBytes);
  if (!header) return tl::unexpected(header.error());
  if (!format::check_stream_header(*header, stream->byte)) return none;
  return stream;
}

/// From the last stream to the first.
Result<std::optional<FileStructure>> read_indexes(const ReadAt& read_at, std::uint64_t file_bytes) {
  std::vector<IndexedStream> streams;
  for (std::uint64_t end = file_bytes; end > 0;) {
    auto stream = read_indexed_stream(read_at, end);
    if (!stream) return tl::unexpected(std::move(stream.error()));
    if (!*stream) return std::optional<FileStructure>();
    end = (*stream)->byte;
    streams.push_back(std::move(**stream));
  }
  FileStructure structure;
  structure.streams = streams.size();
  for (auto stream = streams.rbegin(); stream != streams.rend(); ++stream)
    structure.chunks.insert(structure.chunks.end(), stream->chunks.begin(), stream->chunks.end());
  return std::optional<FileStructure>(std::move(structure));
}

Result<FileStructure> walk_blocks(const ReadAt& read_at, std::uint64_t file_bytes) {
  FileInput input(read_at, file_bytes);
  BlockStream blocks(input, std::numeric_limits<std::uint64_t>::max());
  FileStructure structure;
  for (;;) {
    auto chunk = blocks.next();
    if (!chunk) return tl::unexpected(std::move(chunk.error()));
    if (!*chunk) break;
    if (auto skipped = blocks.skip_payload(**chunk); !skipped)
      return tl::unexpected(skipped.error());
    structure.chunks.push_back({(*chunk)->byte, (*chunk)->block_bytes(), (*chunk)->records, 0,
                                (*chunk)->decoded_bytes, (*chunk)->layout, (*chunk)->opaque});
  }
  structure.streams = blocks.streams();
  return structure;
}

}  // namespace

Result<FileStructure> read_structure(const ReadAt& read_at, std::uint64_t file_bytes) {
  auto indexed = read_indexes(read_at, file_bytes);
  if (!indexed) return tl::unexpected(std::move(indexed.error()));
  FileStructure structure;
  if (*indexed && (*indexed)->streams > 0) {
    structure = std::move(**indexed);
  } else {
    auto walked = walk_blocks(read_at, file_bytes);
    if (!walked) return walked;
    structure = std::move(*walked);
  }
  for (ChunkPlace& chunk : structure.chunks) {
    if (chunk.decoded_bytes > std::numeric_limits<std::uint64_t>::max() - structure.decoded_bytes)
      return fail_at(Errc::corrupt, chunk.byte, "the chunks decode to more than 2^64 bytes");
    chunk.decoded_at = structure.decoded_bytes;
    structure.decoded_bytes += chunk.decoded_bytes;
  }
  return structure;
}

}  // namespace gdelta
