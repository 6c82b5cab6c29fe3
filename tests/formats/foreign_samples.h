// Small files of foreign formats, made by hand, and the invariant that every answer about them keeps.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/foreign/foreign.h"

namespace gdelta::format {

using Bytes = std::vector<std::byte>;

/// Appends numbers and text in the byte order it was made for.
class FileMaker {
 public:
  FileMaker() = default;
  explicit FileMaker(bool big_endian) : big_endian_(big_endian) {}

  FileMaker& number(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> (8 * (big_endian_ ? count - 1 - i : i))));
    return *this;
  }
  FileMaker& u16(std::uint64_t value) { return number(value, 2); }
  FileMaker& u32(std::uint64_t value) { return number(value, 4); }
  FileMaker& u64(std::uint64_t value) { return number(value, 8); }
  FileMaker& text(std::string_view characters) {
    for (const char c : characters) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  FileMaker& fill(std::uint64_t count, int value = 0xaa) {
    bytes_.insert(bytes_.end(), count, static_cast<std::byte>(value));
    return *this;
  }
  FileMaker& append(const Bytes& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  FileMaker& append(const FileMaker& other) { return append(other.bytes_); }
  std::uint64_t size() const { return bytes_.size(); }
  const Bytes& bytes() const { return bytes_; }

 private:
  bool big_endian_ = false;
  Bytes bytes_;
};

struct WavFormat {
  std::uint64_t tag = 1, channels = 2, bits = 16;
  std::uint64_t frame_bytes = 4;
  bool extensible = false;
  std::uint64_t valid_bits = 16;
};

/// A "fmt " chunk, its head included.
inline FileMaker fmt_chunk(const WavFormat& format, bool big_endian = false) {
  FileMaker chunk(big_endian);
  chunk.text("fmt ").u32(format.extensible ? 40 : 16);
  chunk.u16(format.extensible ? 0xfffe : format.tag).u16(format.channels).u32(44100);
  chunk.u32(44100 * format.frame_bytes).u16(format.frame_bytes).u16(format.bits);
  if (format.extensible) {
    chunk.u16(22).u16(format.valid_bits).u32(3);
    chunk.u32(format.tag)
        .u16(0)
        .u16(0x10)
        .text(std::string_view("\x80\x00\x00\xaa\x00\x38\x9b\x71", 8));
  }
  return chunk;
}

/// A whole file: head, `before`, data of `data_bytes`, `after`.
inline FileMaker wav_file(const WavFormat& format, std::uint64_t data_bytes,
                          const FileMaker& before = FileMaker(),
                          const FileMaker& after = FileMaker(), bool big_endian = false) {
  const FileMaker fmt = fmt_chunk(format, big_endian);
  FileMaker file(big_endian);
  file.text(big_endian ? "RIFX" : "RIFF");
  file.u32(4 + fmt.size() + before.size() + 8 + data_bytes + after.size()).text("WAVE");
  file.append(fmt).append(before).text("data").u32(data_bytes).fill(data_bytes).append(after);
  return file;
}

/// A whole file of version 1 to 3 with this dictionary and `data_bytes` behind it.
inline FileMaker npy_file(std::string literal, std::uint64_t data_bytes, int version = 1) {
  const std::size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + literal.size() + 1) % 64 != 0) literal += ' ';
  literal += '\n';
  FileMaker file;
  file.text("\x93NUMPY").number(static_cast<std::uint64_t>(version), 1).number(0, 1);
  file.number(literal.size(), version == 1 ? 2 : 4).text(literal).fill(data_bytes);
  return file;
}

inline std::string npy_literal(std::string_view descr, std::string_view shape,
                               bool fortran = false) {
  std::string literal = "{'descr': '";
  literal.append(descr).append("', 'fortran_order': ").append(fortran ? "True" : "False");
  return literal.append(", 'shape': ").append(shape).append(", }");
}

/// The same file with these numbers instead of its last bytes.
inline FileMaker with_data(const FileMaker& file, const Bytes& data) {
  FileMaker filled;
  return filled
      .append(Bytes(file.bytes().begin(),
                    file.bytes().end() - static_cast<std::ptrdiff_t>(data.size())))
      .append(data);
}

struct ZipFormat {
  std::uint64_t flags = 0, method = 0;
  bool long_sizes = false;  // as numpy.savez writes them
};

