#include "codec/coders/zstd_section.h"

#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_c_stableInBuffer
#include <zstd.h>

#include <algorithm>
#include <new>

#include "codec/coders/coder.h"
#include "formats/gdelta/column_head.h"

namespace gdelta {
namespace {

// A frame's header: the magic number, a descriptor, and unless the frame is a segment of its own the
// window: its base-2 logarithm less 10 in the upper five bits, eighths to add in the lower three.
constexpr std::size_t kDescriptorAt = 4, kWindowAt = 5;
constexpr unsigned kSingleSegment = 0x20;
constexpr unsigned kWidestWindow = (28 - 10) << 3;

// Shorter frames are not worth another thread.
constexpr std::uint64_t kFewestFrameBytes = 32 << 10;

constexpr std::uint64_t kContextBytes = 256 << 10;

// Longer frames may take seconds.
constexpr std::size_t kLongFrame = 256 << 10;
constexpr std::size_t kPieceOfLongFrame = 1 << 10;
// About what making the bytes of frames takes of the time of both.
constexpr double kShareOfBytes = 0.2;

}  // namespace

std::uint64_t frame_bytes(const format::ColumnModel& model, const Column& column,
                          std::uint64_t tuples) {
  return tuples * format::tuple_bytes(column) / format::frames_of_part(model.section, column);
}

FrameEncoder::~FrameEncoder() { ZSTD_freeCCtx(context_); }

/// Piece by piece, to tell how far it is; nothing if this libzstd cannot read `bytes` where they are.
std::optional<std::size_t> FrameEncoder::encode_long_frame(std::span<const unsigned char> bytes,
                                                           int zstd_level, std::byte* frame,
                                                           std::size_t room, Work* work) {
  ZSTD_CCtx_reset(context_, ZSTD_reset_session_and_parameters);
  if (ZSTD_isError(ZSTD_CCtx_setParameter(context_, ZSTD_c_stableInBuffer, 1)) != 0 ||
      ZSTD_isError(ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, zstd_level)) != 0 ||
      ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context_, bytes.size())) != 0)
    return std::nullopt;
  WorkPart of_frame(work, 1);
  ZSTD_inBuffer in{.src = bytes.data(), .size = bytes.size(), .pos = 0};
  ZSTD_outBuffer out{.dst = frame, .size = 0, .pos = 0};
  for (std::size_t left = 1; left > 0;) {
    const std::size_t before = in.pos;
    out.size = std::min(out.pos + kPieceOfLongFrame, room);
    left = ZSTD_compressStream2(context_, &out, &in, ZSTD_e_end);
    if (ZSTD_isError(left)) throw std::bad_alloc();
    of_frame.add(static_cast<double>(in.pos - before) / static_cast<double>(bytes.size()));
  }
  return out.pos;
}

std::size_t FrameEncoder::encode_frame(std::span<const unsigned char> bytes, int zstd_level,
                                       std::byte* frame, std::size_t room, Work* work) {
  if (bytes.size() > kLongFrame)
    if (const auto size = encode_long_frame(bytes, zstd_level, frame, room, work)) return *size;
  const std::size_t size =
      ZSTD_compressCCtx(context_, frame, room, bytes.data(), bytes.size(), zstd_level);
  // With room for the bound, only memory can be short.
  if (ZSTD_isError(size)) throw std::bad_alloc();
  return size;
}

void FrameEncoder::encode(std::span<const unsigned char> bytes, ZstdLevels levels,
                          std::vector<std::byte>& section, Work* work) {
  // Making one asks the machine what it can do, which takes microseconds if it is a virtual one.
  if (context_ == nullptr) context_ = ZSTD_createCCtx();
  if (context_ == nullptr) throw std::bad_alloc();
  const std::size_t start = section.size(), bound = ZSTD_compressBound(bytes.size());
  section.resize(start + bound);
  const double share = 1.0 / levels.count();
  WorkPart of_first(work, share);
  std::size_t size = encode_frame(bytes, levels.first, section.data() + start, bound, &of_first);
  for (const int level : {levels.second, levels.third}) {
    if (level == 0) break;
    other_.resize(std::max(other_.size(), bound));
    WorkPart of_other(work, share);
    const std::size_t other = encode_frame(bytes, level, other_.data(), bound, &of_other);
    if (other >= size) continue;
    std::copy_n(other_.data(), other, section.data() + start);
    size = other;
  }
  section.resize(start + size);
}

void encode_frames(std::span<const unsigned char> bytes, std::uint64_t frame_bytes,
                   ZstdLevels levels, Workers& workers, std::vector<std::byte>& section,
                   Work* work) {
  const std::size_t count = (bytes.size() + frame_bytes - 1) / frame_bytes;
  const double share = 1 / static_cast<double>(count);
  const auto piece = [&](std::size_t frame) {
    const std::size_t at = frame * frame_bytes;
    return bytes.subspan(at, std::min<std::size_t>(frame_bytes, bytes.size() - at));
  };
  if (count == 1 || workers.threads() == 1) {
    for (std::size_t frame = 0; frame < count; ++frame) {
      WorkPart of_frame(work, share);
      workers.frame_encoder().encode(piece(frame), levels, section, &of_frame);
    }
    return;
  }
  std::vector<std::vector<std::byte>> frames(count);
  workers.for_each(count, [&](std::size_t frame) {
    WorkPart of_frame(work, share);
    workers.frame_encoder().encode(piece(frame), levels, frames[frame], &of_frame);
  });
  for (const std::vector<std::byte>& frame : frames)
    section.insert(section.end(), frame.begin(), frame.end());
}

