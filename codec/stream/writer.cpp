#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <vector>

#include "codec/backend/steady_backend.h"
#include "codec/coders/workers.h"
#include "codec/stream/batch_turns.h"
#include "codec/stream/call_guard.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/input_planner.h"
#include "codec/stream/kept_bytes.h"
#include "codec/stream/segment_options.h"
#include "codec/stream/stream_emitter.h"
#include "codec/stream/walk/byte_buffer.h"
#include "gdelta/segment_stream.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

/// Chunks collected for one call of the backend.
struct Batch {
  ByteBuffer bytes;
  std::vector<ChunkExtent> extents;                    // closed ones, from the start of `bytes`
  std::vector<std::shared_ptr<const Layout>> layouts;  // of each extent
  std::vector<format::ArrayRows> rows;                 // of the array of each extent
  std::vector<std::vector<std::uint32_t>> lengths;     // of the segments of each extent
  std::uint64_t closed_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::vector<EncodeJob> jobs;

  std::uint64_t open_bytes() const { return bytes.size() - closed_bytes; }
  void close(const ChunkExtent& extent, const InputPlanner& planner) {
    if (extent.bytes == 0 && extent.segments.empty()) return;
    extents.push_back(extent);
    layouts.push_back(planner.layout());
    rows.push_back(planner.rows());
    lengths.push_back(extent.segments.lengths());
    closed_bytes += extent.bytes;
    length_bytes += extent.segments.num_lengths() * sizeof(std::uint32_t);
  }
  ChunkSegments segments_of(std::size_t i) const {
    if (lengths[i].empty()) return {};
    const SegmentRange& range = extents[i].segments;
    return {.lengths = lengths[i], .continues = range.continues(), .goes_on = range.goes_on()};
  }
  void clear() {
    bytes.clear();
    extents.clear();
    layouts.clear();
    rows.clear();
    lengths.clear();
    closed_bytes = 0;
    length_bytes = 0;
    jobs.clear();
  }
};

Result<void> no_array_at(std::uint64_t begin) {
  return fail(Errc::invalid_argument,
              fmt::format("segments are said of an array at byte {}, where none begins", begin));
}

/// Each array's offsets by themselves, and that they come in the order of the input.
Result<void> check_segments(const std::vector<ArraySegments>& segments) {
  std::uint64_t least = 0;
  for (const ArraySegments& array : segments) {
    const std::uint64_t records = array.offsets.empty() ? 0 : array.offsets.back();
    if (auto checked = check_offsets(array.offsets, records); !checked) return checked;
    if (array.begin < least)
      return fail(Errc::invalid_argument, "segments of arrays come in the order of the input");
    least = array.begin + 1;
  }
  return {};
}

constexpr std::size_t kReadPiece = std::size_t{4} << 20;

/// Fills `room` as far as the file goes; gives how many bytes there are. Several threads read a piece each.
Result<std::size_t> read_in_pieces(const ReadAt& read_at, std::uint64_t begin,
                                   std::span<std::byte> room, Workers& workers) {
  std::vector<Result<std::size_t>> got((room.size() + kReadPiece - 1) / kReadPiece);
  workers.for_each(got.size(), [&](std::size_t i) {
    const std::size_t at = i * kReadPiece;
    got[i] = read_at(begin + at, room.subspan(at, std::min(kReadPiece, room.size() - at)));
  });
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i]) return got[i];
    bytes += *got[i];
    if (*got[i] < kReadPiece) break;  // the file ends
  }
  return bytes;
}

}  // namespace

struct Writer::Impl {
  Impl(Sink sink_in, EncodeOptions options_in, std::vector<ArraySegments> segments_in)
      : sink(std::move(sink_in)),
        segments(std::move(segments_in)),
        options(segments.empty() ? std::move(options_in)
                                 : beside_offsets(std::move(options_in), segments)),
        budget(encode_budget(segments.empty() ? options : with_lengths(options), true)),
        backend(budget ? budget->device : options.device, budget ? budget->threads : 1),
        progress(options.progress, options.progress_user),
        guard{.failure = check_options(options)} {
    if (guard.failure) guard.failure = check_segments(segments);
    if (guard.failure && !budget) guard.failure = tl::unexpected(budget.error());
  }

