#include "formats/foreign/foreign.h"

#include <algorithm>
#include <vector>

#include "formats/foreign/foreign_formats.h"

namespace gdelta::format {

namespace {

using Bytes = std::span<const std::byte>;
using Length = std::optional<std::uint64_t>;

// Behind the first array, one that is shorter costs more in blocks of its own than it gains: a head,
// a layout, two chunks, and a model for each column.
constexpr std::uint64_t kWorthBytes = 4096, kWorthBytesAColumn = 128;
// Files before the first array of an archive that take at most such a part of its bytes are small.
constexpr std::uint64_t kSmallPart = 8;
// What looks like an array and is none may be parsed far, and bytes can be made to look so everywhere.
constexpr int kMostFailures = 16;

bool is_worth_a_layout(const Recognised& array) {
  return array.data_bytes >= kWorthBytes + kWorthBytesAColumn * array.layout.columns.size();
}

/// Whole records within the file.
std::optional<Recognised> checked(std::optional<Recognised> found, Length total_bytes) {
  if (!found || !check_layout(found->layout)) return std::nullopt;
  if (total_bytes)
    found->data_bytes = std::min(found->data_bytes, *total_bytes - found->head_bytes);
  if (found->data_bytes > kUntilTheEnd - found->head_bytes) found->data_bytes = kUntilTheEnd;
  if (found->data_bytes != kUntilTheEnd) {
    found->torn_bytes = found->data_bytes % found->layout.record_bytes();
    found->data_bytes -= found->torn_bytes;
  }
  return found;
}

/// As much of `prefix` as the length allows.
Bytes within(Bytes prefix, Length total_bytes) {
  const std::uint64_t most = total_bytes.value_or(kUntilTheEnd);
  return prefix.first(static_cast<std::size_t>(std::min<std::uint64_t>(prefix.size(), most)));
}

/// An array that is a file of its own.
std::optional<Recognised> recognise_array(Bytes prefix, Length total_bytes) {
  for (const ForeignFormat& format : foreign_formats()) {
    if (format.recognise == nullptr || !has_magic(format, prefix)) continue;
    if (auto found = checked(format.recognise(prefix, total_bytes), total_bytes)) {
      found->name = format.name;
      return found;
    }
  }
  return std::nullopt;
}

bool looks_like_array(Bytes prefix) {
  const auto formats = foreign_formats();
  return std::any_of(formats.begin(), formats.end(), [&](const ForeignFormat& format) {
    return format.recognise != nullptr && has_magic(format, prefix);
  });
}

/// A file that may be an array: one by itself, or a member of an archive.
struct Content {
  std::uint64_t at = 0;
  Bytes prefix;
  Length bytes;
};

/// The content of a member whose head is at `at`. As far as is known, it ends where the archive does.
Content content_of(const ArchiveMember& member, std::uint64_t at, Bytes prefix,
                   Length total_bytes) {
  Content content;
  content.at = at + member.content_at;
  content.bytes = member.content_bytes;
  if (total_bytes)
    content.bytes = std::min(content.bytes.value_or(kUntilTheEnd), *total_bytes - content.at);
  content.prefix = within(prefix.subspan(static_cast<std::size_t>(content.at)), content.bytes);
  return content;
}

/// An array, seen from where `content.at` counts from.
std::optional<Recognised> recognise_content(const Content& content) {
  auto found = recognise_array(content.prefix, content.bytes);
  if (!found) return found;
  found->head_bytes += content.at;
  if (found->data_bytes > kUntilTheEnd - found->head_bytes) found->data_bytes = kUntilTheEnd;
  return found;
}

/// The first array of numbers in an archive. Folders before it are passed over, arrays of anything else, and other files that
/// together are small beside it: they become opaque bytes, while the numbers of a bare file are looked for.
std::optional<Recognised> recognise_archive(const ForeignFormat& archive, Bytes prefix,
                                            Length total_bytes) {
  std::uint64_t bare_bytes = 0;
  for (std::uint64_t at = 0; at < prefix.size();) {
    const auto member = archive.member(prefix.subspan(static_cast<std::size_t>(at)));
    if (!member) return std::nullopt;
    if (member->is_file) {
      const Content content = content_of(*member, at, prefix, total_bytes);
      if (auto found = recognise_content(content)) {
        if (bare_bytes > found->data_bytes / kSmallPart) return std::nullopt;
        found->name = archive.name;
        found->in_archive = true;
        return found;
      }
      if (!looks_like_array(content.prefix)) bare_bytes += member->next_at;
    }
    if (member->next_at == 0) return std::nullopt;
    at += member->next_at;
  }
  return std::nullopt;
}

/// Places in some bytes where a file of a known format may begin, in rising order.
class Beginnings {
 public:
  struct Place {
    const ForeignFormat* format;
    std::size_t at;
  };

