// A slow encoder that writes any model the format allows, also those that no planner chooses. It
// makes the golden files, and streams for tests.
#pragma once

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"
#include "formats/gdelta/end_block.h"
#include "formats/gdelta/layout_block.h"
#include "formats/gdelta/stream_header.h"
#include "kernels/bitpack/group_layout.h"

namespace gdelta::plain {

using Bytes = std::vector<std::byte>;

/// A model, and what the encoder is free to choose besides.
struct Choice {
  format::ColumnModel model;
  int width = -1;                     // of every group of pack; -1: the cheapest
  bool begin_at_first_value = false;  // the state of the first page of pack
};

inline Choice raw() { return {}; }

inline Choice constant() {
  Choice choice;
  choice.model.coder = Coder::constant;
  return choice;
}

/// `orders` names one order for all lanes or one for each.
inline Choice linked(Coder coder, const Column& column, std::vector<int> orders) {
  Choice choice;
  choice.model.coder = coder;
  for (int lane = 0; lane < column.tuple; ++lane)
    choice.model.orders[lane] = static_cast<std::uint8_t>(
        orders[std::min<std::size_t>(static_cast<std::size_t>(lane), orders.size() - 1)]);
  return choice;
}

inline Choice with_stride(Choice choice, std::uint32_t stride, int order) {
  choice.model.strides[choice.model.num_strides++] = {stride, static_cast<std::uint8_t>(order)};
  return choice;
}

namespace detail {

using Lane = std::vector<std::uint64_t>;

inline std::uint64_t mask_of(const Column& column) {
  return ~std::uint64_t{0} >> (64 - value_bits(column.type));
}

/// Bytes `at`, `at + step`, ... of one column as the values of one lane.
inline Lane read_lane(std::span<const std::byte> records, std::size_t record_bytes,
                      std::size_t column_at, const Column& column, int lane) {
  const int bytes = value_bytes(column.type);
  Lane values;
  for (std::size_t at = column_at; at < records.size(); at += record_bytes) {
    std::uint64_t value = 0;
    for (int b = 0; b < bytes; ++b) {
      const int from = column.big_endian ? bytes - 1 - b : b;
      value |= std::to_integer<std::uint64_t>(
                   records[at + static_cast<std::size_t>(lane * bytes + from)])
               << (8 * b);
    }
    values.push_back(value);
  }
  return values;
}

inline void apply_map_and_strides(Lane& lane, const Column& column,
                                  const format::ColumnModel& model) {
  const std::uint64_t mask = mask_of(column);
  const std::uint64_t sign = mask ^ (mask >> 1);
  if (model.map == format::ValueMap::ordered)
    for (std::uint64_t& value : lane) value ^= (value & sign) != 0 ? mask : sign;
  for (int link = 0; link < model.num_strides; ++link)
    for (int k = 0; k < model.strides[link].order; ++k)
      for (std::size_t i = lane.size(); i-- > model.strides[link].stride;)
        lane[i] = (lane[i] - lane[i - model.strides[link].stride]) & mask;
}

/// The residual, zigzagged, that leads from `state` (y1 ... yq) to the value, and the state after.
inline std::uint64_t step(Lane& state, std::uint64_t value, const Column& column) {
  const std::uint64_t mask = mask_of(column);
  std::uint64_t residual = value;
  for (std::size_t k = state.size(); k-- > 0;) {
    const std::uint64_t before = state[k];
    state[k] = residual;
    residual = (residual - before) & mask;
  }
  const std::uint64_t sign = mask ^ (mask >> 1);
  return ((residual << 1) ^ ((residual & sign) != 0 ? ~std::uint64_t{0} : 0)) & mask;
}

inline void append_group(Bytes& groups, Bytes& descriptors, Bytes& exceptions,
                         std::span<const std::uint64_t> residuals, const Choice& choice,
                         const Column& column) {
  const int bits = value_bits(column.type);
  std::uint8_t counts[65] = {};
  std::uint64_t padded[format::kGroupValues] = {};
  std::copy(residuals.begin(), residuals.end(), padded);
  int longest = 0;
  for (const std::uint64_t z : padded) {
    int needed = 0;
    while (needed < 64 && (z >> needed) != 0) ++needed;
    ++counts[needed];
    longest = std::max(longest, needed);
  }
  GroupDescriptor descriptor = choose_width(counts, bits).descriptor;
  if (choice.width >= 0) {
    int above = 0;
    for (int b = choice.width + 1; b <= bits; ++b) above += counts[b];
    const int high_bits = longest - choice.width;
    const int high_bytes = high_bits <= 8 ? 1 : high_bits <= 16 ? 2 : high_bits <= 32 ? 4 : 8;
    descriptor = above > 127 ? make_descriptor(longest, 0, 1)
                             : make_descriptor(choice.width, above, high_bytes);
  }
  format::append_le(descriptors, 2, descriptor.bits);
  const int width = descriptor.width();
  const std::size_t at = groups.size();
  groups.resize(at + static_cast<std::size_t>(descriptor.group_bytes()));
  Bytes positions;
  Bytes highs;
  for (int l = 0; l < 16; ++l)
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t z = padded[8 * l + i];
      for (int bit = 0; bit < width; ++bit) {
        const int to = (16 * i + l) * width + bit;
        if ((z >> bit) & 1)
          groups[at + static_cast<std::size_t>(to / 8)] |= std::byte{1} << (to % 8);
      }
      if (width < 64 && (z >> width) != 0) {
        format::append_le(positions, 1, static_cast<std::uint64_t>(8 * l + i));
        format::append_le(highs, descriptor.high_bytes(), z >> width);
      }
    }
  exceptions.insert(exceptions.end(), positions.begin(), positions.end());
  exceptions.insert(exceptions.end(), highs.begin(), highs.end());
}

inline Bytes pack_section(const std::vector<Lane>& lanes, const Choice& choice,
                          const Column& column, std::vector<std::uint32_t>& page_ends) {
  const std::size_t n = lanes[0].size();
  const std::size_t page = format::page_tuples(choice.model);
  std::vector<Lane> states;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    states.emplace_back(choice.model.orders[lane]);
    if (choice.begin_at_first_value && !states.back().empty())
      states.back().back() = lanes[lane][0];
  }
  Bytes section;
  for (std::size_t begin = 0; begin < n; begin += page) {
    const std::size_t end = std::min(n, begin + page);
    Bytes descriptors;
    Bytes groups;
    Bytes exceptions;
    for (const Lane& state : states)
      for (const std::uint64_t y : state) format::append_le(section, value_bytes(column.type), y);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      Lane residuals;
      for (std::size_t i = begin; i < end; ++i)
        residuals.push_back(step(states[lane], lanes[lane][i], column));
      for (std::size_t g = 0; g < residuals.size(); g += format::kGroupValues)
        append_group(groups, descriptors, exceptions,
                     std::span(residuals).subspan(
                         g, std::min<std::size_t>(format::kGroupValues, residuals.size() - g)),
                     choice, column);
    }
    section.insert(section.end(), descriptors.begin(), descriptors.end());
    section.insert(section.end(), groups.begin(), groups.end());
    section.insert(section.end(), exceptions.begin(), exceptions.end());
    page_ends.push_back(static_cast<std::uint32_t>(section.size()));
  }
  return section;
}

