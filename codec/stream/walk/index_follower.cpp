#include "codec/stream/walk/index_follower.h"

#include <algorithm>

#include "codec/stream/walk/byte_input.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

// In bytes of the search, so that no index makes it look for long.
constexpr std::uint64_t kCostOfAnEntry = 64;
constexpr std::uint64_t kCostOfAByteReadAgain = 16;
constexpr std::uint64_t kLongWindow = 256 << 10;
constexpr std::size_t kPieceBytes = 64 << 10;

/// What the block at the input's place is called if it is a chunk with a whole head.
Result<std::optional<ChunkName>> chunk_here(const Layout* layout, RewindInput& input,
                                            BlockSearch& search) {
  const std::optional<ChunkName> none;
  const auto here = search.block_is_here(layout);
  if (!here) return tl::unexpected(here.error());
  if (!*here) return none;
  const auto start = input.peek(format::kMaxFrameBytes);
  if (!start) return tl::unexpected(start.error());
  format::Cursor cursor = format::cursor_over(*start);
  format::BlockFrame frame;
  (void)format::parse_block_frame(cursor, frame);  // the search has
  if (!frame.is_chunk()) return none;
  const auto block = input.peek(frame.payload_at());
  if (!block) return tl::unexpected(block.error());
  cursor = format::cursor_over(block->subspan(frame.head_at));
  return std::optional(ChunkName{.opaque = frame.tag == format::BlockTag::opaque_chunk,
                                 .block_bytes = frame.block_bytes(),
                                 .check = format::stored_check(*block, frame),
                                 .records = cursor.varint()});
}

/// Whether what an index speaks of stands at its place. Goes there.
Result<bool> is_as_said(const IndexHint& hint, RewindInput& input, BlockSearch& search) {
  const auto at = static_cast<std::uint64_t>(hint.byte);
  input.go_to(at);
  search.pass_to(at);
  if (!hint.is_end) {
    const auto name = chunk_here(hint.layout.get(), input, search);
    if (!name) return tl::unexpected(name.error());
    return *name == hint.name;
  }
  auto here = search.block_is_here(hint.layout.get());
  if (!here || !*here) return here;
  const auto tag = input.peek(1);
  if (!tag) return tl::unexpected(tag.error());
  return static_cast<format::BlockTag>(tag->front()) == format::BlockTag::end;
}

}  // namespace

void MissingChunks::add(std::uint64_t more, std::optional<std::uint64_t> bytes) {
  chunks += more;
  if (decoded_bytes && bytes)
    *decoded_bytes += *bytes;
  else
    decoded_bytes.reset();
}

// ---- Where the reader is

void IndexFollower::enter(const HintedStream& stream, Standing standing) {
  stream_ = stream;
  hints_.emplace(streams_.read_at(), stream_);
  standing_ = standing;
}

void IndexFollower::leave() {
  hints_.reset();
  standing_ = Standing::unknown;
}

void IndexFollower::begin_stream(std::uint64_t first_block) {
  leave();
  streams_.leave_before(first_block);
  taken_ = 0;
  from_ = first_block;
  too_short_ = false;
  prefix_ = {};
  met_ = {};
  const auto is = static_cast<std::int64_t>(first_block);
  if (streams_.size() == 0) return;
  bool told = streams_.leave_for(is);
  if (!told && !streams_.has_looked()) {
    // Where a stream should begin and does, this one has no index. Otherwise there may be others before it.
    if (streams_.header_stands(streams_[0])) return;
    streams_.find_more(first_block);
    told = streams_.leave_for(is);
  }
  if (told) return enter(streams_[0], Standing::sure);
  too_short_ = streams_[0].first_block < is;
  if (!streams_.header_stands(streams_[0])) enter(streams_[0], Standing::likely);
}

void IndexFollower::stand_between(std::uint64_t place) {
  leave();
  streams_.leave_before(place);
  taken_ = 0;
  from_ = place;
  prefix_ = {};
  met_ = {};
  const auto first_block = static_cast<std::int64_t>(place + format::kStreamHeaderBytes);
  bool told = streams_.leave_for(first_block);
  if (!told) {
    streams_.find_more(place);
    told = streams_.leave_for(first_block);
  }
  // No other stream has room before one that would begin before this place.
  if (told || (streams_.size() > 0 && streams_[0].first_block < first_block))
    enter(streams_[0], Standing::sure);
}

MissingChunks IndexFollower::end_stream() {
  const bool sure = standing_ == Standing::sure;
  const MissingChunks missing = sure ? advance_to(0, true) : MissingChunks{};
  leave();
  return missing;
}

MissingChunks IndexFollower::advance_to(std::uint64_t number, bool to_end) {
  MissingChunks missing;
  for (; !ahead().is_end && (to_end || ahead().number < number); hints_->advance())
    missing.add(1, ahead().decoded_bytes);
  return missing;
}

