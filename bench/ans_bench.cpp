// gdelta.bench.ans: pages of the ans coder, GB of values a second on one core, in cache. Residuals of two-sided geometric
// distribution in bins whose widths double; `bits` of the longest offsets.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "kernels/ans/ans_page.h"

namespace gdelta {
namespace {

constexpr int kValues = 4096, kSlotBits = 10;

template <class Word>
struct Page {
  AnsTables<Word> tables;
  AnsNames names;
  AnsPageShape shape;
  std::vector<Word> words;
  std::vector<std::uint8_t> bins, selectors;
};

// From -2^bits up to 2^bits: a bin for each number of bits and sign, half as frequent as the one inside it.
template <class Word>
std::vector<AnsBin<Word>> doubling_bins(int bits) {
  std::vector<AnsBin<Word>> table;
  for (int b = bits; b >= 0; --b)
    table.push_back({.lower = static_cast<Word>(Word{0} - (Word{2} << b)),
                     .frequency = 1,
                     .offset_bits = static_cast<std::uint8_t>(b)});
  for (int b = 0; b <= bits; ++b)
    table.push_back({.lower = b == 0 ? Word{0} : Word{1} << b,
                     .frequency = 1,
                     .offset_bits = static_cast<std::uint8_t>(b == 0 ? 1 : b)});
  const auto middle = table.size() / 2;
  int left = (1 << kSlotBits) - static_cast<int>(table.size());
  for (std::size_t i = 0; left > 0; i = (i + 1) % middle) {
    const int more = std::max(left / 4, 1);
    table[middle - 1 - i].frequency =
        static_cast<std::uint16_t>(table[middle - 1 - i].frequency + more);
    table[middle + i].frequency =
        static_cast<std::uint16_t>(table[middle + i].frequency + std::min(more, left - more));
    left -= more + std::min(more, left - more);
  }
  return table;
}

template <class Word>
Page<Word> make_page(int bits) {
  Page<Word> page;
  page.tables.slot_bits = kSlotBits;
  page.tables.tables.push_back(doubling_bins<Word>(bits));
  page.names.tables = {0};
  for (int b = 0; b < kMaxTableBins; ++b) page.names.bins.push_back(static_cast<std::uint8_t>(b));
  page.shape = ans_page_shape(kValues, 1, page.tables.span_bits, 1);
  page.selectors.assign(page.shape.selectors(), 0);
  std::vector<std::uint8_t> bin_of_slot;
  for (std::size_t b = 0; b < page.tables.tables[0].size(); ++b)
    bin_of_slot.insert(bin_of_slot.end(), page.tables.tables[0][b].frequency,
                       static_cast<std::uint8_t>(b));
  std::mt19937_64 random(static_cast<unsigned>(bits));
  for (int i = 0; i < kValues; ++i) {
    const std::uint8_t bin = bin_of_slot[random() % bin_of_slot.size()];
    const AnsBin<Word>& of = page.tables.tables[0][bin];
    page.bins.push_back(bin);
    page.words.push_back(of.lower +
                         static_cast<Word>(random() & ((std::uint64_t{1} << of.offset_bits) - 1)));
  }
  return page;
}

template <class Word>
void report(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * kValues * static_cast<std::int64_t>(sizeof(Word)));
}

template <class Word>
void encode(benchmark::State& state) {
  const Page<Word> page = make_page<Word>(static_cast<int>(state.range(0)));
  AnsPageEncoder<Word> encoder(page.tables, page.names);
  std::vector<std::byte> out;
  for (auto _ : state) {
    out.clear();
    encoder.encode(page.shape, page.words.data(), page.bins.data(), kValues, page.selectors.data(),
                   out);
    benchmark::DoNotOptimize(out.data());
  }
  report<Word>(state);
}

template <class Word>
void decode(benchmark::State& state) {
  const Page<Word> page = make_page<Word>(static_cast<int>(state.range(0)));
  std::vector<std::byte> coded;
  AnsPageEncoder<Word>(page.tables, page.names)
      .encode(page.shape, page.words.data(), page.bins.data(), kValues, page.selectors.data(),
              coded);
  const AnsDecodeTables<Word> tables(page.tables);
  AnsPageDecoder<Word> decoder(tables);
  std::vector<Word> words(kValues);
  const std::span<const unsigned char> bytes(reinterpret_cast<const unsigned char*>(coded.data()),
                                             coded.size());
  if (!decoder.decode(bytes, 1, kValues, words.data(), kValues) || words != page.words)
    std::abort();
  for (auto _ : state) {
    decoder.decode(bytes, 1, kValues, words.data(), kValues);
    benchmark::ClobberMemory();
  }
  report<Word>(state);
}

BENCHMARK(encode<std::uint32_t>)->Arg(12)->Arg(30);
BENCHMARK(decode<std::uint32_t>)->Arg(12)->Arg(30);
BENCHMARK(encode<std::uint64_t>)->Arg(12)->Arg(40);
BENCHMARK(decode<std::uint64_t>)->Arg(12)->Arg(40);

}  // namespace
}  // namespace gdelta
