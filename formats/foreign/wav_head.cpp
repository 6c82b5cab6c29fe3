#include "formats/foreign/wav_head.h"

#include <algorithm>
#include <string>

#include "formats/foreign/byte_view.h"
#include "formats/foreign/foreign_formats.h"

namespace gdelta::format {

namespace {

constexpr std::uint64_t kUnknownSize = 0xffffffff;  // of a chunk: see ds64, or never filled in
constexpr std::uint64_t kChunkHeadBytes = 8;        // id, size

constexpr std::uint64_t kTagPcm = 1;
constexpr std::uint64_t kTagFloat = 3;
constexpr std::uint64_t kTagExtensible = 0xfffe;

/// Which type holds samples of this tag in containers of so many bytes.
std::optional<ValueType> sample_type(std::uint64_t tag, std::uint64_t container_bytes) {
  if (tag == kTagPcm) {
    switch (container_bytes) {
      case 1:
        return ValueType::u8;  // the one unsigned width of WAV
      case 2:
        return ValueType::i16;
      case 3:
        return ValueType::i24;
      case 4:
        return ValueType::i32;
      case 8:
        return ValueType::i64;
    }
  } else if (tag == kTagFloat) {
    switch (container_bytes) {
      case 2:
        return ValueType::f16;
      case 4:
        return ValueType::f32;
      case 8:
        return ValueType::f64;
    }
  }
  return std::nullopt;
}

/// The tag inside a GUID {0000tttt-0000-0010-8000-00aa00389b71} of WAVE_FORMAT_EXTENSIBLE; 0 for
/// others.
std::uint64_t guid_tag(const ByteView& file, std::uint64_t at) {
  constexpr std::string_view kLastBytes("\x80\x00\x00\xaa\x00\x38\x9b\x71", 8);
  const std::uint64_t tag = file.number(at, 4);
  const bool known = file.number(at + 4, 2) == 0 && file.number(at + 6, 2) == 0x10 &&
                     file.text(at + 8, 8) == kLastBytes;
  return known ? tag : 0;
}

/// Records of one sample for each channel; beyond kMaxTuple channels, in several columns.
Layout layout_of(Column sample, std::uint64_t channels) {
  Layout layout;
  for (; channels > 0; channels -= sample.tuple) {
    sample.tuple = static_cast<std::uint8_t>(std::min<std::uint64_t>(channels, kMaxTuple));
    layout.columns.push_back(sample);
  }
  return layout;
}

/// What a "fmt " chunk says.
struct SampleFormat {
  Layout layout;
  std::uint64_t sample_rate = 0;  // 0: none

  std::vector<MetadataEntry> metadata() const {
    if (sample_rate == 0) return {};
    return {{"sample_rate", std::to_string(sample_rate)}};
  }
};

/// Reads a "fmt " chunk of `size` bytes.
std::optional<SampleFormat> parse_fmt(const ByteView& file, std::uint64_t at, std::uint64_t size,
                                      bool big_endian) {
  if (size < 16 || !file.has(at, size)) return std::nullopt;
  std::uint64_t tag = file.number(at, 2);
  const std::uint64_t channels = file.number(at + 2, 2);
  const std::uint64_t frame_bytes = file.number(at + 12, 2);
  const std::uint64_t bits = file.number(at + 14, 2);
  if (tag == kTagExtensible) {
    if (size < 40) return std::nullopt;
    if (file.number(at + 18, 2) > bits) return std::nullopt;  // valid bits of a container
    tag = guid_tag(file, at + 24);
  }
  if (channels < 1 || bits < 1) return std::nullopt;
  // Some writers leave the frame size out; if it is there it tells the container, which may be
  // wider than the bits used (24 bits in four bytes).
  const std::uint64_t container_bytes = frame_bytes == 0 ? (bits + 7) / 8 : frame_bytes / channels;
  if (frame_bytes % channels != 0 || bits > 8 * container_bytes) return std::nullopt;
  const auto type = sample_type(tag, container_bytes);
  if (!type) return std::nullopt;
  return SampleFormat{layout_of({*type, 1, big_endian && value_bytes(*type) > 1}, channels),
                      file.number(at + 4, 4)};
}

/// Sizes beyond 32 bits, from the "ds64" chunk of RF64.
struct LongSizes {
  std::uint64_t at = 0;  // of the chunk's content; 0: there is none
  std::uint64_t size = 0;

