// coders/lzma.md
#include <lzma.h>

#include "plain_coders.h"
#include "plain_frames.h"

namespace plain_decoder {
namespace {

void decode_stream(Input& part, std::uint8_t* out, std::uint64_t bytes) {
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

void decode(Input part, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>& states, std::vector<Lane>& lanes) {
  decode_frames(part, model, column, tuples, states, lanes, decode_stream);
}

}  // namespace

const Coder lzma_coder{
    .most_bytes = most_frame_bytes, .decode = decode, .decode_bytes = decode_stream};

}  // namespace plain_decoder