inline Bytes zstd_section(const std::vector<Lane>& lanes, const Choice& choice,
                          const Column& column, std::vector<std::uint32_t>& frame_sizes) {
  const std::size_t n = lanes[0].size();
  const std::size_t width = static_cast<std::size_t>(value_bytes(column.type));
  Bytes arranged(n * lanes.size() * width);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    Lane state(choice.model.orders[lane]);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t z = step(state, lanes[lane][i], column);
      for (std::size_t b = 0; b < width; ++b) {
        const bool planes = choice.model.arrangement == format::Arrangement::planes;
        const std::size_t to =
            planes ? (lane * width + b) * n + i : (i * lanes.size() + lane) * width + b;
        arranged[to] = static_cast<std::byte>(z >> (8 * b));
      }
    }
  }
  Bytes section;
  for (std::size_t at = 0; at < arranged.size(); at += choice.model.frame_bytes) {
    const std::size_t piece = std::min<std::size_t>(choice.model.frame_bytes, arranged.size() - at);
    Bytes frame(ZSTD_compressBound(piece));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), arranged.data() + at, piece, 3));
    section.insert(section.end(), frame.begin(), frame.end());
    frame_sizes.push_back(static_cast<std::uint32_t>(frame.size()));
  }
  return section;
}

}  // namespace detail

