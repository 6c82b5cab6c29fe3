// A short, slow decoder of gdelta streams, written from formats/gdelta/spec.md and its pages of stages alone. It shares no code
// with the project, so that it shows that the pages are complete. The headers beside it are its sections as the specification has
// them: plain_input.h (1, 8), plain_model.h (3.1, 4), plain_front.h, plain_head.h and plain_tables.h (4), plain_values.h and plain_maps.h (5; a
// map is a file map_NAME.cpp), plain_coders.h (6; a coder is a file coder_NAME.cpp), plain_columns.h (7); streams, blocks and chunks (2, 3) are
// here.
//
// usage: plain_decoder IN OUT
//
// What is no stream is refused as section 8 says: "plain_decoder: IN: corrupt: chunk 3, byte 1234: why".
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "plain_columns.h"
#include "plain_head.h"

namespace plain_decoder {
namespace {

// ---- Section 3.5: segments

constexpr Column kLength = {.bytes = 4, .tuple = 1};

/// The segments of a chunk; none if it does not say them.
struct Segments {
  std::uint64_t count = 0;
  bool continues = false;
  bool goes_on = false;
  std::uint64_t joins() const { return (continues ? 1 : 0) + (goes_on ? 2 : 0); }
  Model model;
};

Segments read_segments_of_chunk(Input& head) {
  Segments segments;
  segments.count = head.varint();
  require(segments.count >= 1 && segments.count <= 1 << 26, "impossible number of segments");
  const std::uint64_t joins = head.number(1);
  require_known(joins <= 3, "unknown joins");
  segments.continues = (joins & 1) != 0;
  segments.goes_on = (joins & 2) != 0;
  segments.model = read_model(head, kLength, segments.count);
  return segments;
}

/// Of check 6; `bytes` become those of the lengths. `say_states`: pages of a column do.
std::vector<std::uint64_t> decode_lengths(Input section, const Segments& segments, std::uint64_t n,
                                          bool say_states, Bytes& bytes) {
  bytes.resize(4 * segments.count);
  decode_column(section, segments.model, kLength, segments.count, {}, bytes.data(), 4);
  std::vector<std::uint64_t> lengths;
  std::uint64_t sum = 0, heads = 0;
  for (Input rest{bytes.data(), bytes.data() + bytes.size()}; rest.left() > 0;) {
    lengths.push_back(rest.number(4));
    sum += lengths.back();
    heads += lengths.back() > 0;
  }
  refuse_at(section.at, [&] {
    require(sum == n, "the lengths do not add up");
    require(!say_states || heads <= n / 2 || heads == n, "too many heads for states of pages");
  });
  return lengths;
}

std::uint64_t xxh3(const std::uint8_t* begin, const std::uint8_t* end) {
  return XXH3_64bits(begin, static_cast<std::size_t>(end - begin));
}

// ---- Sections 3.2 and 3.3: chunks and the end

void decode_chunk(Input head, std::uint64_t payload_bytes, Input& file, const Layout& layout,
                  bool opaque, bool segment_is_open, Bytes& out, std::uint64_t& num_records,
                  Segments& segments) {
  const std::uint64_t record = record_bytes(layout);
  num_records = head.varint();
  require(num_records <= (1u << 28) / record, "impossible chunk");
  const std::uint64_t kinds = head.number(1);
  const bool in_segments = kinds == 16 && !opaque;
  require(num_records >= 1 || in_segments, "a chunk without records");
  require_known(kinds == 0 || in_segments, "unknown kinds of checks or bounds");
  std::uint64_t column_bytes = 0;
  if (in_segments) {
    segments = read_segments_of_chunk(head);
    column_bytes = segments.model.column_bytes;
  }
  std::vector<Model> models;
  for (std::size_t i = 0; num_records > 0 && i < layout.size(); ++i) {
    models.push_back(read_model(head, layout[i], num_records, in_segments));
    column_bytes += models.back().column_bytes;
  }
  head.finish();
  require(column_bytes == payload_bytes, "sections and payload differ");
  require(segments.continues == segment_is_open, "segments that do not join");
  Input payload = file.take(payload_bytes);
  Input of_lengths = payload.take(segments.model.column_bytes);
  Bytes length_bytes;
  std::vector<std::uint64_t> lengths;
  const bool say_states = std::any_of(models.begin(), models.end(),
                                      [](const Model& model) { return model.says_states; });
  if (in_segments)
    lengths = decode_lengths(of_lengths, segments, num_records, say_states, length_bytes);
  Bytes values(num_records * record);
  const auto each_column = [&](auto step) {
    Input rest = payload;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      step(rest.take(models[i].column_bytes), models[i], layout[i], values.data() + at);
      at += std::uint64_t(layout[i].bytes) * layout[i].tuple;
    }
  };
  each_column([&](Input section, const Model& model, const Column& column, std::uint8_t* at) {
    decode_column(section, model, column, num_records, lengths, at, record);
  });
  if (in_segments)
    check_column(of_lengths, segments.model, kLength, segments.count, length_bytes.data(), 4);
  each_column([&](Input section, const Model& model, const Column& column, std::uint8_t* at) {
    check_column(section, model, column, num_records, at, record);
  });
  out.insert(out.end(), values.begin(), values.end());
}

struct Block {
  std::uint64_t tag;
  std::uint64_t bytes;
  std::uint64_t check;
  std::uint64_t records;
  Input head;
  Segments segments = {};

