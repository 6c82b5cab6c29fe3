#include "codec/stream/metadata_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "codec/stream/walk/memory_words.h"

namespace gdelta {

namespace {

// Beside an allocation, in the machine's bookkeeping; an entry has two.
constexpr std::uint64_t kAllocationBytes = 16;

}  // namespace

Result<void> MetadataBudget::take(const std::vector<MetadataEntry>& entries) {
  // A list that grows is held twice for a moment, once at double size.
  for (const MetadataEntry& entry : entries)
    held_ += 3 * sizeof entry + 2 * kAllocationBytes + entry.key.size() + entry.value.size();
  if (held_ <= memory_limit_) return {};
  return fail(Errc::memory_limit,
              fmt::format("the metadata takes more than the memory limit of {}: raise the limit",
                          allowed_memory(memory_limit_)));
}

void MetadataList::add(std::vector<MetadataEntry>&& entries) {
  if (state_) state_ = budget_.take(entries);
  if (!state_) return;
  entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(entries.end()));
}

Result<std::vector<MetadataEntry>> MetadataList::take() {
  if (!state_) return tl::unexpected(state_.error());
  return last_values(std::move(entries_));
}

std::vector<MetadataEntry> last_values(std::vector<MetadataEntry> all) {
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
  std::vector<MetadataEntry> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_first[i]) kept.push_back(std::move(all[i]));
  return kept;
}

}  // namespace gdelta