  Result<void> write(std::span<const std::byte> values);
  Result<void> write_file(const ReadAt& read_at, std::uint64_t begin);
  Result<void> flush();
  Result<void> finish();

  bool must_look() const;
  bool has_whole_chunk() const;
  Result<void> tell_segments(InputPart& part);
  Result<void> look();
  Result<std::size_t> collect(std::span<const std::byte> values);
  Result<void> collect_kept();
  std::size_t room_to_read() const;
  Result<std::size_t> keep_from(const ReadAt& read_at, std::uint64_t begin);
  Result<std::size_t> collect_from(const ReadAt& read_at, std::uint64_t begin, Workers& workers);
  Result<void> close_whole_chunks();
  Result<void> close_open_chunk();
  std::uint64_t most_batch_bytes() const;
  Result<void> send_batch();
  void make_jobs(Batch& batch) const;

  Sink sink;
  std::vector<ArraySegments> segments;
  std::size_t segments_found = 0;  // arrays of these that have begun
  EncodeOptions options;
  EncodeSettings settings;
  Result<EncodeBudget> budget;
  SteadyBackend backend;
  ProgressMeter progress;
  FunctionSink function_sink{sink};
  StreamEmitter emitter{function_sink};
  CallGuard guard;

  std::optional<std::uint64_t> total_bytes;
  std::uint64_t bytes_in = 0;
  std::uint64_t collected = 0;  // of these
  KeptBytes kept;               // those that follow
  InputPlanner planner{options};
  ChunkCutter cutter{chunk_bytes_of(options)};
  std::optional<Layout> first_layout;  // once the planner has looked

  BatchTurns<Batch> batches{backend, progress, emitter};
};

/// Whether bytes have to be kept back: all that is known of the next chunk is collected.
bool Writer::Impl::must_look() const {
  return cutter.is_open() && batches.collecting().open_bytes() == cutter.next().bytes;
}

/// Decides what the input goes on with.
Result<void> Writer::Impl::look() {
  if (!first_layout)
    if (auto opened = backend.open(total_bytes); !opened) return opened;
  std::optional<std::uint64_t> left;
  if (total_bytes && *total_bytes >= collected) left = *total_bytes - collected;
  const std::uint64_t arrays = planner.num_arrays();
  InputPart part = planner.look(kept.all(), left);
  if (planner.num_arrays() > arrays)
    if (auto found = tell_segments(part); !found) return found;
  cutter.extend(part);
  if (first_layout) return {};
  first_layout = *planner.layout();
  settings = planner.settings();
  emitter.describe(planner.metadata(), planner.note());
  return {};
}

/// Gives a part its segments, if it is the array that the next ones are said of.
Result<void> Writer::Impl::tell_segments(InputPart& part) {
  if (segments_found == segments.size()) return {};
  const ArraySegments& next = segments[segments_found];
  const std::uint64_t begin = collected + part.head_bytes;
  if (begin < next.begin) return {};
  if (begin > next.begin) return no_array_at(next.begin);
  if (part.data_bytes == InputPart::kToTheEnd)
    part.data_bytes = total_bytes && *total_bytes >= begin
                          ? *total_bytes - begin
                          : next.offsets.back() * part.record_bytes;
  if (auto checked = check_offsets(next.offsets, part.data_bytes / part.record_bytes); !checked)
    return checked;
  part.offsets = next.offsets;
  ++segments_found;
  return {};
}

Result<void> Writer::Impl::write(std::span<const std::byte> values) {
  bytes_in += values.size();
  for (;;) {
    if (must_look()) {
      values = values.subspan(kept.fill(values, planner.look_bytes()));
      if (kept.all().size() < planner.look_bytes()) return {};
      if (auto looked = look(); !looked) return looked;
    }
    if (!kept.empty()) {
      if (auto done = collect_kept(); !done) return done;
    } else if (!values.empty()) {
      const auto count = collect(values);
      if (!count) return tl::unexpected(count.error());
      values = values.subspan(*count);
    } else {
      return {};
    }
  }
}

