// The ans coder: any bytes as the fields of a model and, with the tables that they make, as a page of any
// type, tuple and length; and any bytes as a page of tables that are right. What decodes does not depend on
// what lies behind the page, nor on the pages before, and is what its bins may hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/coders/ans_tables_of_fields.h"
#include "golden/plain_ans.h"
#include "kernels/ans/ans_page.h"

namespace {

using gdelta::AnsTables;
using Bytes = std::vector<unsigned char>;

/// Whether some bin has it.
template <class Word>
bool has(const AnsTables<Word>& tables, Word residual) {
  for (const auto& table : tables.tables)
    for (const auto& bin : table)
      if (bin.offset_bits == 64 ||
          std::uint64_t{static_cast<Word>(residual - bin.lower)} >> bin.offset_bits == 0)
        return true;
  return false;
}

template <class Word>
void try_page(const Bytes& page, const AnsTables<Word>& tables, int tuple, std::uint64_t tuples) {
  const gdelta::AnsDecodeTables<Word> decode_tables(tables);
  gdelta::AnsPageDecoder<Word> decoder(decode_tables);
  std::vector<Word> words(tuples * static_cast<std::uint64_t>(tuple)), again(words.size());
  const bool good = decoder.decode(page, tuple, tuples, words.data(), tuples);
  Bytes padded = page;
  padded.resize(page.size() + 64, 0xff);
  const bool same =
      good == decoder.decode({padded.data(), page.size()}, tuple, tuples, again.data(), tuples);
  if (!same || (good && words != again)) std::abort();
  if (good &&
      !std::all_of(words.begin(), words.end(), [&](Word word) { return has(tables, word); }))
    std::abort();
}

template <class Word>
void try_all(const Bytes& bytes, int bits, bool any_tables, int tuple, std::uint64_t tuples) {
  // The fields of tables that are right, or what may be some.
  const std::vector<std::byte> right = gdelta::plain::ans_fields(gdelta::plain::ans_model(bits));
  Bytes fields = bytes;
  if (!any_tables)
    fields.insert(fields.begin(), reinterpret_cast<const unsigned char*>(right.data()),
                  reinterpret_cast<const unsigned char*>(right.data()) + right.size());
  gdelta::format::Cursor cursor{fields.data(), fields.size()};
  AnsTables<Word> tables;
  if (gdelta::read_ans_tables(cursor, bits, tables) != gdelta::format::HeadError::none) return;
  try_page(Bytes(fields.begin() + static_cast<std::ptrdiff_t>(cursor.at), fields.end()), tables,
           tuple, tuples);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  static constexpr int kBits[] = {8, 16, 24, 32, 64};
  const int bits = kBits[data[0] % std::size(kBits)];
  const bool any_tables = (data[0] & 0x80) != 0;
  const int tuple = 1 + data[1] % 8;
  const std::uint64_t tuples = 1 + (data[2] | (data[3] & 0x1f) << 8);
  const Bytes bytes(data + 4, data + size);
  if (bits == 64) {
    try_all<std::uint64_t>(bytes, bits, any_tables, tuple, tuples);
  } else {
    try_all<std::uint32_t>(bytes, bits, any_tables, tuple, tuples);
  }
  return 0;
}
