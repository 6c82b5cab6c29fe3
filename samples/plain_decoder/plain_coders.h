// Section 6 of the specification and the pages of coders. Each coder gives the lanes after the delta has been undone.
#pragma once

#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plain_values.h"

namespace plain_decoder {

inline void decode_page(Input page, const Model& model, const Column& column, std::uint64_t tuples,
                        std::vector<Lane>& lanes) {
  const auto w = 8 * column.bytes;
  const auto num_groups = static_cast<std::size_t>(divide_up(tuples, 128));
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));

  struct Descriptor {
    int width, count, high_bytes;
  };
  std::vector<Descriptor> descriptors;
  for (std::size_t i = 0; i < lanes.size() * num_groups; ++i) {
    const auto bits = static_cast<int>(page.number(2));
    const Descriptor d{bits & 0x7f, (bits >> 7) & 0x7f, 1 << (bits >> 14)};
    require(d.width <= w && (w > 32 || d.high_bytes <= 4), "impossible descriptor");
    require(d.count > 0 || (bits >> 14) == 0, "set bits where there are no exceptions");
    descriptors.push_back(d);
  }
  std::vector<std::vector<std::uint64_t>> groups;
  for (const Descriptor& d : descriptors) {
    const Input bytes = page.take(16 * d.width);
    std::vector<std::uint64_t> group(128);
    for (int l = 0; l < 16; ++l)
      for (int i = 0; i < 8; ++i)
        group[8 * l + i] = row_bits(bytes, (16 * i + l) * d.width, d.width);
    groups.push_back(group);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Descriptor& d = descriptors[g];
    Input positions = page.take(d.count);
    std::uint64_t next = 0;  // the lowest position that may come
    for (int i = 0; i < d.count; ++i) {
      const std::uint64_t position = positions.number(1);
      const std::uint64_t high = page.number(d.high_bytes);
      require(position >= next && position < 128, "impossible position");
      require(high > 0 && d.width < w && high <= column.mask() >> d.width, "impossible high");
      groups[g][position] |= high << d.width;
      next = position + 1;
    }
    for (std::size_t i = tuples - g % num_groups * 128; i < 128; ++i)
      require(groups[g][i] == 0, "padding that is not zero");
  }
  page.finish();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      const std::uint64_t z = groups[lane * num_groups + i / 128][i % 128];
      lanes[lane].push_back(undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
}

inline void decode_frame(Input& part, std::uint8_t* out, std::uint64_t bytes) {
  // libzstd also decodes frames of formats before RFC 8878, of wider windows, and several frames in one piece.
  Input header(part);
  require(header.number(4) == 0xFD2FB528, "not a zstd frame");
  const bool has_window = (header.number(1) & 0x20) == 0;
  require(!has_window || header.number(1) <= (28 - 10) << 3, "a zstd window above 2^28");
  const std::size_t frame_bytes = ZSTD_findFrameCompressedSize(part.at, part.left());
  require(!ZSTD_isError(frame_bytes), "a zstd frame is damaged");
  const Input frame = part.take(frame_bytes);
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  const bool whole = ZSTD_decompressDCtx(context, out, bytes, frame.at, frame.left()) == bytes;
  ZSTD_freeDCtx(context);
  require(whole, "a zstd frame is damaged");
}

/// coders/lzma.md
inline void decode_stream(Input& part, std::uint8_t* out, std::uint64_t bytes) {
  std::uint64_t dictionary = 1 << 12;
  while (dictionary < bytes && dictionary < 1 << 23)
    dictionary = (dictionary & (dictionary - 1)) == 0 ? dictionary / 2 * 3 : dictionary / 3 * 4;
  lzma_options_lzma options{};
  options.dict_size = static_cast<std::uint32_t>(dictionary);
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  const Input stream = part.take(part.left());
  std::size_t read = 0, written = 0;
  const lzma_ret ended = lzma_raw_buffer_decode(filters, nullptr, stream.at, &read, stream.left(),
                                                out, &written, bytes);
  require(ended == LZMA_OK && read == stream.left() && written == bytes,
          "an LZMA2 stream is damaged");
}