  bool is_chunk() const { return tag == 2 || tag == 3; }
  std::uint64_t index_tag() const { return segments.count > 0 ? 66 : tag; }
};

void check_index(Input head, const std::vector<Block>& blocks) {
  const std::uint64_t entries = head.varint();
  require(entries == 0 || entries == blocks.size(), "the index has another number of blocks");
  for (std::uint64_t i = 0; i < entries; ++i) {
    const Block& block = blocks[i];
    require(head.number(1) == block.index_tag() && head.varint() == block.bytes &&
                head.number(4) == block.check,
            "the index is wrong");
    const std::uint64_t number = head.varint();
    require(number == (block.is_chunk() ? block.records : block.head.left()), "the index is wrong");
    if (block.segments.count > 0)
      require(head.varint() == block.segments.count && head.number(1) == block.segments.joins(),
              "the index is wrong");
    if (block.is_chunk()) continue;
    const Input repeated = head.take(number);
    require(std::equal(repeated.at, repeated.end, block.head.at), "the index is wrong");
  }
  head.finish();
}

// ---- Section 3.4: metadata

void check_metadata(Input head) {
  const std::uint64_t entries = head.varint();
  require(entries >= 1, "metadata without entries");
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t key_bytes = head.varint();
    require(key_bytes >= 1 && key_bytes <= 255, "impossible key");
    head.take(key_bytes);
    head.take(head.varint());
  }
  head.finish();
}

// ---- Sections 2 and 3: streams and blocks

/// The blocks of one stream, as far as they have been read.
struct Stream {
  Layout layout;
  std::vector<Block> blocks;
  bool segment_is_open = false;
  bool ended = false;
};

void decode_block(Input& file, Stream& stream, Bytes& out) {
  const std::uint8_t* begin = file.at;
  const std::uint64_t tag = file.number(1);
  const std::uint64_t head_bytes = file.varint();
  require(head_bytes <= (tag >= 128 ? 1ull << 16
                         : tag == 4 ? (1ull << 32) - 64
                                    : 1ull << 24),
          "impossible head");
  const std::uint64_t payload_bytes = file.varint();
  require(payload_bytes <= 1ull << 40, "impossible payload");
  require(file.left() >= 4 && head_bytes <= file.left() - 4, "bytes are missing", "truncated");
  const Input head = file.take(head_bytes);
  const std::uint64_t check = xxh3(begin, file.at) & 0xffffffff;
  require(check == file.number(4), "the check of a block differs");
  require_known((tag >= 1 && tag <= 4) || tag >= 128, "unknown block");
  Block block{.tag = tag, .bytes = 0, .check = check, .records = 0, .head = head};
  if (block.is_chunk()) {
    const Layout opaque = {{.bytes = 1, .tuple = 1}};
    require(tag == 3 || !stream.layout.empty(), "a chunk before any layout");
    decode_chunk(head, payload_bytes, file, tag == 2 ? stream.layout : opaque, tag == 3,
                 stream.segment_is_open, out, block.records, block.segments);
    stream.segment_is_open = block.segments.goes_on;
  } else if (tag > 128) {
    file.take(payload_bytes);
  } else {
    require_known(payload_bytes == 0, "a payload where none is known");
    if (tag == 1) {
      Input fields = head;
      const Layout layout = read_layout(fields);
      require(!stream.segment_is_open, "a layout inside a segment");
      stream.layout = layout;
    }
    if (tag == 128) check_metadata(head);
    if (tag == 4) {
      check_index(head, stream.blocks);
      require(!stream.segment_is_open, "a segment that does not end");
      const auto end_bytes = static_cast<std::uint64_t>(file.at - begin);
      require(file.number(4) == end_bytes, "the footer is wrong");
      stream.ended = true;
    }
  }
  block.bytes = static_cast<std::uint64_t>(file.at - begin);
  stream.blocks.push_back(block);
}