Result<void> Writer::Impl::write_file(const ReadAt& read_at, std::uint64_t begin) {
  Workers workers(cpu_threads(budget->threads));
  for (;;) {
    if (must_look()) {
      const auto got = keep_from(read_at, begin);
      if (!got) return tl::unexpected(got.error());
      bytes_in += *got;
      begin += *got;
      if (kept.all().size() < planner.look_bytes()) {
        if (*got == 0) return {};
        continue;
      }
      if (auto looked = look(); !looked) return looked;
    }
    if (!kept.empty()) {
      if (auto done = collect_kept(); !done) return done;
      continue;
    }
    const auto got = collect_from(read_at, begin, workers);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    bytes_in += *got;
    begin += *got;
  }
}

Result<void> Writer::Impl::collect_kept() {
  const auto count = collect(kept.all());
  if (!count) return tl::unexpected(count.error());
  kept.pass(*count);
  return {};
}

/// Takes what belongs to the next chunk; closes that if it is whole.
Result<std::size_t> Writer::Impl::collect(std::span<const std::byte> values) {
  Batch& batch = batches.collecting();
  const ChunkExtent next = cutter.next();
  const std::size_t had = batch.bytes.size();
  const auto count = static_cast<std::size_t>(
      std::min<std::uint64_t>(values.size(), next.bytes - batch.open_bytes()));
  if (!batch.bytes.resize(had + count)) throw std::bad_alloc();
  std::copy_n(values.begin(), count, batch.bytes.data() + had);
  collected += count;
  if (auto closed = close_whole_chunks(); !closed) return tl::unexpected(closed.error());
  return count;
}

/// Reads what a look wants, as far as the file has it.
Result<std::size_t> Writer::Impl::keep_from(const ReadAt& read_at, std::uint64_t begin) {
  constexpr std::uint64_t kLeast = 64 << 10;  // the file may have grown
  const std::uint64_t known = collected + kept.all().size();
  const std::uint64_t left = total_bytes.value_or(~std::uint64_t{0});
  const std::uint64_t wanted =
      planner.look_bytes() - std::min(planner.look_bytes(), kept.all().size());
  std::vector<std::byte> bytes(std::min(wanted, std::max(kLeast, left - std::min(left, known))));
  auto got = read_at(begin, bytes);
  if (got) kept.fill(std::span(bytes).first(*got), planner.look_bytes());
  return got;
}

/// Bytes to read at once: of chunks that the batch has room for, and that the input has, if that is known.
std::size_t Writer::Impl::room_to_read() const {
  const Batch& batch = batches.collecting();
  const std::uint64_t held = batch.closed_bytes + batch.length_bytes;
  const std::uint64_t most = most_batch_bytes();
  const std::uint64_t chunks = kMostChunksToEncode - batch.extents.size();
  const std::uint64_t known =
      cutter.known_bytes(most - std::min(most, held), chunks) - batch.open_bytes();
  const std::uint64_t of_chunk = cutter.next().bytes - batch.open_bytes();
  if (!total_bytes || *total_bytes < collected) return static_cast<std::size_t>(of_chunk);
  return static_cast<std::size_t>(std::min(known, std::max(*total_bytes - collected, of_chunk)));
}

/// Reads straight into the batch, by all threads.
Result<std::size_t> Writer::Impl::collect_from(const ReadAt& read_at, std::uint64_t begin,
                                               Workers& workers) {
  Batch& batch = batches.collecting();
  const std::size_t had = batch.bytes.size(), room = room_to_read();
  if (!batch.bytes.resize(had + room)) throw std::bad_alloc();
  auto got = read_in_pieces(read_at, begin, batch.bytes.all().subspan(had), workers);
  (void)batch.bytes.resize(had + got.value_or(0));  // shorter
  if (!got) return got;
  collected += *got;
  if (auto closed = close_whole_chunks(); !closed) return tl::unexpected(closed.error());
  return got;
}

/// Whether all bytes of the next chunk are collected; chunks of empty segments have none.
bool Writer::Impl::has_whole_chunk() const {
  return !cutter.is_open() && batches.collecting().open_bytes() >= cutter.next().bytes;
}

Result<void> Writer::Impl::close_whole_chunks() {
  while (has_whole_chunk())
    if (auto closed = close_open_chunk(); !closed) return closed;
  return {};
}