std::size_t frame_size(std::span<const unsigned char> bytes) {
  // Skippable and legacy frames decode too; the format has none.
  if (bytes.size() < kShortestFrame || format::load_le(bytes.data(), 4) != ZSTD_MAGICNUMBER)
    return 0;
  // libzstd allows wider windows when it decodes all at once.
  if ((bytes[kDescriptorAt] & kSingleSegment) == 0 && bytes[kWindowAt] > kWidestWindow) return 0;
  const std::size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  return ZSTD_isError(size) ? 0 : size;
}

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

FrameDecoder& FrameDecoder::of_thread() {
  thread_local FrameDecoder decoder;
  return decoder;
}

FrameDecoder::~FrameDecoder() { ZSTD_freeDCtx(context_); }

bool FrameDecoder::decode(std::span<const unsigned char> frame, std::span<unsigned char> out) {
  return frame_size(frame) == frame.size() &&
         ZSTD_decompressDCtx(context_, out.data(), out.size(), frame.data(), frame.size()) ==
             out.size();
}

namespace {

void encode_zstd(const ColumnToEncode& encode, std::vector<std::byte>& section,
                 format::SectionTable& table) {
  const ResidualSource source(encode.column, encode.model.front);
  const std::uint64_t part_tuples = format::part_tuples(encode.model.section, source.records());
  const std::size_t start = section.size();
  for (std::uint64_t first = 0; first < source.records(); first += part_tuples) {
    const TupleRange part{first, std::min(part_tuples, source.records() - first)};
    WorkPart of_part(encode.work,
                     static_cast<double>(part.count) / static_cast<double>(source.records()));
    WorkPart of_bytes(&of_part, kShareOfBytes), of_frames(&of_part, 1 - kShareOfBytes);
    encode_frames(
        residual_bytes(source, std::span(&part, 1), encode.model, encode.workers, &of_bytes),
        frame_bytes(encode.model, encode.column.column, part.count), encode.zstd_levels,
        encode.workers, section, &of_frames);
    table.ends.push_back(static_cast<std::uint32_t>(section.size() - start));
  }
}

// A frame, and where its part begins.
struct FrameJob {
  std::span<const unsigned char> frame;
  std::span<unsigned char> out;
  std::uint64_t part_at;
};

// The frames of all parts; `damage` notes parts that are not just frames, as many as there should be.
std::vector<FrameJob> find_frames(const SectionToDecode& section, std::span<unsigned char> out,
                                  FirstDamage& damage) {
  std::vector<FrameJob> found;
  const std::uint64_t part_tuples =
      format::part_tuples(section.head->model.section, section.records());
  std::uint64_t done = 0;
  for (std::uint64_t part = 0; part < section.head->num_parts; ++part) {
    const std::uint64_t part_at = section.part_at(part);
    const std::uint64_t tuples = std::min(part_tuples, section.records() - part * part_tuples);
    const std::uint64_t each = frame_bytes(section.head->model, section.column, tuples);
    std::span<const unsigned char> rest(section.at(part_at), section.part_end(part) - part_at);
    for (std::uint64_t at = 0; at < tuples * section.column.bytes(); at += each, done += each) {
      const std::size_t size = frame_size(rest);
      found.push_back({rest.first(size), out.subspan(done, each), part_at});
      rest = rest.subspan(size);
      if (size == 0) damage.note(part_at);
    }
    if (!rest.empty()) damage.note(part_at);
  }
  return found;
}

// Decodes the frames of a column one behind the other; stretches of them side by side.
std::optional<Error> decode_frames(const SectionToDecode& section, std::span<unsigned char> out) {
  FirstDamage damage;
  const std::vector<FrameJob> frames = find_frames(section, out, damage);
  const std::uint64_t usual = std::max<std::uint64_t>(out.size() / frames.size(), 1);
  section.workers->for_ranges(frames.size(), (kFewestFrameBytes + usual - 1) / usual, section.work,
                              [&](std::uint64_t begin, std::uint64_t end) {
                                for (std::uint64_t i = begin; i < end; ++i) {
                                  const FrameJob& next = frames[i];
                                  if (damage.lies_before(next.part_at)) return;
                                  if (!FrameDecoder::of_thread().decode(next.frame, next.out))
                                    damage.note(next.part_at);
                                }
                              });
  return damage.error(section.byte, "a zstd frame is damaged");
}

template <class Word>
std::optional<Error> decode_parts(const SectionToDecode& section, const ValueSink& sink) {
  return decode_residual_bytes<Word>(section, decode_frames, sink);
}

std::optional<Error> decode_zstd(const SectionToDecode& section) {
  return decode_residuals(section, decode_parts<std::uint32_t>, decode_parts<std::uint64_t>);
}

DecodeScratch zstd_scratch(const Column& column, const format::ColumnHead& head,
                           std::uint64_t records) {
  const std::uint64_t frames = head.num_parts * format::frames_of_part(head.model.section, column);
  return {
      .bytes = records * format::tuple_bytes(column) + frames * sizeof(FrameJob) + kContextBytes,
      .more_bytes = kContextBytes};
}

}  // namespace

const ColumnCoder zstd_coder{.encode = encode_zstd, .decode = decode_zstd, .scratch = zstd_scratch};

}  // namespace gdelta
