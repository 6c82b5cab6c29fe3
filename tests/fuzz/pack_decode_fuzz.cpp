// Pages of the pack coder: any bytes as a page of any type, tuple, order and length. What decodes
// does not depend on what lies behind the page.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/pack_section.h"

namespace {

using gdelta::Column;
using gdelta::format::Front;

template <class Word>
void try_page(const std::vector<unsigned char>& page, const Column& column, const Front& front,
              std::uint64_t tuples) {
  const std::uint64_t lane_words = (tuples + 127) / 128 * 128;
  std::vector<Word> words(lane_words * column.tuple), again(words.size());
  std::vector<unsigned char> padded = page;
  padded.resize(page.size() + 64, 0xff);
  const bool good = gdelta::decode_page({page.data(), page.size(), page.size()}, column, front,
                                        tuples, words.data(), lane_words);
  const bool same = good == gdelta::decode_page({padded.data(), page.size(), padded.size()}, column,
                                                front, tuples, again.data(), lane_words);
  if (!same || (good && words != again)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 6) return 0;
  Column column;
  column.type = static_cast<gdelta::ValueType>(data[0] % gdelta::kNumValueTypes);
  column.tuple = static_cast<std::uint8_t>(1 + data[1] % 8);
  Front front;
  for (int lane = 0; lane < column.tuple; ++lane)
    front.orders[lane] = static_cast<std::uint8_t>((data[2] + lane * (data[3] & 1)) % 9);
  const std::uint64_t tuples = 1 + (data[4] | (data[5] & 1) << 8);
  const std::vector<unsigned char> page(data + 6, data + size);
  if (gdelta::value_bytes(column.type) == 8) {
    try_page<std::uint64_t>(page, column, front, tuples);
  } else {
    try_page<std::uint32_t>(page, column, front, tuples);
  }
  return 0;
}