Result<void> Writer::Impl::close_open_chunk() {
  Batch& batch = batches.collecting();
  if (batch.open_bytes() > 0 || has_whole_chunk()) {
    const ChunkExtents extents = cutter.cut(std::min(batch.open_bytes(), cutter.next().bytes));
    batch.close(extents.first, planner);
    batch.close(extents.second, planner);
  }
  const std::uint64_t next = cutter.is_open() ? chunk_bytes_of(options) : cutter.next().bytes;
  if (batch.closed_bytes + batch.length_bytes + next <= most_batch_bytes() &&
      batch.extents.size() < kMostChunksToEncode)
    return {};
  return send_batch();
}

std::uint64_t Writer::Impl::most_batch_bytes() const {
  return std::min(backend.batch_size().bytes_of(chunk_bytes_of(options)), budget->batch_bytes);
}

void Writer::Impl::make_jobs(Batch& batch) const {
  std::span<const std::byte> rest = batch.bytes.all();
  batch.jobs.clear();
  for (std::size_t i = 0; i < batch.extents.size(); ++i) {
    const bool opaque = batch.extents[i].opaque;
    const auto bytes = static_cast<std::size_t>(batch.extents[i].bytes);
    const Layout* layout = opaque ? &byte_layout() : batch.layouts[i].get();
    batch.jobs.push_back({.values = rest.first(bytes),
                          .layout = layout,
                          .opaque = opaque,
                          .block = {},
                          .segments = batch.segments_of(i),
                          .rows = batch.rows[i]});
    rest = rest.subspan(bytes);
  }
}

/// Whatever is collected, if anything.
Result<void> Writer::Impl::send_batch() {
  Batch& full = batches.collecting();
  if (full.extents.empty()) return {};
  make_jobs(full);
  return budget->overlap ? batches.send(settings) : batches.flush(settings);
}

Result<void> Writer::Impl::flush() {
  while (!kept.empty()) {
    if (must_look())
      if (auto looked = look(); !looked) return looked;
    if (auto done = collect_kept(); !done) return done;
  }
  if (!first_layout) return {};
  if (batches.collecting().open_bytes() > 0 && !cutter.next().segments.empty())
    return fail(Errc::invalid_argument, "the input pauses inside an array that comes in segments");
  if (auto closed = close_open_chunk(); !closed) return closed;
  make_jobs(batches.collecting());
  return batches.flush(settings);
}

Result<void> Writer::Impl::finish() {
  total_bytes = bytes_in;
  if (bytes_in == 0 && !segments.empty()) {  // all of them are empty
    if (auto looked = look(); !looked) return looked;
    if (auto done = collect_kept(); !done) return done;
  }
  if (auto flushed = flush(); !flushed) return flushed;
  if (segments_found < segments.size()) return no_array_at(segments[segments_found].begin);
  if (cutter.has_segments())
    return fail(Errc::invalid_argument, "the input ends before its segments do");
  if (!first_layout) emitter.describe(options.metadata, {});
  if (auto ended = emitter.finish(); !ended) return ended;
  guard.finished = true;
  return {};
}

Writer::Writer(Sink sink, EncodeOptions options, std::vector<ArraySegments> segments)
    : impl_(std::make_unique<Impl>(std::move(sink), std::move(options), std::move(segments))) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::set_total_bytes(std::uint64_t bytes) { impl_->total_bytes = bytes; }

Result<void> Writer::write(std::span<const std::byte> values) {
  return impl_->guard.run([&] { return impl_->write(values); });
}

Result<void> Writer::write_file(const ReadAt& read_at, std::uint64_t begin) {
  return impl_->guard.run([&] { return impl_->write_file(read_at, begin); });
}

Result<void> Writer::flush() {
  return impl_->guard.run([&] { return impl_->flush(); });
}

Result<void> Writer::finish() {
  return impl_->guard.run([&] { return impl_->finish(); });
}

std::uint64_t Writer::bytes_in() const { return impl_->bytes_in; }
std::uint64_t Writer::bytes_out() const { return impl_->emitter.bytes_out(); }

std::optional<Layout> Writer::layout() const { return impl_->first_layout; }

std::string_view Writer::layout_origin() const { return impl_->planner.origin(); }

std::uint64_t Writer::num_arrays() const { return impl_->planner.num_arrays(); }

std::string_view Writer::advice() const { return impl_->planner.advice(); }

std::string Writer::device() const { return impl_->backend.name(); }
std::vector<std::string> Writer::take_warnings() { return impl_->backend.take_warnings(); }

}  // namespace gdelta
