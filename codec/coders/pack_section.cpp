#include "codec/coders/pack_section.h"

#include <algorithm>
#include <cstring>

#include "codec/coders/coder.h"
#include "codec/coders/residual_source.h"
#include "formats/gdelta/chunk_head.h"
#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/group_pack.h"

namespace gdelta {
namespace {

static_assert(kGroupValues == format::kGroupValues && kMaxPageGroups == format::kMaxPageGroups &&
              kMaxLanes == kMaxTuple && kMaxDeltaOrder == kMaxOrder);

// Fewer pages are not worth another thread.
constexpr std::uint64_t kFewestPages = 8;
constexpr std::uint64_t kToldPages = 64;

// Writes what does not fit `width` bits: positions, then highs.
template <class Word>
unsigned char* write_exceptions(const Word* residuals, GroupDescriptor descriptor,
                                unsigned char* out) {
  if (descriptor.exceptions() == 0) return out;
  unsigned char* highs = out + descriptor.exceptions();
  const int width = descriptor.width(), high_bytes = descriptor.high_bytes();
  for (int i = 0; i < kGroupValues; ++i) {
    const Word high = residuals[i] >> width;  // an exception makes width less than the longest
    if (high == 0) continue;
    *out++ = static_cast<unsigned char>(i);
    format::store_le(highs, high_bytes, high);
    highs += high_bytes;
  }
  return highs;
}

// Appends pages [begin, end); their ends count from where the first of them starts.
template <class Word>
void encode_pages(const ResidualSource& source, const ColumnToEncode& encode, std::uint64_t begin,
                  std::uint64_t end, Work* work, std::vector<std::byte>& section,
                  std::uint32_t* page_ends) {
  const format::ColumnModel& model = encode.model;
  const Column& column = source.column().column;
  const std::uint64_t records = source.records();
  const int bits = value_bits(column.type), bytes = value_bytes(column.type);
  const std::uint64_t page_values = page_values_of(model.section, records);
  const std::uint64_t state_bytes = format::page_state_bytes(model.front, column);
  std::vector<Word> words(kMaxOrder + page_values + kGroupValues);
  std::vector<unsigned char> exceptions(page_values * column.tuple * bytes);
  const std::size_t section_start = section.size();
  for (std::uint64_t number = begin; number < end; ++number) {
    const std::uint64_t first = number * page_values;
    const std::uint64_t tuples = std::min(page_values, records - first);
    const std::uint64_t groups = (tuples + kGroupValues - 1) / kGroupValues;
    const std::uint64_t fixed = state_bytes + 2 * groups * column.tuple;
    // choose_width never spends more on a group than its longest residual on all values.
    const std::size_t page_start = section.size();
    section.resize(page_start + fixed + groups * column.tuple * kGroupValues * bytes);
    unsigned char* const page = reinterpret_cast<unsigned char*>(section.data()) + page_start;
    unsigned char* state_out = page;
    unsigned char* descriptor_out = page + state_bytes;
    if (model.front.says_states)
      std::copy_n(encode.page_states.data() + number * state_bytes, state_bytes, page);
    unsigned char* group_out = page + fixed;
    unsigned char* exception_out = exceptions.data();
    for (int lane = 0; lane < column.tuple; ++lane) {
      Word states[kMaxOrder];
      const int order = model.front.orders[lane];
      source.residuals(lane, first, tuples, order, History::first_value, words.data(), states);
      std::fill(words.begin() + tuples, words.begin() + groups * kGroupValues, 0);
      for (int k = 0; k < order; ++k, state_out += bytes)
        format::store_le(state_out, bytes, states[k]);
      for (std::uint64_t group = 0; group < groups; ++group) {
        const Word* residuals = words.data() + group * kGroupValues;
        std::uint8_t counts[65];
        count_bit_lengths(residuals, counts);
        const GroupDescriptor descriptor = choose_width(counts, bits).descriptor;
        format::store_le(descriptor_out, 2, descriptor.bits);
        descriptor_out += 2;
        pack_group(residuals, descriptor.width(), group_out);
        group_out += descriptor.group_bytes();
        exception_out = write_exceptions(residuals, descriptor, exception_out);
      }
    }
    const std::size_t exception_bytes = exception_out - exceptions.data();
    std::memcpy(group_out, exceptions.data(), exception_bytes);
    section.resize(page_start + (group_out - page) + exception_bytes);
    page_ends[number] = static_cast<std::uint32_t>(section.size() - section_start);
    if (work != nullptr && number % kToldPages == 0)
      work->add(static_cast<double>(kToldPages) /
                static_cast<double>(format::num_parts(model.section, records)));
  }
}

// Stretches of pages side by side, then one behind the other.
template <class Word>
void encode_section(const ColumnToEncode& encode, std::vector<std::byte>& section,
                    std::vector<std::uint32_t>& page_ends) {
  const ResidualSource source(encode.column, encode.model.front);
  const std::uint64_t pages = format::num_parts(encode.model.section, source.records());
  const std::uint64_t stretches = encode.workers.num_ranges(pages, kFewestPages);
  page_ends.resize(pages);
  if (stretches == 1) {
    encode_pages<Word>(source, encode, 0, pages, encode.work, section, page_ends.data());
    return;
  }
  std::vector<std::vector<std::byte>> parts(stretches);
  const auto first_page = [&](std::uint64_t stretch) { return pages * stretch / stretches; };
  encode.workers.for_each(static_cast<std::size_t>(stretches), [&](std::size_t i) {
    encode_pages<Word>(source, encode, first_page(i), first_page(i + 1), encode.work, parts[i],
                       page_ends.data());
  });
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    section.insert(section.end(), parts[i].begin(), parts[i].end());
    for (std::uint64_t page = first_page(i); page < first_page(i + 1); ++page)
      page_ends[page] += before;
    before += static_cast<std::uint32_t>(parts[i].size());
  }
}

// Unpacks without reading behind the block.
template <class Word>
void unpack_within(const unsigned char* packed, std::uint64_t readable, int width, Word* slots) {
  const std::size_t bytes = std::size_t{16} * width;
  if (readable >= bytes + kUnpackSlack) {
    unpack_slots(packed, width, slots);
    return;
  }
  unsigned char padded[kGroupValues * 8 + kUnpackSlack] = {};
  std::memcpy(padded, packed, bytes);
  unpack_slots(padded, width, slots);
}

// Returns false if one is not valid.
template <class Word>
bool add_exceptions(const unsigned char* from, GroupDescriptor descriptor, int bits, Word* slots) {
  const int count = descriptor.exceptions(), high_bytes = descriptor.high_bytes();
  const int width = descriptor.width();
  const unsigned char* highs = from + count;
  const Word largest = largest_high<Word>(width, bits);
  int before = -1;
  for (int k = 0; k < count; ++k, highs += high_bytes) {
    const int position = from[k];
    const auto high = static_cast<Word>(format::load_le(highs, high_bytes));
    if (!valid_exception(before, position, high, largest)) return false;
    slots[slot_of_residual(position)] |= high << width;
    before = position;
  }
  return true;
}

// Whether residuals without a tuple are zero, in a group that begins so many tuples before the end.
template <class Word>
bool padding_is_zero(const Word* slots, std::uint64_t tuples) {
  Word padding = 0;
  for (std::uint64_t k = tuples; k < kGroupValues; ++k)
    padding |= slots[slot_of_residual(static_cast<int>(k))];
  return padding == 0;
}

}  // namespace

