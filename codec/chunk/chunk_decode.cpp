#include "codec/chunk/chunk_decode.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "codec/coders/pack_section.h"
#include "codec/coders/part_checks.h"
#include "codec/coders/zstd_section.h"
#include "kernels/deltas/lane_delta.h"
#include "kernels/deltas/stride_delta.h"

namespace gdelta {
namespace {

using format::ColumnHead;
using format::ParsedChunk;

constexpr std::uint64_t kPiece = 4096;
// Fewer are not worth another thread.
constexpr std::uint64_t kFewestPages = 8;
constexpr std::uint64_t kFewestPieces = 8;
constexpr std::uint64_t kFewestParts = 16;
constexpr std::uint64_t kFewestFrameBytes = 32 << 10;

// A column being decoded: where its section is, and where its values go.
struct ColumnJob {
  std::span<const std::byte> block;
  std::uint64_t byte = 0;
  const ParsedChunk* chunk = nullptr;
  const ColumnHead* head = nullptr;
  Column column;
  unsigned char* out = nullptr;
  std::uint64_t record_bytes = 0;
  Workers* workers = nullptr;

  std::uint64_t records() const { return chunk->records; }
  std::uint64_t bytes() const { return records() * column.bytes(); }
  std::uint64_t section_at() const { return chunk->frame.payload_at() + head->section_at; }
  std::uint64_t part_at(std::uint64_t part) const {
    return section_at() + format::part_begin(at(chunk->frame.head_at), *head, column, part);
  }
  /// Of coders of residuals.
  std::uint64_t part_end(std::uint64_t part) const {
    return section_at() + format::part_end(at(chunk->frame.head_at), *head, part);
  }
  const unsigned char* at(std::uint64_t offset) const {
    return reinterpret_cast<const unsigned char*>(block.data()) + offset;
  }
};

// Where a coder puts values: at their place, or, while stride links are still to be undone, into a
// copy of the column without map and byte order.
struct ValueSink {
  unsigned char* out;
  std::uint64_t record_bytes;
  LaneFormat format;

