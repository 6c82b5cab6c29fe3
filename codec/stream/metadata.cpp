#include <iterator>
#include <new>

#include "codec/stream/metadata_list.h"
#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/index_reader.h"
#include "formats/gdelta/metadata_block.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

using Entries = std::vector<MetadataEntry>;

void append(Entries& all, Entries&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Reads the entries of one stream from its index. Nothing if an entry does not hold.
Result<std::optional<Entries>> read_index(const ReadAt& read_at, const IndexedStream& stream,
                                          MetadataBudget& budget) {
  Entries entries;
  IndexReader index(read_at, stream.entries_at, stream.entries_end);
  for (std::uint64_t i = 0; i < stream.entries; ++i) {
    const auto entry = index.next();
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry) return std::optional<Entries>();
    if ((*entry)->tag != format::BlockTag::metadata) continue;
    auto parsed = format::parse_metadata_head((*entry)->head, stream.end_block_at);
    if (!parsed) return std::optional<Entries>();
    if (auto taken = budget.take(*parsed); !taken) return tl::unexpected(std::move(taken.error()));
    append(entries, std::move(*parsed));
  }
  return std::optional(std::move(entries));
}

/// Reads them from the indexes of all streams, the last one first. Nothing if one is missing or does not hold.
Result<std::optional<Entries>> read_indexes(const ReadAt& read_at, std::uint64_t file_bytes,
                                            std::uint64_t memory_limit) {
  MetadataBudget budget(memory_limit);
  std::vector<Entries> streams;
  for (std::uint64_t end = file_bytes; end > 0;) {
    const auto stream = find_indexed_stream(read_at, end);
    if (!stream) return tl::unexpected(stream.error());
    if (!*stream) return std::optional<Entries>();
    auto entries = read_index(read_at, **stream, budget);
    if (!entries || !*entries) return entries;
    if (!(*entries)->empty()) streams.push_back(std::move(**entries));
    end = (*stream)->header_at;
  }
  Entries all;
  for (; !streams.empty(); streams.pop_back()) append(all, std::move(streams.back()));
  return std::optional(std::move(all));
}

Result<Entries> walk(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t memory_limit) {
  FileInput input(read_at, file_bytes);
  BlockStream blocks(input, memory_limit, format::UnknownModels::listed);
  MetadataList list(memory_limit);
  blocks.tell_metadata([&list](Entries&& entries) { list.add(std::move(entries)); });
  for (;;) {
    const auto chunk = blocks.next();
    if (!chunk) return tl::unexpected(chunk.error());
    if (!list.state() || !*chunk) return list.take();
    if (auto skipped = blocks.skip_payload(**chunk); !skipped)
      return tl::unexpected(std::move(skipped.error()));
  }
}

}  // namespace

Result<Entries> read_metadata(const ReadAt& read_at, std::uint64_t file_bytes,
                              const InspectOptions& options) {
  try {
    auto indexed = read_indexes(read_at, file_bytes, options.memory_limit);
    if (!indexed) return tl::unexpected(std::move(indexed.error()));
    if (*indexed && file_bytes > 0) return last_values(std::move(**indexed));
    return walk(read_at, file_bytes, options.memory_limit);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory for the metadata");
  }
}

Result<Entries> read_metadata(std::span<const std::byte> bytes, const InspectOptions& options) {
  return read_metadata(read_from(bytes), bytes.size(), options);
}

}  // namespace gdelta