std::uint64_t page_values_of(const format::Section& section, std::uint64_t records) {
  return std::min(format::part_tuples(section, records),
                  (records + kGroupValues - 1) / kGroupValues * kGroupValues);
}

template <class Word>
bool decode_page(PageBytes page, const Column& column, const format::Front& front,
                 std::uint64_t tuples, Word* words, std::uint64_t lane_words) {
  const int bits = value_bits(column.type), bytes = value_bytes(column.type);
  const std::uint64_t groups = (tuples + kGroupValues - 1) / kGroupValues;
  const std::uint64_t all_groups = groups * column.tuple;
  const std::uint64_t descriptors_at = format::page_state_bytes(front, column);
  std::uint64_t group_at = descriptors_at + 2 * all_groups;
  if (page.bytes < group_at) return false;
  // At most 2048 groups of 2^7 × 8 + 2^7 × 9 bytes: sums stay small.
  std::uint64_t exception_at = group_at, page_bytes = group_at;
  for (std::uint64_t group = 0; group < all_groups; ++group) {
    const GroupDescriptor descriptor{
        static_cast<std::uint32_t>(format::load_le(page.data + descriptors_at + 2 * group, 2))};
    if (!descriptor.valid(bits)) return false;
    exception_at += descriptor.group_bytes();
    page_bytes += descriptor.group_bytes() + descriptor.exception_bytes();
  }
  if (page_bytes != page.bytes) return false;

  const unsigned char* descriptor_in = page.data + descriptors_at;
  const unsigned char* state_in = page.data;
  for (int lane = 0; lane < column.tuple; ++lane) {
    Word* const lane_out = words + lane * lane_words;
    Word states[kMaxOrder];
    const int order = front.orders[lane];
    for (int k = 0; k < order; ++k, state_in += bytes)
      states[k] = static_cast<Word>(format::load_le(state_in, bytes));
    for (std::uint64_t group = 0; group < groups; ++group, descriptor_in += 2) {
      const GroupDescriptor descriptor{
          static_cast<std::uint32_t>(format::load_le(descriptor_in, 2))};
      Word slots[kGroupValues];
      unpack_within(page.data + group_at, page.readable - group_at, descriptor.width(), slots);
      group_at += descriptor.group_bytes();
      if (descriptor.exceptions() > 0) {
        if (!add_exceptions(page.data + exception_at, descriptor, bits, slots)) return false;
        exception_at += descriptor.exception_bytes();
      }
      if (!padding_is_zero(slots, tuples - group * kGroupValues)) return false;
      sum_slots(slots, order, states, lane_out + group * kGroupValues);
    }
  }
  return true;
}

