#include "codec/stream/walk/hinted_streams.h"

#include <algorithm>

#include "codec/stream/walk/byte_input.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

constexpr std::size_t kMostStreams = 1 << 20;
constexpr std::uint64_t kLongestStream = std::uint64_t{1} << 62;
// Of streams that lie in the chunks of others.
constexpr std::size_t kMostStored = 64;
constexpr std::size_t kViewBytes = 256 << 10;
// What looks like end blocks may cost so much and the bytes passed.
constexpr std::uint64_t kWasteAllowed = std::uint64_t{64} << 20;
constexpr std::uint64_t kCostOfARead = 4096;

HintedStream hinted(const IndexedStream& stream) {
  return {.first_block = static_cast<std::int64_t>(stream.end_block_at - stream.block_bytes),
          .end_block = stream.end_block_at,
          .entries_at = stream.entries_at,
          .entries_end = stream.entries_end};
}

}  // namespace

HintedStreams::HintedStreams(const ReadAt& read_at, std::uint64_t file_bytes)
    : read_at_(&read_at), file_bytes_(file_bytes) {
  std::uint64_t end = file_bytes;
  while (end > 0 && streams_.size() < kMostStreams) {
    // The header, the layouts and the chunks may all be damaged, and bytes may be missing before them.
    const auto found = find_end_block(read_at, end, kLongestStream);
    if (!found || !*found) break;
    streams_.push_back(hinted(**found));
    const auto header = streams_.back().first_block - std::int64_t{format::kStreamHeaderBytes};
    end = header > 0 ? static_cast<std::uint64_t>(header) : 0;
  }
}

void HintedStreams::leave_before(std::uint64_t byte) {
  while (!streams_.empty() && streams_.back().end_block < byte) streams_.pop_back();
}

bool HintedStreams::header_stands(const HintedStream& stream) const {
  const auto byte = stream.first_block - std::int64_t{format::kStreamHeaderBytes};
  if (byte < 0) return false;
  std::byte header[format::kStreamHeaderBytes];
  const auto got = read_fully(*read_at_, static_cast<std::uint64_t>(byte), header);
  return got && *got == sizeof header &&
         std::equal(std::begin(header), std::end(header), format::kStreamHeader.begin());
}

bool HintedStreams::leave_for(std::int64_t first_block) {
  for (std::size_t i = 0; i < std::min(size(), kMostStored); ++i) {
    if ((*this)[i].first_block != first_block) continue;
    leave_first(i);
    return true;
  }
  return false;
}

/// Whether what begins with these bytes of the file, at `at`, and may go on behind them, is framed as an end
/// block is, in front and behind. Gives the byte behind its footer.
std::optional<std::uint64_t> HintedStreams::end_block_at(std::uint64_t at,
                                                         std::span<const std::byte> bytes,
                                                         std::uint64_t& credit) const {
  format::Cursor cursor = format::cursor_over(bytes);
  format::BlockFrame frame;
  if (format::parse_block_frame(cursor, frame) != format::HeadError::none ||
      frame.tag != format::BlockTag::end || frame.payload_bytes != 0 ||
      frame.block_bytes() > file_bytes_ - at)
    return std::nullopt;
  const std::uint64_t footer_at = frame.block_bytes();
  std::byte footer[format::kFooterBytes];
  if (footer_at + sizeof footer <= bytes.size()) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(footer_at), sizeof footer, footer);
  } else {
    if (credit < kCostOfARead) return std::nullopt;
    credit -= kCostOfARead;
    const auto got = read_fully(*read_at_, at + footer_at, footer);
    if (!got || *got < sizeof footer) return std::nullopt;
  }
  const auto told =
      format::load_le(reinterpret_cast<const format::Byte*>(footer), format::kFooterBytes);
  if (told != footer_at || footer_at > credit) return std::nullopt;
  credit -= footer_at;
  return at + footer_at + sizeof footer;
}

void HintedStreams::find_more(std::uint64_t byte) {
  if (read_at_ == nullptr || found_more_) return;
  found_more_ = true;
  const std::uint64_t end = streams_.empty() ? file_bytes_ : streams_.back().end_block;
  std::vector<HintedStream> more;
  std::vector<std::byte> view(kViewBytes);
  std::uint64_t credit = kWasteAllowed;
  for (std::uint64_t at = byte; at < end && streams_.size() + more.size() < kMostStreams;) {
    const auto got = read_fully(*read_at_, at, view);
    if (!got) break;
    credit += *got;
    // The next view begins with what a frame may have been cut to.
    const bool is_last = *got < view.size();
    const std::size_t looked_at = is_last ? *got : *got - format::kMaxFrameBytes;
    const auto bytes = std::span<const std::byte>(view).first(*got);
    for (std::size_t i = 0; i < looked_at && at + i < end; ++i) {
      if (bytes[i] != static_cast<std::byte>(format::BlockTag::end)) continue;
      const auto behind = end_block_at(at + i, bytes.subspan(i), credit);
      if (!behind) continue;
      const auto found = find_end_block(*read_at_, *behind, kLongestStream);
      if (found && *found && (*found)->end_block_at == at + i) more.push_back(hinted(**found));
    }
    at += looked_at;
    if (is_last) break;
  }
  streams_.insert(streams_.end(), more.rbegin(), more.rend());
}

}  // namespace gdelta