inline std::uint64_t content_checksum(std::span<const std::byte> values) {
  constexpr std::size_t kPieceBytes = 4096;
  Bytes hashes;
  for (std::size_t at = 0; at < values.size(); at += kPieceBytes)
    format::append_le(
        hashes, 8,
        format::hash_bytes(values.subspan(at, std::min(kPieceBytes, values.size() - at))));
  return format::hash_bytes(hashes);
}

/// A section, and the page ends (pack) or frame sizes (zstd) that go into its model.
struct Section {
  Bytes bytes;
  std::vector<std::uint32_t> parts;
};

/// The section of one column of whole records.
inline Section encode_column(std::span<const std::byte> values, const Layout& layout,
                             std::size_t number, const Choice& choice) {
  const auto record_bytes = static_cast<std::size_t>(layout.record_bytes());
  const Column& column = layout.columns[number];
  std::size_t column_at = 0;
  for (std::size_t c = 0; c < number; ++c)
    column_at += static_cast<std::size_t>(layout.columns[c].bytes());
  Section section;
  if (choice.model.coder == Coder::raw || choice.model.coder == Coder::constant) {
    const std::size_t end = choice.model.coder == Coder::constant ? record_bytes : values.size();
    for (std::size_t at = column_at; at < end; at += record_bytes)
      for (int b = 0; b < column.bytes(); ++b)
        section.bytes.push_back(values[at + static_cast<std::size_t>(b)]);
    return section;
  }
  std::vector<detail::Lane> lanes;
  for (int lane = 0; lane < column.tuple; ++lane) {
    lanes.push_back(detail::read_lane(values, record_bytes, column_at, column, lane));
    detail::apply_map_and_strides(lanes.back(), column, choice.model);
  }
  section.bytes = choice.model.coder == Coder::pack
                      ? detail::pack_section(lanes, choice, column, section.parts)
                      : detail::zstd_section(lanes, choice, column, section.parts);
  return section;
}

/// A whole chunk block of whole records, one choice for each column.
inline Bytes encode_chunk(std::span<const std::byte> values, const Layout& layout,
                          const std::vector<Choice>& choices, bool opaque = false) {
  Bytes models;
  Bytes payload;
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    const Section section = encode_column(values, layout, c, choices[c]);
    payload.insert(payload.end(), section.bytes.begin(), section.bytes.end());
    format::append_column_model(models, layout.columns[c], choices[c].model, section.parts);
  }
  Bytes block;
  format::append_chunk_head(
      block, opaque,
      {values.size() / layout.record_bytes(), payload.size(), content_checksum(values)}, models);
  block.insert(block.end(), payload.begin(), payload.end());
  return block;
}

/// Puts blocks together; the index is written if `with_index`.
class StreamBuilder {
 public:
  StreamBuilder() : bytes_(format::kStreamHeader.begin(), format::kStreamHeader.end()) {}

  StreamBuilder& layout(const Layout& layout) {
    Bytes head;
    format::append_layout_head(head, layout);
    Bytes block;
    format::append_block(block, format::BlockTag::layout, head);
    layout_ = layout;
    return add({format::BlockTag::layout, block.size(), 0, layout}, block);
  }
  StreamBuilder& chunk(std::span<const std::byte> values, const std::vector<Choice>& choices) {
    const Bytes block = encode_chunk(values, layout_, choices);
    return add({format::BlockTag::chunk, block.size(), values.size() / layout_.record_bytes(), {}},
               block);
  }
  StreamBuilder& opaque(std::span<const std::byte> values, const Choice& choice = raw()) {
    const Bytes block = encode_chunk(values, byte_layout(), {choice}, true);
    return add({format::BlockTag::opaque_chunk, block.size(), values.size(), {}}, block);
  }
  Bytes finish(bool with_index = true) {
    format::append_end_block(bytes_, with_index ? blocks_ : 0, index_);
    return bytes_;
  }

 private:
  StreamBuilder& add(const format::IndexEntry& entry, const Bytes& block) {
    format::append_index_entry(index_, entry);
    bytes_.insert(bytes_.end(), block.begin(), block.end());
    ++blocks_;
    return *this;
  }

  Bytes bytes_;
  Bytes index_;
  std::uint64_t blocks_ = 0;
  Layout layout_;
};

}  // namespace gdelta::plain
