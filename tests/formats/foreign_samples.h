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
  FileMaker& append(const FileMaker& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
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

/// Asks once with and once without the length of the file, and checks what every answer must keep.
inline std::optional<Recognised> recognise_checked(const Bytes& file) {
  const auto piped = recognise(file, std::nullopt);
  const auto found = recognise(file, file.size());
  EXPECT_EQ(piped.has_value(), found.has_value());
  for (const auto& answer : {piped, found}) {
    if (!answer) continue;
    EXPECT_FALSE(answer->name.empty());
    EXPECT_LE(answer->head_bytes, file.size());
    EXPECT_TRUE(check_layout(answer->layout));
    if (answer->data_bytes != kUntilTheEnd) {
      EXPECT_LE(answer->data_bytes, kUntilTheEnd - answer->head_bytes);
      EXPECT_EQ(answer->data_bytes % answer->layout.record_bytes(), 0u);
    }
  }
  if (found) {
    EXPECT_LE(found->data_bytes, file.size() - found->head_bytes);
  }
  return found;
}

/// Every truncation and every single-bit flip of a file keeps the invariant.
inline void damage_everywhere(const Bytes& file) {
  for (std::size_t length = 0; length < file.size(); ++length)
    recognise_checked(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    recognise_checked(flipped);
  }
}

}  // namespace gdelta::format
