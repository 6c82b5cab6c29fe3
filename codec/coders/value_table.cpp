#include "codec/coders/value_table.h"

#include <algorithm>
#include <bit>

#include "codec/coders/coder.h"
#include "codec/coders/table_bins.h"
#include "kernels/ans/ans_bins.h"
#include "kernels/words/maps/ordered.h"
#include "kernels/words/spread_bits.h"

namespace gdelta {
namespace {

std::uint64_t mask_of(ValueType type) { return ~std::uint64_t{0} >> (64 - value_bits(type)); }

/// Signed types have even numbers.
bool is_signed(ValueType type) { return !is_float(type) && static_cast<int>(type) % 2 == 0; }

// Most words are found where they are looked for first.
constexpr std::size_t kSlotsOfWord = 4;
constexpr std::size_t kFirstWords = 4096;  // that there is room for, before it grows

/// What the entry of a value is.
std::uint64_t entry_of(std::uint64_t value, ValueType type) {
  return is_float(type) ? OrderedMap::apply(value, value_bits(type)) & mask_of(type) : value;
}
std::uint64_t value_of(std::uint64_t entry, ValueType type) {
  return is_float(type) ? OrderedMap::undo(entry, value_bits(type)) & mask_of(type) : entry;
}

std::vector<std::uint64_t> entries_of(std::span<const std::uint64_t> values, ValueType type) {
  std::vector<std::uint64_t> entries(values.size());
  std::transform(values.begin(), values.end(), entries.begin(),
                 [&](std::uint64_t value) { return entry_of(value, type); });
  return entries;
}

/// What an entry is further than 1 behind the one before it.
std::vector<std::uint64_t> gaps_of(std::span<const std::uint64_t> entries, std::uint64_t mask) {
  std::vector<std::uint64_t> gaps;
  gaps.reserve(entries.size());
  for (std::size_t i = 1; i < entries.size(); ++i)
    gaps.push_back((entries[i] - entries[i - 1] - 1) & mask);
  return gaps;
}

/// Sets the bins that take the fewest bits.
void choose_bins_of(std::span<const std::uint64_t> gaps, format::TableFields& fields) {
  std::uint64_t counts[kMostGapBits + 1] = {};
  for (const std::uint64_t gap : gaps) ++counts[std::bit_width(gap)];
  BinRows rows;
  rows.begin(counts);
  choose_bins(rows, fields, [&](int bin) {
    for (int last = 0; last <= rows.longest; ++last) rows.make(bin, last);
  });
}

/// Writes numbers of bits behind each other, the lowest first.
class BitRun {
 public:
  explicit BitRun(format::Byte* out) : out_(out) {}

  /// Up to 64 bits.
  void put(std::uint64_t number, int bits) {
    held_ |= number << count_;
    if (count_ + bits < 64) {
      count_ += bits;
      return;
    }
    format::store_le(out_, 8, held_);
    out_ += 8;
    held_ = count_ == 0 ? 0 : number >> (64 - count_);
    count_ += bits - 64;
  }
  void finish() const { format::store_le(out_, (count_ + 7) / 8, held_); }

 private:
  format::Byte* out_;
  std::uint64_t held_ = 0;
  int count_ = 0;  // below 64
};

}  // namespace

DistinctWords::DistinctWords(std::size_t most)
    : most_(most),
      slots_(std::bit_ceil(kSlotsOfWord * std::clamp(most, std::size_t{1}, kFirstWords))),
      shift_(64 - std::countr_zero(slots_.size())) {}

inline std::size_t DistinctWords::first_slot_of(std::uint64_t word) const {
  return spread_bits(word) >> shift_;
}

std::size_t DistinctWords::slot_of(std::uint64_t word) const {
  std::size_t slot = first_slot_of(word);
  while (slots_[slot] > 0 && words_[slots_[slot] - 1] != word)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void DistinctWords::double_slots() {
  slots_.assign(2 * slots_.size(), 0);
  --shift_;
  for (std::size_t number = 0; number < words_.size(); ++number)
    slots_[slot_of(words_[number])] = static_cast<std::uint32_t>(number + 1);
}

bool DistinctWords::add(std::uint64_t word) {
  const std::size_t slot = slot_of(word);
  if (slots_[slot] > 0) return true;
  if (words_.size() == most_) return false;
  words_.push_back(word);
  slots_[slot] = static_cast<std::uint32_t>(words_.size());
  if (kSlotsOfWord * words_.size() > slots_.size()) double_slots();
  return true;
}

template <class Word>
bool DistinctWords::add_all(std::span<const Word> words) {
  for (const Word word : words) {
    const std::uint32_t number = slots_[first_slot_of(word)];
    if (number > 0 && words_[number - 1] == word) continue;
    if (!add(word)) return false;
  }
  return true;
}

std::uint32_t DistinctWords::number_of(std::uint64_t word) const {
  return slots_[slot_of(word)] - 1;
}

template <class Word>
void DistinctWords::find_numbers(std::span<Word> words) const {
  const std::uint64_t* const known = words_.data();
  const std::uint32_t* const slots = slots_.data();
  for (Word& word : words) {
    std::uint32_t number = slots[first_slot_of(word)] - 1;
    if (known[number] != word) number = number_of(word);
    word = static_cast<Word>(number);
  }
}

template bool DistinctWords::add_all(std::span<const std::uint32_t>);
template bool DistinctWords::add_all(std::span<const std::uint64_t>);
template void DistinctWords::find_numbers(std::span<std::uint32_t>) const;
template void DistinctWords::find_numbers(std::span<std::uint64_t>) const;

void sort_as_numbers(std::vector<std::uint64_t>& values, ValueType type) {
  // Keys without a sign that rise as the numbers do, as numbers with one.
  const std::uint64_t sign = is_signed(type) ? mask_of(type) ^ mask_of(type) >> 1 : 0;
  const std::uint64_t flipped = sign ^ std::uint64_t{1} << 63;
  std::vector<std::int64_t> keys(values.size());
  std::transform(values.begin(), values.end(), keys.begin(), [&](std::uint64_t value) {
    return static_cast<std::int64_t>(entry_of(value, type) ^ flipped);
  });
  sort_sample(keys);
  std::transform(keys.begin(), keys.end(), values.begin(), [&](std::int64_t key) {
    return value_of(static_cast<std::uint64_t>(key) ^ flipped, type);
  });
}

CodedTable encode_table(std::span<const std::uint64_t> values, ValueType type) {
  const std::vector<std::uint64_t> entries = entries_of(values, type);
  const std::vector<std::uint64_t> gaps = gaps_of(entries, mask_of(type));
  CodedTable table;
  table.fields.entries = static_cast<std::uint32_t>(entries.size());
  choose_bins_of(gaps, table.fields);
  const format::TableBins bins(table.fields, value_bytes(type));
  const BinSearch search(bins);
  std::vector<std::uint8_t> chosen(gaps.size());
  std::uint64_t offset_bits = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    chosen[i] = static_cast<std::uint8_t>(search.find(gaps[i]));
    offset_bits += table.fields.bin_bits[chosen[i]];
  }
  table.bytes.resize(bins.offsets_at() + (offset_bits + 7) / 8);
  table.fields.bytes = static_cast<std::uint32_t>(table.bytes.size());
  auto* const out = reinterpret_cast<format::Byte*>(table.bytes.data());
  format::store_le(out, value_bytes(type), entries[0]);
  BitRun selectors(out + bins.selectors_at()), offsets(out + bins.offsets_at());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    selectors.put(chosen[i], table.fields.selector_bits);
    offsets.put(gaps[i] - bins.starts[chosen[i]], table.fields.bin_bits[chosen[i]]);
  }
  selectors.finish();
  offsets.finish();
  return table;
}