/// coders/zstd.md and coders/lzma.md. `states` are those of the delta before the part's first tuple.
inline void decode_frames(Input part, const Model& model, const Column& column,
                          std::uint64_t tuples, std::vector<Lane>& states,
                          std::vector<Lane>& lanes) {
  Bytes bytes(tuples * column.bytes * column.tuple);
  const std::uint64_t frame = model.arrangement == 2 ? tuples : bytes.size();
  for (std::uint64_t at = 0; at < bytes.size(); at += frame) {
    const auto decode = model.coder == 5 ? decode_stream : decode_frame;
    decode(part, bytes.data() + at, frame);
  }
  part.finish();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      std::uint64_t z = 0;
      for (int b = 0; b < column.bytes; ++b) {
        const std::uint64_t at = model.arrangement > 0
                                     ? (lane * column.bytes + b) * tuples + i
                                     : (i * column.tuple + lane) * column.bytes + b;
        z |= std::uint64_t{bytes[at]} << (8 * b);
      }
      lanes[lane].push_back(undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
}

/// The residuals of a page, whose delta states have been read, lane by lane.
inline std::vector<Lane> decode_symbols(Input page, const Model& model, const Column& column,
                                        std::uint64_t tuples) {
  const auto num_lanes = static_cast<std::uint64_t>(column.tuple);
  std::uint64_t num_states = 1;
  while (num_states < 32 && 2 * num_states <= tuples * num_lanes / 128) num_states *= 2;
  const std::uint64_t tile = 8 * num_states;
  const std::uint64_t tiles = divide_up(tuples, tile);
  const std::uint64_t span = std::uint64_t{1} << model.span_bits;
  const std::uint64_t spans = std::max<std::uint64_t>(1, tile / span);
  int selector_bits = 0;
  while (std::size_t{1} << selector_bits < model.tables.size()) ++selector_bits;

  const std::uint64_t num_words = page.number(4);
  std::vector<std::uint64_t> states;
  for (std::uint64_t c = 0; c < num_states; ++c) {
    states.push_back(page.number(4));
    require(states.back() >= 1 << 16, "impossible state");
  }
  BitRun selectors(page.take(divide_up(tiles * num_lanes * spans * selector_bits, 8)));
  std::vector<const Table*> chosen;  // for each tile, for each lane, for each span
  for (std::uint64_t i = 0; i < tiles * num_lanes * spans; ++i) {
    const std::uint64_t selector = selectors.take(selector_bits);
    require(selector < model.tables.size(), "impossible selector");
    chosen.push_back(&model.tables[selector]);
  }
  selectors.finish();
  Input words = page.take(2 * num_words);
  BitRun offsets(page);

  std::vector<Lane> lanes(num_lanes);
  for (std::uint64_t at = 0; at < tiles * num_lanes; ++at) {
    const std::uint64_t residuals = std::min(tile, tuples - at / num_lanes * tile);
    std::vector<Slot> symbols(residuals);
    for (std::uint64_t i = 0; i < 8; ++i)
      for (std::uint64_t c = 0; c < num_states && 8 * c + i < residuals; ++c) {
        const Table& table = *chosen[at * spans + (8 * c + i) / span];
        std::uint64_t& x = states[c];
        const Slot& symbol = symbols[8 * c + i] = table[x % table.size()];
        x = symbol.frequency * (x >> model.slot_bits) + symbol.place;
        if (x < 1 << 16) x = (x << 16) + words.number(2);
      }
    for (const Slot& symbol : symbols)
      lanes[at % num_lanes].push_back((symbol.lower + offsets.take(symbol.offset_bits)) &
                                      column.mask());
  }
  words.finish();
  offsets.finish();
  for (const std::uint64_t x : states) require(x == 1 << 16, "a state does not end at its start");
  return lanes;
}

/// coders/ans.md
inline void decode_symbol_page(Input page, const Model& model, const Column& column,
                               std::uint64_t tuples, std::vector<Lane>& lanes) {
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));
  const std::vector<Lane> residuals = decode_symbols(page, model, column, tuples);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (const std::uint64_t residual : residuals[lane])
      lanes[lane].push_back(undo_delta(residual, states[lane], column.mask()));
}

}  // namespace plain_decoder
