// Faults of dictionaries: their fields, tables and indices.

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

using plain::LaneChoice;

constexpr Column kLookedUp{ValueType::u64, 2, false};

/// Tables of 17 entries, in bins with 2 bits of selectors and offsets of 64, or by lzma.
LaneChoice table_in_bins() {
  return plain::dictionary(plain::detail::table_values(kLookedUp, 17), {0, 20, 40, 64});
}
LaneChoice table_by_lzma() {
  return plain::dictionary_by_lzma(plain::detail::table_values(kLookedUp, 17));
}

/// The fields of a lane.
struct TableFields {
  Varint entries = 0;
  Varint table_bytes = 0;
  int coder = 0;
  int selector_bits = 0;
  std::vector<int> bin_bits = {};
};

TableFields fields_of(const plain::TableChoice& table) {
  return {.entries = table.values.size(),
          .table_bytes = plain::detail::table_bytes(table, kLookedUp).size(),
          .coder = static_cast<int>(table.coder),
          .selector_bits = table.selector_bits(),
          .bin_bits = table.bins};
}

Bytes written(const TableFields& table) {
  Bytes out;
  append(out, table.entries);
  append(out, table.table_bytes);
  append_byte(out, table.coder);
  if (table.coder != 0) return out;
  append_byte(out, table.selector_bits);
  for (const int bits : table.bin_bits) append_byte(out, bits);
  return out;
}

/// Two tables are the last bytes of the payload.
struct DictionaryFaults {
  FaultTable& table;
  Coder coder;
  std::string kind;
  LaneChoice dictionary;
  StreamFields good = mapped_stream("u64x2", 140, coder, {dictionary, dictionary}, {}, {}, {3, 4});
  std::size_t bytes = plain::detail::table_bytes(dictionary.table, kLookedUp).size();
  std::uint64_t second_at = good.chunks[1].payload.size() - bytes;
  std::uint64_t first_at = second_at - bytes;

  std::string name_of(const std::string& what) const { return named(what + kind, coder); }
  void add(const std::string& name, const FaultTable::Change& change,
           Errc code = Errc::corrupt) const {
    table.add(name_of(name), good, change, code, Place::chunk);
  }
  /// A fault of the table that begins there.
  void add_at(const std::string& name, const FaultTable::Change& change, std::uint64_t at) const {
    table.add_at(name_of(name), good, change, Errc::corrupt, at);
  }
  /// Puts other fields of a lane.
  template <class ChangeFields>
  FaultTable::Change put_fields(std::size_t lane, const ChangeFields& change) const {
    TableFields fields = fields_of(dictionary.table);
    change(fields);
    return [=](StreamFields& s) { model(s).maps[lane].fields = written(fields); };
  }
  /// A field is changed, in one lane and in the other.
  template <class Member, class Value>
  void put(const std::string& name, Member member, Value value, Errc code = Errc::corrupt) const {
    for (const std::size_t lane : {0, 1})
      add(name + " in lane " + std::to_string(lane),
          put_fields(lane, [&](TableFields& fields) { fields.*member = value; }), code);
  }
};

void add_dictionary_field_faults(const DictionaryFaults& faults) {
  faults.put("no entries", &TableFields::entries, Varint(0));
  faults.put("an entry more than an eighth of the tuples", &TableFields::entries, Varint(18));
  faults.put("65537 entries", &TableFields::entries, Varint(65537), Errc::unsupported_feature);
  faults.put("longer entries", &TableFields::entries, Varint(17, true));
  faults.put("bytes for no more than selectors", &TableFields::table_bytes, Varint(8 + 3));
  faults.put("more bytes than offsets take", &TableFields::table_bytes, Varint(8 + 4 + 16 * 8 + 1));
  faults.put("a table without room", &TableFields::table_bytes, Varint(8 + 4 + 16 * 8));
  faults.put("longer bytes of a table", &TableFields::table_bytes, Varint(faults.bytes, true));
  faults.put("5 bits of selectors", &TableFields::selector_bits, 5, Errc::unsupported_feature);
  for (const std::size_t bin : {0, 3})
    faults.add("a bin of 65 bits, number " + std::to_string(bin),
               faults.put_fields(1, [bin](TableFields& fields) { fields.bin_bits[bin] = 65; }));
}

FaultTable::Change flip(std::uint64_t at, int bits) {
  return [=](StreamFields& s) {
    chunk(s).payload[static_cast<std::size_t>(at)] ^= static_cast<std::byte>(bits);
  };
}

void add_bin_faults(const DictionaryFaults& faults) {
  faults.add_at("another bin of the first table", flip(faults.first_at + 8, 1), faults.first_at);
  faults.add_at("another bin of the second table", flip(faults.second_at + 8 + 3, 0x80),
                faults.second_at);
}