CodedTable encode_table_by(Coder coder, std::span<const std::uint64_t> values, ValueType type) {
  const std::vector<std::uint64_t> entries = entries_of(values, type);
  const int width = value_bytes(type);
  std::vector<unsigned char> numbers(entries.size() * static_cast<std::size_t>(width));
  format::store_le(numbers.data(), width, entries[0]);
  unsigned char* next = numbers.data() + width;
  for (const std::uint64_t gap : gaps_of(entries, mask_of(type))) {
    format::store_le(next, width, gap);
    next += width;
  }
  CodedTable table;
  column_coder(coder).tables->encode(numbers, width, table.bytes);
  table.fields.entries = static_cast<std::uint32_t>(entries.size());
  table.fields.bytes = static_cast<std::uint32_t>(table.bytes.size());
  table.fields.coder = coder;
  return table;
}

std::uint64_t table_scratch(std::uint64_t entries, std::uint32_t coders, ValueType type) {
  const std::uint64_t bytes = entries * static_cast<std::uint64_t>(value_bytes(type));
  std::uint64_t most = 0;
  for (int number = 0; coders >> number != 0; ++number)
    if ((coders >> number & 1) != 0)
      most =
          std::max(most, bytes + column_coder(static_cast<Coder>(number)).tables->scratch(bytes));
  return entries * sizeof(std::uint64_t) + most;
}

namespace {

using Values = std::optional<std::vector<std::uint64_t>>;

Values decode_numbers(const format::TableFields& fields, const unsigned char* bytes,
                      ValueType type) {
  const auto width = static_cast<std::size_t>(value_bytes(type));
  std::vector<unsigned char> numbers(fields.entries * width);
  if (!column_coder(fields.coder).tables->decode({bytes, fields.bytes}, numbers))
    return std::nullopt;
  std::vector<std::uint64_t> values(fields.entries);
  std::uint64_t entry = mask_of(type);  // the first number is the first entry
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t number = format::load_le(numbers.data() + i * width, value_bytes(type));
    entry = (entry + 1 + number) & mask_of(type);
    values[i] = value_of(entry, type);
  }
  return values;
}

Values decode_bins(const format::TableFields& fields, const unsigned char* bytes, ValueType type) {
  const format::TableBins bins(fields, value_bytes(type));
  std::uint64_t entry = format::load_le(bytes, value_bytes(type)), at = 0;
  const std::uint64_t end = 8 * (fields.bytes - bins.offsets_at());
  std::vector<std::uint64_t> values;
  values.reserve(fields.entries);
  values.push_back(value_of(entry, type));
  for (std::uint32_t i = 1; i < fields.entries; ++i) {
    const int bin = bins.bin_of(bytes, i), bits = fields.bin_bits[bin];
    if (at + static_cast<std::uint64_t>(bits) > end) return std::nullopt;
    entry += 1 + bins.starts[bin] + format::load_bits(bytes + bins.offsets_at(), at, bits);
    entry &= mask_of(type);
    values.push_back(value_of(entry, type));
    at += static_cast<std::uint64_t>(bits);
  }
  if (!bins.ends_well(bytes, at)) return std::nullopt;
  return values;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> decode_table(const format::TableFields& fields,
                                                       const unsigned char* bytes, ValueType type) {
  return fields.is_in_bins() ? decode_bins(fields, bytes, type)
                             : decode_numbers(fields, bytes, type);
}

}  // namespace gdelta