std::optional<MissingChunks> IndexFollower::meet(const ChunkBlock& chunk, const BlockStream& blocks,
                                                 BlockSearch& search) {
  const auto is_ahead = [&] {
    const IndexHint& hint = ahead();
    return !hint.is_end && hint.name == name_of(chunk) &&
           (hint.name.opaque || (hint.layout && *hint.layout == *chunk.layout));
  };
  MissingChunks before;
  if (standing_ == Standing::unknown && blocks.is_resumed()) {
    if (auto found = recognise(chunk, search)) before = *found;
  } else if (standing_ == Standing::likely && !is_ahead()) {
    // Without a chunk in common it is the index of a later stream.
    if (taken_ > 0 || too_short_)
      (void)make_sure(search);
    else
      leave();
  }
  if (standing_ == Standing::sure && !is_ahead()) {
    // An index that knows nothing of the first chunk is worth nothing.
    if (taken_ > 0 || find(*hints_, name_of(chunk), chunk.byte, search)) return std::nullopt;
    leave();
  }
  if (standing_ != Standing::sure) met_.add(1, chunk.decoded_bytes);
  if (standing_ == Standing::unknown) return before;
  hints_->advance();
  ++taken_;
  from_ = chunk.byte + chunk.head.size();
  if (standing_ == Standing::likely) prefix_ = blocks.index_so_far();
  return before;
}

/// Looks for a chunk of a stream whose beginning is lost in the next index.
std::optional<MissingChunks> IndexFollower::recognise(const ChunkBlock& chunk,
                                                      BlockSearch& search) {
  streams_.find_more(chunk.byte);
  if (streams_.size() == 0 || streams_.header_stands(streams_[0])) return std::nullopt;
  if (!search.spend(streams_[0].entries_end - streams_[0].entries_at)) return std::nullopt;
  const auto named = find({streams_.read_at(), streams_[0]}, name_of(chunk), chunk.byte, search);
  if (!named) return std::nullopt;
  enter(streams_[0], Standing::sure);
  MissingChunks before = advance_to(named->number, false);
  // What has been met of the stream is among them.
  before.chunks -= std::min(before.chunks, met_.chunks);
  if (before.decoded_bytes && met_.decoded_bytes)
    *before.decoded_bytes -= std::min(*before.decoded_bytes, *met_.decoded_bytes);
  return before;
}

// ---- Whose index it is

bool IndexFollower::follows(BlockSearch& search) {
  return standing_ == Standing::sure || (standing_ == Standing::likely && make_sure(search));
}

/// Looks for the index that begins with all that has been read of the stream.
bool IndexFollower::make_sure(BlockSearch& search) {
  leave();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const HintedStream stream = streams_[i];
    const bool is_another = streams_.header_stands(stream);
    if (is_another && prefix_.blocks == 0) break;
    if (is_another || (prefix_.blocks > 0 && !begins_as_read(stream, search))) continue;
    streams_.leave_first(i);
    enter(stream, Standing::sure);
    (void)advance_to(taken_, false);
    return true;
  }
  return false;
}

bool IndexFollower::begins_as_read(const HintedStream& stream, BlockSearch& search) const {
  if (prefix_.bytes > stream.entries_end - stream.entries_at ||
      !search.spend(kCostOfAnEntry + prefix_.bytes))
    return false;
  format::RunningHash hash;
  std::vector<std::byte> piece;
  for (std::uint64_t done = 0; done < prefix_.bytes; done += piece.size()) {
    piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(prefix_.bytes - done, kPieceBytes)));
    const auto got = read_fully(streams_.read_at(), stream.entries_at + done, piece);
    if (!got || *got < piece.size()) return false;
    hash.add(piece);
  }
  return hash.value() == prefix_.hash;
}

// ---- Behind damage

/// The entry, from what is ahead of `probe` on, that has this name: the one whose place it is, else the
/// first. Chunks of one name have the same values, so it matters only for what comes in between.
std::optional<IndexFollower::Named> IndexFollower::find(StreamHints probe, const ChunkName& name,
                                                        std::uint64_t byte, BlockSearch& search) {
  std::optional<Named> first;
  for (; !probe.ahead().is_end; probe.advance()) {
    if (!search.spend(kCostOfAnEntry)) return std::nullopt;
    const IndexHint& hint = probe.ahead();
    const bool at_its_place = hint.byte == static_cast<std::int64_t>(byte);
    if (first && hint.byte > static_cast<std::int64_t>(byte)) break;
    if (hint.name != name) continue;
    if (at_its_place) return Named{hint.number, true};
    if (!first) first = Named{hint.number, false};
  }
  return first;
}

/// Whether the block behind a chunk that is not at its place tells that it stands there out of turn.
Result<bool> IndexFollower::is_stray(const Named& named, std::uint64_t behind, RewindInput& input,
                                     BlockSearch& search) const {
  input.go_to(behind);
  const auto next = chunk_here(ahead().layout.get(), input, search);
  if (!next) return tl::unexpected(next.error());
  if (!*next || !search.spend(hints_->held_bytes())) return false;
  const auto follows = find(*hints_, **next, behind, search);
  return follows && follows->number < named.number;
}