/// The fault of the first lane counts.
void add_index_faults(const DictionaryFaults& faults) {
  const auto put_index = [](std::uint64_t number) {
    return [number](StreamFields& s) {
      const std::uint64_t values_at = model(s).part_ends.back() + 8;
      chunk(s).payload[static_cast<std::size_t>(values_at + 8 * number)] = std::byte{17};
    };
  };
  faults.add_at("an index of the first lane beyond its table", put_index(1), faults.first_at);
  faults.add_at("an index of the second lane beyond its table", put_index(0), faults.second_at);
  faults.add_at(
      "indices beyond both tables, and a damaged second one",
      [=](auto& s) {
        put_index(0)(s);
        put_index(1)(s);
        chunk(s).payload[static_cast<std::size_t>(faults.second_at + 8)] ^= std::byte{3};
      },
      faults.first_at);
  faults.table.add(
      faults.name_of("a place that falls, and an index beyond its table"), faults.good,
      [=](auto& s) {
        const std::uint64_t places_at = model(s).part_ends.back();
        chunk(s).payload[static_cast<std::size_t>(places_at)] = std::byte{9};
        chunk(s).payload[static_cast<std::size_t>(places_at + 8)] = std::byte{17};
      },
      Errc::corrupt, Place::exceptions);
}

/// What heads say of tables that a coder has made: up to 17 * 8 + 64 bytes.
void add_coded_table_field_faults(const DictionaryFaults& faults) {
  for (int coder = 1; coder <= kNumCoders; ++coder)
    if (coder == kNumCoders || !format::coder_traits(static_cast<Coder>(coder)).codes_tables)
      faults.put("coder " + std::to_string(coder), &TableFields::coder, coder,
                 Errc::unsupported_feature);
  faults.put("coder 255", &TableFields::coder, 255, Errc::unsupported_feature);
  faults.put("longer bytes", &TableFields::table_bytes, Varint(faults.bytes, true));
  faults.put("a table without room", &TableFields::table_bytes, Varint(17 * 8 + 64));
  const auto lengthen = [&](std::uint64_t bytes) {
    const auto put = faults.put_fields(1, [&](TableFields& fields) { fields.table_bytes = bytes; });
    return [=, more = bytes - faults.bytes](StreamFields& s) {
      put(s);
      model(s).column_bytes.value += more;
      chunk(s).payload.resize(chunk(s).payload.size() + static_cast<std::size_t>(more));
    };
  };
  faults.add("more bytes than a stream takes", lengthen(17 * 8 + 65));
  faults.add_at("zeros behind a stream", lengthen(17 * 8 + 64), faults.second_at);
}

/// Streams begin with a control byte and end with one that is zero.
void add_coded_table_faults(const DictionaryFaults& faults) {
  for (const auto& [name, at] : {std::pair{" of the first table", faults.first_at},
                                 {" of the second table", faults.second_at}}) {
    faults.add_at(std::string("another first chunk") + name, flip(at, 0xff), at);
    faults.add_at(std::string("no end") + name, flip(at + faults.bytes - 1, 1), at);
  }
  for (const std::size_t lane : {0, 1})
    faults.add_at("a stream of 17 entries for 16 in lane " + std::to_string(lane),
                  faults.put_fields(lane, [](TableFields& fields) { fields.entries = 16; }),
                  lane == 0 ? faults.first_at : faults.second_at);
}

/// Selectors and offsets with bits to spare.
void add_spare_bit_faults(FaultTable& table) {
  const auto short_column = parse_record("i32").value().columns[0];
  const auto odd = plain::dictionary(plain::detail::table_values(short_column, 6), {3, 31});
  const StreamFields padded = mapped_stream("i32", 140, Coder::pack, {odd});
  const std::size_t odd_bytes = plain::detail::table_bytes(odd.table, short_column).size();
  const std::uint64_t odd_at = padded.chunks[1].payload.size() - odd_bytes;
  table.add_good("a table with spare bits", padded);
  for (const auto& [what, at] :
       {std::pair{"selector", odd_at + 4}, {"offset", odd_at + odd_bytes - 1}})
    table.add_at(
        std::string("set bits behind the last ") + what, padded,
        [at = at](auto& s) { chunk(s).payload[static_cast<std::size_t>(at)] ^= std::byte{0x80}; },
        Errc::corrupt, odd_at);
}

}  // namespace

void add_faults_of_dictionary(FaultTable& table) {
  for (const Coder coder : test::plain_coders()) {
    const DictionaryFaults in_bins{table, coder, "", table_in_bins()};
    add_dictionary_field_faults(in_bins);
    add_bin_faults(in_bins);
    const DictionaryFaults coded{table, coder, ", by lzma,", table_by_lzma()};
    add_coded_table_field_faults(coded);
    add_coded_table_faults(coded);
    for (const DictionaryFaults& faults : {in_bins, coded}) {
      table.add_good(faults.name_of("dictionaries"), faults.good);
      add_cut_models(table, faults.name_of("dictionaries"), faults.good);
      add_index_faults(faults);
    }
  }
  add_spare_bit_faults(table);
}

}  // namespace gdelta::faults
