// Writes small files that ask a reader or a writer for much: `make_bombs DIR DIVISOR`, where counts of chunks
// and the sizes of the largest are divided by DIVISOR. ci/bombs runs the command on them and holds it to its bounds.
#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "golden/plain_encoder.h"
#include "kernels/checksum/part_check.h"

namespace {

using namespace gdelta;  // NOLINT
using format::BlockTag;
using plain::Bytes;
using plain::Choice;

/// A file that is written from the front and may have holes.
class BombFile {
 public:
  explicit BombFile(const std::string& path)
      : fd_(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail(path);
  }
  BombFile(const BombFile&) = delete;
  BombFile& operator=(const BombFile&) = delete;
  ~BombFile() {
    flush();
    if (ftruncate(fd_, static_cast<off_t>(at_)) != 0) fail("ftruncate");
    close(fd_);
  }

  void add(std::span<const std::byte> bytes) {
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    at_ += bytes.size();
    if (waiting_.size() >= kBufferBytes) flush();
  }
  void add_hole(std::uint64_t bytes) {
    flush();
    at_ += bytes;
  }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 20;

  [[noreturn]] static void fail(const std::string& what) {
    std::perror(what.c_str());
    std::exit(1);
  }
  void flush() {
    const auto from = static_cast<off_t>(at_ - waiting_.size());
    if (pwrite(fd_, waiting_.data(), waiting_.size(), from) !=
        static_cast<ssize_t>(waiting_.size()))
      fail("pwrite");
    waiting_.clear();
  }

  int fd_;
  std::uint64_t at_ = 0;
  Bytes waiting_;
};

/// A stream whose blocks go to the file as they come. Blocks may be holes that only the index knows.
class BombStream {
 public:
  explicit BombStream(BombFile& file) : file_(file) { file_.add(format::kStreamHeader); }

  void add_layout(const Layout& layout) {
    Bytes head;
    format::append_layout_head(head, {layout, {}});
    Bytes block;
    const std::uint32_t check = format::append_block(block, BlockTag::layout, head);
    file_.add(block);
    add_entry({.tag = BlockTag::layout,
               .block_bytes = block.size(),
               .check = check,
               .records = 0,
               .head = head});
  }
  void add_chunk(const Bytes& block) {
    file_.add(block);
    add_entry(format::chunk_entry(block));
  }
  void add_missing_chunks(std::uint64_t count, std::uint64_t block_bytes) {
    file_.add_hole(count * block_bytes);
    for (std::uint64_t i = 0; i < count; ++i)
      add_entry({.tag = BlockTag::chunk,
                 .block_bytes = block_bytes,
                 .check = 0,
                 .records = 1,
                 .head = {}});
  }
  void finish(bool with_index) {
    Bytes end;
    format::append_end_block(end, with_index ? entries_ : 0, index_);
    file_.add(end);
  }

 private:
  void add_entry(const format::IndexEntry& entry) {
    format::append_index_entry(index_, entry);
    ++entries_;
  }

  BombFile& file_;
  Bytes index_;
  std::uint64_t entries_ = 0;
};

/// A chunk of zeros; every column has this model, and `part` is the compressed form of each of its parts, which
/// are of one length.
Bytes chunk_of_zeros(const Layout& layout, std::uint64_t records, const Choice& choice,
                     const Bytes& part, bool opaque = false) {
  const std::uint64_t num_parts = format::num_parts(choice.model.section, records);
  format::SectionTable parts;
  Bytes section;
  for (std::uint64_t i = 0; i < num_parts; ++i) {
    section.insert(section.end(), part.begin(), part.end());
    parts.checks.push_back(finish_check(records / num_parts, 0));
    if (format::codes_residuals(choice.model.section.coder))
      parts.ends.push_back(static_cast<std::uint32_t>(section.size()));
  }
  Bytes models;
  Bytes payload;
  for (const Column& column : layout.columns) {
    format::append_column_model(models, column, choice.model, section.size(), parts);
    payload.insert(payload.end(), section.begin(), section.end());
  }
  Bytes block;
  format::append_chunk_head(block, opaque, records, payload.size(), models);
  block.insert(block.end(), payload.begin(), payload.end());
  return block;
}

Bytes opaque_byte() { return chunk_of_zeros(byte_layout(), 1, plain::raw(), Bytes(1), true); }

Layout layout_of(std::size_t columns, std::uint8_t tuple) {
  return {std::vector<Column>(columns, Column{ValueType::u8, tuple, false})};
}

/// With two strides, at the highest orders.
Choice strided(Coder coder, const Column& column, std::uint32_t far) {
  return plain::with_stride(
      plain::with_stride(plain::linked(coder, column, {kMaxOrder}), 2, kMaxOrder), far, kMaxOrder);
}

Bytes page_of_zeros(const Choice& choice, const Column& column) {
  const std::vector<plain::detail::Lane> lanes(
      column.tuple, plain::detail::Lane(choice.model.section.part_groups * format::kGroupValues));
  std::vector<plain::detail::Lane> states(column.tuple, plain::detail::Lane(kMaxOrder));
  Bytes page;
  plain::detail::part_appender(choice.model.section.coder)(page, lanes, states, 0, lanes[0].size(),
                                                           choice, column);
  return page;
}

Bytes frame_of_zeros(std::size_t bytes) {
  const Bytes zeros(bytes);
  Bytes frame(ZSTD_compressBound(bytes));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), bytes, 1));
  return frame;
}

