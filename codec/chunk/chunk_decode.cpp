#include "codec/chunk/chunk_decode.h"

#include <algorithm>
#include <cstring>

#include "codec/coders/pack_section.h"
#include "codec/coders/zstd_section.h"
#include "formats/gdelta/chunk_block.h"
#include "kernels/checksum/content_checksum.h"
#include "kernels/deltas/lane_delta.h"
#include "kernels/deltas/stride_delta.h"

namespace gdelta {
namespace {

using format::ColumnHead;
using format::ParsedChunk;

constexpr std::uint64_t kPiece = 4096;

// A column being decoded: where its section is, and where its values go.
struct ColumnJob {
  std::span<const std::byte> block;
  std::uint64_t byte = 0;
  const ParsedChunk* chunk = nullptr;
  const ColumnHead* head = nullptr;
  Column column;
  unsigned char* out = nullptr;
  std::uint64_t record_bytes = 0;

  std::uint64_t records() const { return chunk->head.records; }
  std::uint64_t bytes() const { return records() * column.bytes(); }
  std::uint64_t section_at() const { return chunk->payload_at + head->section_at; }
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

template <class Word>
std::optional<Error> decode_pack(const ColumnJob& job, const ValueSink& sink) {
  const format::ColumnModel& model = job.head->model;
  const std::uint64_t page_values =
      std::min(format::page_tuples(model), (job.records() + 127) / 128 * 128);
  std::vector<Word> words(page_values * job.column.tuple);
  std::uint64_t begin = 0;
  for (std::uint64_t page = 0; page < job.head->num_parts; ++page) {
    const std::uint64_t end = format::page_end(job.block, *job.chunk, *job.head, page);
    const std::uint64_t first = page * page_values;
    const std::uint64_t tuples = std::min(page_values, job.records() - first);
    const std::uint64_t at = job.section_at() + begin;
    if (!decode_page({job.at(at), end - begin, job.block.size() - at}, job.column, model, tuples,
                     words.data(), page_values))
      return Error{Errc::corrupt, "a page of packed values is damaged", {}, job.byte + at};
    for (int lane = 0; lane < job.column.tuple; ++lane)
      sink.store(lane, first, tuples, words.data() + lane * page_values);
    begin = end;
  }
  return std::nullopt;
}

template <class Word>
std::optional<Error> decode_zstd(const ColumnJob& job, const ValueSink& sink) {
  const format::ColumnModel& model = job.head->model;
  std::vector<unsigned char> bytes(job.bytes());
  FrameDecoder frames;
  std::uint64_t at = job.section_at(), decoded = 0;
  // Sizes are read as they are needed: there may be millions.
  format::Cursor sizes{job.at(job.chunk->head_at), job.chunk->payload_at - job.chunk->head_at,
                       job.head->parts_at};
  for (std::uint64_t frame = 0; frame < job.head->num_parts; ++frame) {
    const std::uint64_t size = sizes.varint();
    const std::uint64_t piece = std::min<std::uint64_t>(model.frame_bytes, bytes.size() - decoded);
    if (!frames.decode({job.at(at), size}, {bytes.data() + decoded, piece}))
      return Error{Errc::corrupt, "a zstd frame is damaged", {}, job.byte + at};
    decoded += piece;
    at += size;
  }
  Word words[kPiece];
  for (int lane = 0; lane < job.column.tuple; ++lane) {
    Word states[kMaxOrder] = {};
    for (std::uint64_t first = 0; first < job.records(); first += kPiece) {
      const std::uint64_t count = std::min(kPiece, job.records() - first);
      residuals_from_bytes(std::span<const unsigned char>(bytes), job.column, job.records(),
                           model.arrangement, lane, first, count, words);
      sum_lane(words, count, model.orders[lane], states);
      sink.store(lane, first, count, words);
    }
  }
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
  Word words[kPiece];
  for (std::uint64_t first = 0; first < job.records(); first += kPiece) {
    const std::uint64_t count = std::min(kPiece, job.records() - first);
    for (int lane = 0; lane < job.column.tuple; ++lane) {
      load_lane(values + (first * job.column.tuple + lane) * bytes, job.column.bytes(), count,
                {bytes, false, false}, words);
      sink.store(lane, first, count, words);
    }
  }
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
          decode_residuals<Word>(job, {values.data(), row, {format.value_bytes, false, false}}))
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

constexpr std::uint64_t kZstdContextBytes = 256 << 10;

}  // namespace

std::uint64_t decode_scratch_bytes(const Column& column, const ColumnHead& head,
                                   std::uint64_t records) {
  const format::ColumnModel& model = head.model;
  const auto tuple_bytes = static_cast<std::uint64_t>(column.bytes());
  std::uint64_t bytes = model.num_strides > 0 ? records * tuple_bytes : 0;
  if (model.coder == Coder::pack) {
    const std::uint64_t groups = std::min<std::uint64_t>(model.page_groups, records / 128 + 1);
    bytes += groups * 128 * column.tuple * (value_bytes(column.type) == 8 ? 8 : 4);
  } else if (model.coder == Coder::zstd) {
    bytes += records * tuple_bytes + kZstdContextBytes;
  }
  return bytes;
}

std::uint64_t parsed_chunk_bytes(const Layout& layout) {
  return 3 * layout.columns.size() * sizeof(ColumnHead);  // old and new where their vector grows
}

std::optional<Error> decode_chunk(std::span<const std::byte> block, std::uint64_t byte,
                                  const Layout& layout, std::span<std::byte> out, bool verify) {
  const auto chunk = format::parse_chunk_block(block, byte, layout);
  if (!chunk) return chunk.error();
  const std::uint64_t record_bytes = layout.record_bytes();
  if (out.size() != chunk->head.records * record_bytes)
    return Error{Errc::output_too_small, "the output does not have the chunk's size", {}, byte};
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  ColumnJob job{block.first(chunk->block_bytes), byte, &*chunk, nullptr, {}, bytes, record_bytes};
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    job.head = &chunk->columns[c];
    job.column = layout.columns[c];
    if (auto error = decode_column(job)) return error;
    job.out += job.column.bytes();
  }
  if (verify && content_checksum(bytes, out.size()) != chunk->head.content)
    return Error{Errc::corrupt, "the chunk's content differs from its checksum", {}, byte};
  return std::nullopt;
}

}  // namespace gdelta