/// `chunks` are counted through all streams of a file.
void decode_stream(Input& file, Bytes& out, std::uint64_t& chunks) {
  for (Stream stream; !stream.ended;) {
    const std::uint8_t* begin = file.at;
    const bool is_chunk = file.left() > 0 && (*begin == 2 || *begin == 3);
    try {
      refuse_at(begin, [&] { decode_block(file, stream, out); });
    } catch (Refusal& refusal) {
      if (is_chunk) refusal.chunk = chunks;
      throw;
    }
    chunks += is_chunk;
  }
}

enum class Opening { stream, skippable, cut, other };

/// What the next four bytes begin, or would if the input went on.
Opening next_opening(const Input& file, bool any_stream) {
  constexpr std::uint8_t kStream[] = {0x89, 0x47, 0x44, 0x5a};
  constexpr std::uint8_t kSkippable[] = {0x50, 0x2a, 0x4d, 0x18};  // to 5f 2a 4d 18
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(file.left(), 4));
  const bool skippable = !any_stream && shown > 0 && (file.at[0] & 0xf0) == kSkippable[0] &&
                         std::equal(file.at + 1, file.at + shown, kSkippable + 1);
  const bool stream = std::equal(file.at, file.at + shown, kStream);
  if (!stream && !skippable) return Opening::other;
  return shown < 4 ? Opening::cut : stream ? Opening::stream : Opening::skippable;
}

/// Reads a stream or, before the first, a skippable frame; says whether it was a stream.
bool decode_next(Input& file, Bytes& out, bool any_stream, std::uint64_t& chunks) {
  require(file.left() > 0, "there is no stream", "not_gdelta");
  const Opening opening = next_opening(file, any_stream);
  require(opening != Opening::other, "no stream begins here",
          any_stream ? "corrupt" : "not_gdelta");
  file.take(4);
  if (opening == Opening::skippable) {
    file.take(file.number(4));
    return false;
  }
  Input header = file.take(2);
  require(header.number(1) == 0, "unknown version", "unsupported_version");
  require_known((header.number(1) & 0x0f) == 0, "unknown flags");
  decode_stream(file, out, chunks);
  return true;
}

Bytes decode_file(const Bytes& bytes) {
  Input file{bytes.data(), bytes.data() + bytes.size(), "truncated"};
  Bytes out;
  std::uint64_t chunks = 0;
  for (bool any_stream = false; file.left() > 0 || !any_stream;)
    refuse_at(file.at, [&] { any_stream |= decode_next(file, out, any_stream, chunks); });
  return out;
}

/// As gdelta has them, with the class before: "corrupt: chunk 3, byte 1234: why".
std::string to_string(const Refusal& refusal, const Bytes& bytes) {
  std::string text = refusal.kind + ": ";
  if (refusal.chunk) text += "chunk " + std::to_string(*refusal.chunk) + ", ";
  return text + "byte " + std::to_string(refusal.at - bytes.data()) + ": " + refusal.what;
}

bool write_file(const char* path, const Bytes& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size()));
  out.close();
  return !out.fail();
}

int fail(const char* path, const std::string& what) {
  std::cerr << "plain_decoder: " << path << ": " << what << '\n';
  return 1;
}

int decode_file_to(const char* in_path, const char* out_path) {
  std::ifstream in(in_path, std::ios::binary);
  if (!in.is_open()) return fail(in_path, "cannot be opened");
  const Bytes bytes(std::istreambuf_iterator<char>(in), {});
  try {
    if (!write_file(out_path, decode_file(bytes))) return fail(out_path, "cannot be written");
  } catch (const Refusal& refusal) {
    return fail(in_path, to_string(refusal, bytes));
  }
  return 0;
}

}  // namespace
}  // namespace plain_decoder

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) {
    std::cerr << "usage: plain_decoder IN OUT [IN OUT]...\n";
    return 1;
  }
  int failed = 0;
  for (int i = 1; i < argc; i += 2) failed |= plain_decoder::decode_file_to(argv[i], argv[i + 1]);
  return failed;
}