void write_repeated(const std::string& path, const Layout& layout, const Bytes& block,
                    std::uint64_t count, bool opaque = false) {
  BombFile file(path);
  BombStream stream(file);
  if (!opaque) stream.add_layout(layout);
  for (std::uint64_t i = 0; i < count; ++i) stream.add_chunk(block);
  stream.finish(true);
}

// ---- Much content from few bytes

void write_content_bombs(const std::string& folder, std::uint64_t divisor) {
  const Layout bytes = layout_of(1, 1);
  const std::uint64_t most = kMaxChunkBytes / divisor;
  const Bytes largest = chunk_of_zeros(bytes, most, plain::constant(), Bytes(1));
  write_repeated(folder + "/constant", bytes, largest, 24);

  const Choice zstd = strided(Coder::zstd, bytes.columns[0], kMaxStride);
  write_repeated(folder + "/strides", bytes,
                 chunk_of_zeros(bytes, most, zstd, frame_of_zeros(most)), 1);
  // Blocks of which a limit holds a few.
  const std::uint64_t some = most / 16;
  write_repeated(folder + "/zstd_chunks", bytes,
                 chunk_of_zeros(bytes, some, plain::linked(Coder::zstd, bytes.columns[0], {1}),
                                frame_of_zeros(some)),
                 40);

  const Layout widest = layout_of(kMaxColumns, 1);
  const std::uint64_t records = most / kMaxColumns;
  write_repeated(folder + "/columns", widest,
                 chunk_of_zeros(widest, records, plain::constant(), Bytes(1)), 1);
  const Choice column = strided(Coder::zstd, bytes.columns[0], records / 4);
  write_repeated(folder + "/zstd_columns", widest,
                 chunk_of_zeros(widest, records, column, frame_of_zeros(records)), 1);

  // Pairs, since a head has no room for the pages of so many bytes.
  const Layout pairs = layout_of(1, 2);
  const Choice pages = strided(Coder::pack, pairs.columns[0], kMaxStride / divisor);
  write_repeated(folder + "/pages", pairs,
                 chunk_of_zeros(pairs, most / 2, pages, page_of_zeros(pages, pairs.columns[0])), 1);
}

// ---- Many blocks

void write_chunk_bombs(const std::string& folder, std::uint64_t divisor) {
  const Layout bytes = layout_of(1, 1);
  write_repeated(folder + "/tiny_chunks", bytes, opaque_byte(), 1000000 / divisor, true);
  write_repeated(folder + "/more_tiny_chunks", bytes, opaque_byte(), 5000000 / divisor, true);

  const Layout wide = layout_of(1024, kMaxTuple);
  Choice coded = plain::linked(Coder::zstd, wide.columns[0], {1});
  const Bytes models = chunk_of_zeros(wide, 1, coded, Bytes(1));  // no frame; list decodes none
  write_repeated(folder + "/models", wide, models, std::max<std::uint64_t>(400 / divisor, 40));

  const Bytes record = chunk_of_zeros(bytes, 1, plain::raw(), Bytes(1));
  for (const bool with_index : {true, false}) {
    BombFile file(folder + (with_index ? "/pairs" : "/pairs_without_index"));
    BombStream stream(file);
    stream.add_layout(bytes);
    for (std::uint64_t i = 0; i < 40000 / divisor; ++i) {
      stream.add_chunk(record);
      stream.add_chunk(opaque_byte());
    }
    stream.finish(with_index);
  }

  BombFile streams(folder + "/streams");
  for (std::uint64_t i = 0; i < 400000 / divisor; ++i) {
    BombStream stream(streams);
    stream.add_chunk(opaque_byte());
    stream.finish(true);
  }
  BombFile layouts(folder + "/layouts");
  BombStream stream(layouts);
  const Layout widest = layout_of(kMaxColumns, 1);
  const Bytes chunk = chunk_of_zeros(widest, 1, plain::constant(), Bytes(1));
  for (std::uint64_t i = 0; i < 1000 / divisor; ++i) {
    stream.add_layout(widest);
    stream.add_chunk(chunk);
  }
  stream.finish(true);
}