  std::uint64_t of_data(const ByteView& file) const { return file.number(at + 8, 8); }
  /// Of another chunk, from the table; kUnknownSize if it is not listed.
  std::uint64_t of_chunk(const ByteView& file, std::string_view id) const {
    constexpr std::uint64_t kTableAt = 28, kEntryBytes = 12;
    if (at == 0 || size < kTableAt) return kUnknownSize;
    const std::uint64_t entries =
        std::min(file.number(at + 24, 4), (size - kTableAt) / kEntryBytes);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t entry = at + kTableAt + i * kEntryBytes;
      if (file.text(entry, 4) == id) return file.number(entry + 4, 8);
    }
    return kUnknownSize;
  }
};

bool looks_like_chunk_id(std::string_view id) {
  return id.size() == 4 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_chunk_of_samples(std::string_view id) { return id == "data" || id == "fmt "; }

/// Where the chunk after one of `size` bytes at `at` begins. A chunk of odd size is padded by a
/// byte, but some writers forget it.
std::uint64_t next_chunk(const ByteView& file, std::uint64_t at, std::uint64_t size) {
  const std::uint64_t end = at + size;
  if (size % 2 == 0) return end;
  return is_chunk_of_samples(file.text(end, 4)) ? end : end + 1;
}

/// Whether a file of a known format begins here.
bool looks_like_file(std::span<const std::byte> prefix) {
  const auto formats = foreign_formats();
  return std::any_of(formats.begin(), formats.end(),
                     [prefix](const ForeignFormat& format) { return has_magic(format, prefix); });
}

/// Whether nothing follows, or a chunk that fits into what is left of the file.
bool chunk_or_nothing_follows(const ByteView& file, std::uint64_t at, std::uint64_t total_bytes) {
  if (at == total_bytes) return true;
  return looks_like_chunk_id(file.text(at, 4)) && file.has(at, kChunkHeadBytes) &&
         file.number(at + 4, 4) <= total_bytes - at - kChunkHeadBytes;
}

/// How many bytes after the head of the data chunk are samples. The size that the chunk states is
/// believed unless something contradicts it: recorders that write to a pipe, die, or pass 4 GiB
/// leave a wrong one.
std::uint64_t data_size(const ByteView& file, std::uint64_t head_bytes, std::uint64_t stated,
                        bool long_sizes, std::optional<std::uint64_t> total_bytes) {
  if (stated == kUnknownSize && !long_sizes) return kUntilTheEnd;
  const std::uint64_t stated_file_bytes = file.number(4, 4) + kChunkHeadBytes;
  if (stated == 0) {
    // Some writers to a pipe know the length of the file only.
    const bool is_empty = total_bytes && stated_file_bytes == *total_bytes &&
                          chunk_or_nothing_follows(file, head_bytes, *total_bytes);
    return is_empty || looks_like_file(file.from(stated_file_bytes)) ? 0 : kUntilTheEnd;
  }
  if (total_bytes) {
    const std::uint64_t left = *total_bytes - head_bytes;
    const bool wrapped = !long_sizes && stated < left && left - stated > kUnknownSize;
    if (stated > left || wrapped) return kUntilTheEnd;
  }
  // What follows the samples must be another chunk or file, as far as can be seen.
  if (stated <= file.size() - head_bytes) {
    const std::uint64_t after = head_bytes + stated;
    if (file.has(after, kChunkHeadBytes + 1) && !looks_like_chunk_id(file.text(after, 4)) &&
        !looks_like_chunk_id(file.text(after + 1, 4)) && !looks_like_file(file.from(after)))
      return kUntilTheEnd;
  }
  return stated;
}

}  // namespace

std::optional<Recognised> recognise_wav(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t> total_bytes) {
  const std::string_view magic = ByteView(prefix).text(0, 4);
  const bool big_endian = magic == "RIFX";
  const bool has_long_sizes = magic == "RF64" || magic == "BW64";
  const ByteView file(prefix, big_endian);
  if ((magic != "RIFF" && !big_endian && !has_long_sizes) || file.text(8, 4) != "WAVE")
    return std::nullopt;

  std::optional<SampleFormat> samples;
  LongSizes long_sizes;
  for (std::uint64_t at = 12; file.has(at, kChunkHeadBytes);) {
    const std::string_view id = file.text(at, 4);
    std::uint64_t size = file.number(at + 4, 4);
    const std::uint64_t content = at + kChunkHeadBytes;
    if (id == "data") {
      if (!samples) return std::nullopt;
      const bool is_long = has_long_sizes && size == kUnknownSize && long_sizes.at != 0;
      if (is_long) size = long_sizes.of_data(file);
      return Recognised{.head_bytes = content,
                        .layout = samples->layout,
                        .data_bytes = data_size(file, content, size, is_long, total_bytes),
                        .metadata = samples->metadata()};
    }
    if (has_long_sizes && size == kUnknownSize) size = long_sizes.of_chunk(file, id);
    if (!file.has(content, size)) return std::nullopt;
    if (id == "fmt ") {
      if (samples) return std::nullopt;
      samples = parse_fmt(file, content, size, big_endian);
      if (!samples) return std::nullopt;
    } else if (id == "ds64" && has_long_sizes && size >= 24) {
      long_sizes = {content, size};
    }
    at = next_chunk(file, content, size);
  }
  return std::nullopt;
}

std::optional<Recognised> recognise_more_wav(const Recognised& before,
                                             std::span<const std::byte> prefix,
                                             std::optional<std::uint64_t> bytes_left) {
  // If samples of one byte hide the byte order, sizes that make no sense end the search.
  const bool big_endian = before.layout.columns.front().big_endian;
  const ByteView file(prefix, big_endian);
  Layout layout = before.layout;
  const bool is_odd = (before.data_bytes + before.torn_bytes) % 2 != 0;
  std::uint64_t at = before.torn_bytes;
  if (is_odd && !is_chunk_of_samples(file.text(at, 4))) ++at;
  while (file.has(at, kChunkHeadBytes)) {
    const std::string_view id = file.text(at, 4);
    const std::uint64_t size = file.number(at + 4, 4);
    const std::uint64_t content = at + kChunkHeadBytes;
    if (!looks_like_chunk_id(id) || id == "RIFF" || id == "RIFX") return std::nullopt;
    if (id == "data") {
      if (bytes_left && size > *bytes_left - content) return std::nullopt;
      return Recognised{.head_bytes = content, .layout = std::move(layout), .data_bytes = size};
    }
    if (!file.has(content, size)) return std::nullopt;
    if (id == "fmt ") {
      auto changed = parse_fmt(file, content, size, big_endian);
      if (!changed) return std::nullopt;
      layout = std::move(changed->layout);
    }
    at = next_chunk(file, content, size);
  }
  return std::nullopt;
}

}  // namespace gdelta::format