template bool decode_page(PageBytes, const Column&, const format::Front&, std::uint64_t,
                          std::uint32_t*, std::uint64_t);
template bool decode_page(PageBytes, const Column&, const format::Front&, std::uint64_t,
                          std::uint64_t*, std::uint64_t);

namespace {

void encode_pack(const ColumnToEncode& encode, std::vector<std::byte>& section,
                 format::SectionTable& table) {
  if (value_bytes(encode.column.column.type) == 8) {
    encode_section<std::uint64_t>(encode, section, table.ends);
  } else {
    encode_section<std::uint32_t>(encode, section, table.ends);
  }
}

template <class Word>
std::optional<Error> decode_pages(const SectionToDecode& section, const ValueSink& sink) {
  const format::ColumnModel& model = section.head->model;
  const std::uint64_t page_values = page_values_of(model.section, section.records());
  FirstDamage damage;
  section.workers->for_ranges(
      section.head->num_parts, kFewestPages, section.work,
      [&](std::uint64_t first_page, std::uint64_t end_page) {
        std::vector<Word> words(page_values * section.column.tuple);
        for (std::uint64_t page = first_page; page < end_page; ++page) {
          const std::uint64_t at = section.part_at(page), end = section.part_end(page);
          const std::uint64_t first = page * page_values;
          const std::uint64_t tuples = std::min(page_values, section.records() - first);
          if (damage.lies_before(at)) return;
          if (!decode_page({section.at(at), end - at, section.block.size() - at}, section.column,
                           model.front, tuples, words.data(), page_values))
            return damage.note(at);
          sink.store_all(section.column.tuple, first, tuples, words.data(), page_values);
        }
      });
  return damage.error(section.byte, "a page of packed values is damaged");
}

std::optional<Error> decode_pack(const SectionToDecode& section) {
  return decode_residuals(section, decode_pages<std::uint32_t>, decode_pages<std::uint64_t>);
}

DecodeScratch pack_scratch(const Column& column, const format::ColumnHead& head,
                           std::uint64_t records) {
  const std::uint64_t page = page_values_of(head.model.section, records) * column.tuple *
                             (value_bytes(column.type) == 8 ? 8 : 4);
  const bool says_states = head.model.front.says_states;
  const std::uint64_t states =
      says_states ? head.num_parts * format::page_state_bytes(head.model.front, column) : 0;
  return {.bytes = page + states, .more_bytes = page};
}

}  // namespace

const ColumnCoder pack_coder{.encode = encode_pack, .decode = decode_pack, .scratch = pack_scratch};

}  // namespace gdelta