// ---- Ends that claim much

void write_index_bombs(const std::string& folder, std::uint64_t divisor) {
  {
    BombFile file(folder + "/footer");
    file.add(format::kStreamHeader);
    Bytes start;
    format::append_le(start, 1, static_cast<std::uint64_t>(BlockTag::end));
    format::append_varint(start, format::kMaxEndHeadBytes);
    format::append_varint(start, 1u << 30);
    const std::uint64_t end_bytes = 6 + format::kMaxEndHeadBytes + format::kCheckBytes;
    Bytes tail;
    format::append_le(tail, format::kCheckBytes, 0);
    format::append_le(tail, format::kFooterBytes, end_bytes);
    file.add(start);
    file.add_hole(end_bytes - start.size() - format::kCheckBytes);
    file.add(tail);
  }
  constexpr std::uint64_t kClaimed = 18;  // bytes of a chunk, no fewer than any has
  {
    BombFile file(folder + "/index");
    BombStream stream(file);
    stream.add_layout(layout_of(1, 1));
    stream.add_missing_chunks(10000000 / divisor, kClaimed);
    stream.finish(true);
  }
  BombFile file(folder + "/wide_index");
  BombStream stream(file);
  stream.add_layout(layout_of(kMaxColumns, 1));
  stream.add_missing_chunks(1000000 / divisor, kClaimed);
  stream.finish(true);
}

// ---- Files to compress, full of what looks like the heads of arrays

void add_text(Bytes& bytes, std::string_view text) {
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

/// An array, and behind it the same text over and over.
void write_heads(const std::string& path, std::string_view text, std::uint64_t divisor) {
  BombFile file(path);
  Bytes array;
  add_text(array, {"\x93NUMPY\1\0\x46\0", 10});
  add_text(array, "{'descr': '<f4', 'fortran_order': False, 'shape': (6000,)            }");
  array.resize(array.size() + 24000);
  file.add(array);
  Bytes repeated;
  add_text(repeated, text);
  const std::uint64_t bytes = (std::uint64_t{16} << 20) / divisor;
  for (std::uint64_t at = 0; at < bytes; at += repeated.size()) file.add(repeated);
}

void write_head_bombs(const std::string& folder, std::uint64_t divisor) {
  std::string wav = "RIFF____WAVE";
  for (int i = 0; i < 2000; ++i) wav.append("junk\0\0\0\0", 8);
  write_heads(folder + "/wav_heads", wav, divisor);
  std::string npy("\x93NUMPY\2\0\xa0\x86\1\0{'descr': [", 23);
  for (int i = 0; i < 4000; ++i) npy += "('',[('','<f4')],(1,)),";
  write_heads(folder + "/npy_heads", npy, divisor);
  write_heads(folder + "/tar_heads", "ustar", divisor);
}

// ---- Files to compress, cut into the shortest chunks there are

void write_bytes(const std::string& path, std::uint64_t divisor) {
  BombFile file(path);
  Bytes bytes((std::uint64_t{512} << 10) / divisor);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  file.add(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_bombs DIR DIVISOR\n", stderr);
    return 1;
  }
  const std::string folder = argv[1];
  const std::uint64_t divisor = std::clamp(std::strtoul(argv[2], nullptr, 10), 1ul, 16ul);
  write_content_bombs(folder, divisor);
  write_chunk_bombs(folder, divisor);
  write_index_bombs(folder, divisor);
  write_head_bombs(folder, divisor);
  write_bytes(folder + "/bytes", divisor);
  return 0;
}