  template <class Word>
  void store(int lane, std::uint64_t first, std::uint64_t count, const Word* words) const {
    store_lane(words, count, format, out + first * record_bytes + lane * format.value_bytes,
               record_bytes);
  }
};

// The damage that comes first in the block, whichever thread finds which first.
class FirstDamage {
 public:
  void note(std::uint64_t at) {
    std::uint64_t first = at_;
    while (at < first && !at_.compare_exchange_weak(first, at)) {
    }
  }
  /// Whether what lies at `at` need not be looked at any more.
  bool lies_before(std::uint64_t at) const { return at_ < at; }
  std::optional<Error> error(std::uint64_t byte, const char* message) const {
    if (at_ == kNone) return std::nullopt;
    return Error{Errc::corrupt, message, {}, byte + at_};
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::atomic<std::uint64_t> at_ = kNone;
};

template <class Word>
std::optional<Error> decode_pack(const ColumnJob& job, const ValueSink& sink) {
  const format::ColumnModel& model = job.head->model;
  const std::uint64_t page_values = page_values_of(model, job.records());
  FirstDamage damage;
  job.workers->for_ranges(
      job.head->num_parts, kFewestPages, [&](std::uint64_t first_page, std::uint64_t end_page) {
        std::vector<Word> words(page_values * job.column.tuple);
        for (std::uint64_t page = first_page; page < end_page; ++page) {
          const std::uint64_t at = job.part_at(page), end = job.part_end(page);
          const std::uint64_t first = page * page_values;
          const std::uint64_t tuples = std::min(page_values, job.records() - first);
          if (damage.lies_before(at)) return;
          if (!decode_page({job.at(at), end - at, job.block.size() - at}, job.column, model, tuples,
                           words.data(), page_values))
            return damage.note(at);
          for (int lane = 0; lane < job.column.tuple; ++lane)
            sink.store(lane, first, tuples, words.data() + lane * page_values);
        }
      });
  return damage.error(job.byte, "a page of packed values is damaged");
}

// A frame, and where its part begins.
struct FrameJob {
  std::span<const unsigned char> frame;
  std::span<unsigned char> out;
  std::uint64_t part_at;
};

// The frames of all parts; `damage` notes parts that are not just frames, as many as there should be.
std::vector<FrameJob> find_frames(const ColumnJob& job, std::span<unsigned char> out,
                                  FirstDamage& damage) {
  std::vector<FrameJob> found;
  const std::uint64_t part_tuples = format::part_tuples(job.head->model, job.records());
  std::uint64_t done = 0;
  for (std::uint64_t part = 0; part < job.head->num_parts; ++part) {
    const std::uint64_t part_at = job.part_at(part);
    const std::uint64_t tuples = std::min(part_tuples, job.records() - part * part_tuples);
    const std::uint64_t each = frame_bytes(job.head->model, job.column, tuples);
    std::span<const unsigned char> rest(job.at(part_at), job.part_end(part) - part_at);
    for (std::uint64_t at = 0; at < tuples * job.column.bytes(); at += each, done += each) {
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
std::optional<Error> decode_frames(const ColumnJob& job, std::span<unsigned char> out) {
  FirstDamage damage;
  const std::vector<FrameJob> frames = find_frames(job, out, damage);
  const std::uint64_t usual = std::max<std::uint64_t>(out.size() / frames.size(), 1);
  job.workers->for_ranges(frames.size(), (kFewestFrameBytes + usual - 1) / usual,
                          [&](std::uint64_t begin, std::uint64_t end) {
                            for (std::uint64_t i = begin; i < end; ++i) {
                              const FrameJob& next = frames[i];
                              if (damage.lies_before(next.part_at)) return;
                              if (!job.workers->frame_decoder().decode(next.frame, next.out))
                                damage.note(next.part_at);
                            }
                          });
  return damage.error(job.byte, "a zstd frame is damaged");
}

template <class Word>
std::optional<Error> decode_zstd(const ColumnJob& job, const ValueSink& sink) {
  const format::ColumnModel& model = job.head->model;
  const std::uint64_t part_tuples = format::part_tuples(model, job.records());
  std::vector<unsigned char> bytes(job.bytes());
  if (auto error = decode_frames(job, bytes)) return error;
  job.workers->for_each(job.column.tuple, [&](std::size_t number) {
    const int lane = static_cast<int>(number);
    Word words[kPiece];
    Word states[kMaxOrder] = {};
    for (std::uint64_t begin = 0; begin < job.records(); begin += part_tuples) {
      const std::uint64_t tuples = std::min(part_tuples, job.records() - begin);
      const std::span<const unsigned char> part(bytes.data() + begin * job.column.bytes(),
                                                tuples * job.column.bytes());
      for (std::uint64_t first = 0; first < tuples; first += kPiece) {
        const std::uint64_t count = std::min(kPiece, tuples - first);
        residuals_from_bytes(part, job.column, tuples, model.arrangement, lane, first, count,
                             words);
        sum_lane(words, count, model.orders[lane], states);
        sink.store(lane, begin + first, count, words);
      }
    }
  });
  return std::nullopt;
}

template <class Word>
std::optional<Error> decode_residuals(const ColumnJob& job, const ValueSink& sink) {
  return job.head->model.coder == Coder::pack ? decode_pack<Word>(job, sink)
                                              : decode_zstd<Word>(job, sink);
}

// Undoes map and byte order while copying a column to its place.
template <class Word>
void place_column(const ColumnJob& job, const unsigned char* values, LaneFormat format) {
  const int bytes = format.value_bytes;
  const ValueSink sink{job.out, job.record_bytes, format};
  const std::uint64_t pieces = (job.records() + kPiece - 1) / kPiece;
  job.workers->for_ranges(pieces, kFewestPieces, [&](std::uint64_t begin, std::uint64_t end) {
    Word words[kPiece];
    for (std::uint64_t first = begin * kPiece; first < std::min(end * kPiece, job.records());
         first += kPiece) {
      const std::uint64_t count = std::min(kPiece, job.records() - first);
      for (int lane = 0; lane < job.column.tuple; ++lane) {
        load_lane(values + (first * job.column.tuple + lane) * bytes, job.column.bytes(), count,
                  {.value_bytes = bytes}, words);
        sink.store(lane, first, count, words);
      }
    }
  });
}

template <class Word>
std::optional<Error> decode_model(const ColumnJob& job) {
  const format::ColumnModel& model = job.head->model;
  const LaneFormat format{value_bytes(job.column.type), job.column.big_endian,
                          model.map == format::ValueMap::ordered};
  if (model.num_strides == 0)
    return decode_residuals<Word>(job, {job.out, job.record_bytes, format});
  std::vector<unsigned char> values(job.bytes());
  const auto row = static_cast<std::uint64_t>(job.column.bytes());
  if (auto error =
          decode_residuals<Word>(job, {values.data(), row, {.value_bytes = format.value_bytes}}))
    return error;
  for (int link = model.num_strides; link-- > 0;) {
    sum_stride(values.data(), job.records() * job.column.tuple, format.value_bytes,
               std::size_t{model.strides[link].stride} * job.column.tuple,
               model.strides[link].order);
  }
  place_column<Word>(job, values.data(), format);
  return std::nullopt;
}

void place_tuples(const ColumnJob& job, std::uint64_t step) {
  const std::size_t bytes = job.column.bytes();
  const unsigned char* from = job.at(job.section_at());
  if (step == bytes && job.record_bytes == bytes) {
    std::memcpy(job.out, from, job.bytes());
    return;
  }
  if (step == 0 && job.record_bytes == bytes) {  // what is there is doubled until all is there
    std::memcpy(job.out, from, bytes);
    for (std::uint64_t done = bytes; done < job.bytes(); done *= 2)
      std::memcpy(job.out + done, job.out, std::min(done, job.bytes() - done));
    return;
  }
  for (std::uint64_t i = 0; i < job.records(); ++i)
    std::memcpy(job.out + i * job.record_bytes, from + i * step, bytes);
}

std::optional<Error> decode_column(const ColumnJob& job) {
  switch (job.head->model.coder) {
    case Coder::raw:
      place_tuples(job, job.column.bytes());
      return std::nullopt;
    case Coder::constant:
      place_tuples(job, 0);
      return std::nullopt;
    case Coder::pack:
    case Coder::zstd:
      break;
  }
  return value_bytes(job.column.type) == 8 ? decode_model<std::uint64_t>(job)
                                           : decode_model<std::uint32_t>(job);
}

/// The first part of the column whose content differs, as an error.
std::optional<Error> verify_column(const ColumnJob& job) {
  const ColumnBytes values{job.out, job.record_bytes, job.records(), job.column};
  const unsigned char* const head = job.at(job.chunk->frame.head_at);
  FirstDamage damage;
  job.workers->for_ranges(job.head->num_parts, kFewestParts,
                          [&](std::uint64_t begin, std::uint64_t end) {
                            for (std::uint64_t part = begin; part < end; ++part) {
                              if (check_of_part(values, job.head->model, part) ==
                                  format::part_check_at(head, *job.head, part))
                                continue;
                              return damage.note(job.part_at(part));
                            }
                          });
  return damage.error(job.byte, "the chunk's content differs from its check");
}

constexpr std::uint64_t kZstdContextBytes = 256 << 10;

DecodeScratch scratch_of(const Column& column, const ColumnHead& head, std::uint64_t records) {
  const format::ColumnModel& model = head.model;
  const auto tuple_bytes = static_cast<std::uint64_t>(column.bytes());
  DecodeScratch scratch;
  if (model.coder == Coder::pack) {
    scratch.more_bytes =
        page_values_of(model, records) * column.tuple * (value_bytes(column.type) == 8 ? 8 : 4);
  } else if (model.coder == Coder::zstd) {
    const std::uint64_t frames = head.num_parts * format::frames_of_part(model, column);
    scratch.bytes = records * tuple_bytes + frames * sizeof(FrameJob);
    scratch.more_bytes = kZstdContextBytes;
  }
  scratch.bytes += scratch.more_bytes + (model.num_strides > 0 ? records * tuple_bytes : 0);
  return scratch;
}

}  // namespace

DecodeScratch decode_scratch(const Layout& layout, const ParsedChunk& chunk) {
  DecodeScratch most;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    most.cover(scratch_of(layout.columns[c], chunk.columns[c], chunk.records));
  return most;
}

std::uint64_t parsed_chunk_bytes(const Layout& layout) {
  return layout.columns.size() * sizeof(ColumnHead);
}

std::optional<Error> decode_chunk(const ChunkToDecode& chunk, std::span<std::byte> out, bool verify,
                                  Workers& workers) {
  const ParsedChunk& parsed = chunk.parsed;
  const std::uint64_t record_bytes = chunk.layout.record_bytes();
  if (out.size() != parsed.records * record_bytes)
    return Error{
        Errc::output_too_small, "the output does not have the chunk's size", {}, chunk.byte};
  const auto each_column = [&](auto step) -> std::optional<Error> {
    ColumnJob job{.block = chunk.block.first(parsed.frame.block_bytes()),
                  .byte = chunk.byte,
                  .chunk = &parsed,
                  .head = nullptr,
                  .column = {},
                  .out = reinterpret_cast<unsigned char*>(out.data()),
                  .record_bytes = record_bytes,
                  .workers = &workers};
    for (std::size_t c = 0; c < chunk.layout.columns.size(); ++c) {
      job.head = &parsed.columns[c];
      job.column = chunk.layout.columns[c];
      if (auto error = step(job)) return error;
      job.out += job.column.bytes();
    }
    return std::nullopt;
  };
  if (auto error = each_column(decode_column)) return error;
  return verify ? each_column(verify_column) : std::nullopt;
}

}  // namespace gdelta