  explicit Beginnings(Bytes bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {
    for (const ForeignFormat& format : foreign_formats()) next_.push_back({&format, 0});
    for (Place& place : next_) find(place, 0);
  }

  /// The first at or behind `from`, which never falls.
  std::optional<Place> first_from(std::size_t from) {
    const Place* first = nullptr;
    for (Place& place : next_) {
      if (place.at < from) find(place, from);
      if (place.at != kNowhere && (first == nullptr || place.at < first->at)) first = &place;
    }
    return first != nullptr ? std::optional(*first) : std::nullopt;
  }

 private:
  static constexpr std::size_t kNowhere = std::string_view::npos;

  void find(Place& place, std::size_t from) const {
    const std::size_t magic_at = text_.find(place.format->magic, from + place.format->magic_at);
    place.at = magic_at == kNowhere ? kNowhere : magic_at - place.format->magic_at;
  }

  std::string_view text_;
  std::vector<Place> next_;  // of each format
};

/// The first array worth it that begins in the first `step` bytes.
std::optional<Recognised> search_array(Bytes prefix, std::size_t step, Length bytes_left) {
  Beginnings beginnings(prefix);
  int failures = 0;
  for (std::size_t from = 0; failures < kMostFailures;) {
    const auto place = beginnings.first_from(from);
    if (!place || place->at >= step) return std::nullopt;
    from = place->at + 1;
    const auto member = place->format->member != nullptr
                            ? place->format->member(prefix.subspan(place->at))
                            : ArchiveMember{};
    if (!member) continue;
    const Content content = content_of(*member, place->at, prefix, bytes_left);
    if (!looks_like_array(content.prefix)) continue;
    auto found = recognise_content(content);
    if (!found) {
      ++failures;
    } else if (is_worth_a_layout(*found)) {
      found->name = place->format->name;
      return found;
    } else {
      from = static_cast<std::size_t>(found->head_bytes + found->data_bytes);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Recognised> recognise(Bytes prefix, Length total_bytes) {
  prefix = within(prefix.first(std::min(prefix.size(), kMostPrefixBytes)), total_bytes);
  if (auto found = recognise_array(prefix, total_bytes)) return found;
  for (const ForeignFormat& format : foreign_formats())
    if (format.member != nullptr && has_magic(format, prefix))
      if (auto found = recognise_archive(format, prefix, total_bytes)) return found;
  return std::nullopt;
}

std::optional<Recognised> recognise_next(const Recognised* before, Bytes prefix,
                                         Length bytes_left) {
  const bool is_rest = prefix.size() < kNextPrefixBytes;
  prefix = within(prefix.first(std::min(prefix.size(), kNextPrefixBytes)), bytes_left);
  if (before != nullptr)
    for (const ForeignFormat& format : foreign_formats()) {
      if (format.name != before->name || format.recognise_more == nullptr) continue;
      auto found = checked(format.recognise_more(*before, prefix, bytes_left), bytes_left);
      if (!found || !is_worth_a_layout(*found)) continue;
      found->name = format.name;
      return found;
    }
  return search_array(prefix, is_rest ? prefix.size() : kNextStepBytes, bytes_left);
}

std::string_view advice_on(Bytes prefix) {
  for (const ForeignFormat& format : foreign_formats())
    if (format.advice != nullptr && has_magic(format, prefix))
      if (const std::string_view advice = format.advice(prefix); !advice.empty()) return advice;
  return {};
}

std::string_view recognised_sentence(std::string_view name) {
  for (const ForeignFormat& format : foreign_formats())
    if (format.name == name) return format.sentence;
  return {};
}

}  // namespace gdelta::format