/// A member of a ZIP archive, its local header included.
inline FileMaker zip_file(std::string_view name, const FileMaker& content,
                          const ZipFormat& format = {}) {
  const std::uint64_t size = (format.flags & 8) != 0 ? 0 : content.size();
  const std::uint64_t short_size = format.long_sizes ? 0xffffffff : size;
  FileMaker file;
  file.text("PK\3\4").u16(45).u16(format.flags).u16(format.method).u32(0).u32(0);
  file.u32(short_size).u32(short_size).u16(name.size()).u16(format.long_sizes ? 20 : 0).text(name);
  if (format.long_sizes) file.u16(1).u16(16).u64(size).u64(size);
  file.append(content);
  if ((format.flags & 8) != 0) file.text("PK\7\10").u32(0).u32(content.size()).u32(content.size());
  return file;
}

/// A member of a TAR archive, padded; `kind` is '0' for a file, '5' for a folder.
inline FileMaker tar_file(std::string_view name, const FileMaker& content, char kind = '0',
                          bool binary_size = false) {
  const auto octal = [](std::uint64_t value, int digits) {
    std::string text;
    for (int i = digits - 1; i >= 0; --i) text += static_cast<char>('0' + (value >> 3 * i & 7));
    return text;
  };
  const auto head = [&](std::string_view check) {
    FileMaker file;
    file.text(name).fill(100 - name.size(), 0).text("0000644").fill(17, 0);
    if (binary_size) {
      file.number(0x80, 1).fill(3, 0);
      for (int i = 7; i >= 0; --i) file.number(content.size() >> 8 * i, 1);
    } else {
      file.text(octal(content.size(), 11)).fill(1, 0);
    }
    file.fill(12, 0).text(check).text(std::string_view(&kind, 1)).fill(100, 0);
    return file.text("ustar").fill(250, 0);
  };
  std::uint64_t sum = 0;
  const FileMaker blank = head("        ");
  for (const std::byte b : blank.bytes()) sum += std::to_integer<std::uint64_t>(b);
  FileMaker file = head(octal(sum, 6) + std::string("\0 ", 2));
  return file.append(content).fill((512 - content.size() % 512) % 512, 0);
}

/// What every answer must keep about a file that begins with `seen`.
inline void check_answer(const std::optional<Recognised>& answer, std::uint64_t seen_bytes,
                         std::optional<std::uint64_t> total_bytes) {
  if (!answer) return;
  EXPECT_FALSE(recognised_sentence(answer->name).empty());
  EXPECT_LE(answer->head_bytes, seen_bytes);
  EXPECT_TRUE(check_layout(answer->layout));
  if (total_bytes) {
    EXPECT_LE(answer->data_bytes, *total_bytes - answer->head_bytes);
  }
  if (answer->data_bytes != kUntilTheEnd) {
    EXPECT_LE(answer->data_bytes, kUntilTheEnd - answer->head_bytes);
    EXPECT_EQ(answer->data_bytes % answer->layout.record_bytes(), 0u);
  }
}

/// Asks once with and once without the length of the file, and checks what every answer must keep.
inline std::optional<Recognised> recognise_checked(const Bytes& file) {
  const auto piped = recognise(file, std::nullopt);
  const auto found = recognise(file, file.size());
  EXPECT_EQ(piped.has_value(), found.has_value());
  check_answer(piped, file.size(), std::nullopt);
  check_answer(found, file.size(), file.size());
  return found;
}

/// The same of what follows an array.
inline std::optional<Recognised> recognise_next_checked(const Bytes& rest,
                                                        const Recognised* before = nullptr) {
  const auto piped = recognise_next(before, rest, std::nullopt);
  const auto found = recognise_next(before, rest, rest.size());
  check_answer(piped, rest.size(), std::nullopt);
  check_answer(found, rest.size(), rest.size());
  return found;
}

inline const FileMaker kNpy = npy_file(npy_literal("<f4", "(2000, 3)"), 24000);
inline const std::uint64_t kNpyHead = kNpy.size() - 24000;
inline const FileMaker kWav = wav_file({}, 8000);

/// Every truncation and every single-bit flip of a file keeps the invariant.
inline void damage_everywhere(const Bytes& file) {
  const auto ask = [](const Bytes& damaged) {
    recognise_checked(damaged);
    recognise_next_checked(damaged);
  };
  for (std::size_t length = 0; length < file.size(); ++length)
    ask(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ask(flipped);
  }
}

}  // namespace gdelta::format
