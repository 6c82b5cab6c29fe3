// coders/zstd.md
#include <zstd.h>

#include "plain_coders.h"
#include "plain_frames.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column&, Model& model) {
  model.arrangement = fields.number(1);
  require_known(model.arrangement <= 2, "unknown arrangement");
}

void decode_frame(Input& part, std::uint8_t* out, std::uint64_t bytes) {
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

void decode(Input part, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>& states, std::vector<Lane>& lanes) {
  decode_frames(part, model, column, tuples, states, lanes, decode_frame);
}

}  // namespace

const Coder zstd_coder{
    .read_fields = read_fields, .most_bytes = most_frame_bytes, .decode = decode};

}  // namespace plain_decoder