/// Goes to the first block in a stretch that the index names from here on, and gives its number.
Result<std::optional<std::uint64_t>> IndexFollower::find_between(
    std::uint64_t begin, std::uint64_t end, const std::shared_ptr<const Layout>& layout,
    RewindInput& input, BlockSearch& search) const {
  input.go_to(begin);
  for (;;) {
    const auto found = search.find_chunk(layout.get(), end);
    if (!found) return tl::unexpected(found.error());
    if (!*found) return std::optional<std::uint64_t>();
    const std::uint64_t at = input.at();
    const auto name = chunk_here(layout.get(), input, search);
    if (!name) return tl::unexpected(name.error());
    if (*name && search.spend(hints_->held_bytes())) {
      if (const auto named = find(*hints_, **name, at, search)) {
        bool stray = false;
        if (!named->at_its_place && named->number != ahead().number) {
          const auto out_of_turn = is_stray(*named, at + (*name)->block_bytes, input, search);
          if (!out_of_turn) return tl::unexpected(out_of_turn.error());
          stray = *out_of_turn;
          input.go_to(at);
        }
        if (!stray) return std::optional(named->number);
      }
    }
    input.go_to(at + 1);
  }
}

MissingChunks IndexFollower::accept(const IndexHint& hint, const RewindInput& input) {
  from_ = input.at() + 1;  // never twice to the same place
  return advance_to(hint.number, hint.is_end);
}

Result<std::optional<MissingChunks>> IndexFollower::go_on(std::uint64_t place, RewindInput& input,
                                                          BlockSearch& search) {
  search.pass_to(place);
  // The payload before the damage may have taken in what stands behind it.
  std::uint64_t from = from_;
  if (place > from && !search.spend((place - from) * kCostOfAByteReadAgain)) from = place;
  const std::uint64_t first = ahead().number;
  StreamHints probe(*hints_);
  const bool can_probe = search.spend(hints_->held_bytes());
  for (bool adjoins = true; can_probe && search.spend(kCostOfAnEntry); probe.advance()) {
    const IndexHint& hint = probe.ahead();
    if (hint.byte >= static_cast<std::int64_t>(from)) {
      const auto at = static_cast<std::uint64_t>(hint.byte);
      // Before the chunk that is next no other can stand, nor between it, if it failed at its place, and the one
      // behind it.
      const auto as_said = [&]() -> Result<bool> { return is_as_said(hint, input, search); };
      if (adjoins) {
        const auto here = as_said();
        if (!here) return tl::unexpected(here.error());
        if (*here) return std::optional(accept(hint, input));
      }
      const bool waits = hint.number == first && at == place && !hint.is_end;
      if (from < at && !waits) {
        const auto found = find_between(from, at, hint.layout, input, search);
        if (!found) return tl::unexpected(found.error());
        if (*found) {
          MissingChunks missing = advance_to(**found, false);
          from_ = input.at() + 1;
          return std::optional(missing);
        }
      }
      if (!adjoins) {
        const auto here = as_said();
        if (!here) return tl::unexpected(here.error());
        if (*here) return std::optional(accept(hint, input));
      }
      if (!waits) from = std::max(from, at);
    }
    if (hint.is_end) break;
    adjoins = hint.number == first && hint.byte == static_cast<std::int64_t>(place);
  }
  leave();
  return std::optional<MissingChunks>();
}

std::optional<std::uint64_t> IndexFollower::hinted_from(std::uint64_t place) const {
  if (streams_.size() == 0) return std::nullopt;
  return std::max<std::uint64_t>(
      place, static_cast<std::uint64_t>(std::max<std::int64_t>(streams_[0].first_block, 0)));
}

Result<std::optional<MissingChunks>> IndexFollower::go_on_unknown(std::uint64_t place, bool between,
                                                                  RewindInput& input,
                                                                  BlockSearch& search) {
  place = std::max(place, from_);
  search.pass_to(place);
  if (between && streams_.size() > 0 && !streams_.header_stands(streams_[0])) {
    // The next stream has lost its beginning, and its blocks may be anywhere.
    enter(streams_[0], Standing::sure);
    from_ = place;
    auto found = go_on(place, input, search);
    if (!found || *found) return found;
  }
  for (; streams_.size() > 0; streams_.leave_first(1)) {
    MissingChunks missing;
    const std::uint64_t index_bytes = streams_[0].entries_end - streams_[0].entries_at;
    if (!search.spend(std::min(index_bytes, kLongWindow))) return std::optional<MissingChunks>();
    StreamHints probe(streams_.read_at(), streams_[0]);
    for (;; probe.advance()) {
      if (!search.spend(kCostOfAnEntry)) return std::optional<MissingChunks>();
      const IndexHint& hint = probe.ahead();
      if (hint.byte >= static_cast<std::int64_t>(place)) {
        const auto here = is_as_said(hint, input, search);
        if (!here) return tl::unexpected(here.error());
        if (*here) {
          enter(streams_[0], Standing::sure);
          taken_ = 0;
          (void)accept(hint, input);
          return std::optional(missing);
        }
        if (!hint.is_end) missing.add(1, hint.decoded_bytes);
      }
      if (hint.is_end) break;
    }
  }
  return std::optional<MissingChunks>();
}

}  // namespace gdelta
