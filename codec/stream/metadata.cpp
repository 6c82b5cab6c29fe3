#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/byte_input.h"
#include "codec/stream/walk/index_reader.h"
#include "formats/gdelta/metadata_block.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

using Entries = std::vector<MetadataEntry>;

// Beside an allocation, in the machine's bookkeeping; an entry has two.
constexpr std::uint64_t kAllocationBytes = 16;

/// Counts what entries take, against a memory limit.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t memory_limit) : memory_limit_(memory_limit) {}

  /// Errors      memory_limit
  Result<void> take(const Entries& entries) {
    // A list that grows is held twice for a moment, once at double size.
    for (const MetadataEntry& entry : entries)
      held_ += 3 * sizeof entry + 2 * kAllocationBytes + entry.key.size() + entry.value.size();
    if (held_ <= memory_limit_) return {};
    return fail(Errc::memory_limit,
                fmt::format("the metadata takes more than the memory limit of {}: raise the limit",
                            memory_limit_));
  }

 private:
  std::uint64_t memory_limit_;
  std::uint64_t held_ = 0;
};

void append(Entries& all, Entries&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Each key once, where it first occurs, with its last value.
Entries last_values(Entries all) {
  std::vector<std::size_t> by_key(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) by_key[i] = i;
  std::stable_sort(by_key.begin(), by_key.end(),
                   [&all](std::size_t a, std::size_t b) { return all[a].key < all[b].key; });
  std::vector<bool> is_first(all.size());
  for (std::size_t begin = 0, end = 0; begin < by_key.size(); begin = end) {
    while (end < by_key.size() && all[by_key[end]].key == all[by_key[begin]].key) ++end;
    is_first[by_key[begin]] = true;
    std::swap(all[by_key[begin]].value, all[by_key[end - 1]].value);
  }
  Entries kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_first[i]) kept.push_back(std::move(all[i]));
  return kept;
}

/// Of one stream, from its index. Nothing where an entry does not hold.
Result<std::optional<Entries>> read_index(const ReadAt& read_at, const IndexedStream& stream,
                                          MemoryBudget& budget) {
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

/// From the indexes of all streams, the last one first. Nothing where one is missing or does not hold.
Result<std::optional<Entries>> read_indexes(const ReadAt& read_at, std::uint64_t file_bytes,
                                            std::uint64_t memory_limit) {
  MemoryBudget budget(memory_limit);
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
  MemoryBudget budget(memory_limit);
  Entries all;
  Result<void> taken;
  blocks.tell_metadata([&](Entries&& entries) {
    if (taken) taken = budget.take(entries);
    if (taken) append(all, std::move(entries));
  });
  for (;;) {
    const auto chunk = blocks.next();
    if (!chunk) return tl::unexpected(chunk.error());
    if (!taken) return tl::unexpected(std::move(taken.error()));
    if (!*chunk) return all;
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
    auto walked = walk(read_at, file_bytes, options.memory_limit);
    if (!walked) return walked;
    return last_values(std::move(*walked));
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory for the metadata");
  }
}

Result<Entries> read_metadata(std::span<const std::byte> bytes, const InspectOptions& options) {
  return read_metadata(read_from(bytes), bytes.size(), options);
}

}  // namespace gdelta
