// maps/dictionary.md
#include "plain_coders.h"
#include "plain_maps.h"

namespace plain_decoder {
namespace {

void read_fields(Input& fields, const Column& column, std::uint64_t n, Map& map) {
  map.entries = fields.varint();
  require_known(map.entries <= 65536, "more entries than are known");
  require(map.entries >= 1 && map.entries <= n / 8, "impossible number of entries");
  map.table_bytes = fields.varint();
  map.table_coder = static_cast<int>(fields.number(1));
  if (map.table_coder != 0) {
    const Coder* const coder = residual_coder(map.table_coder);
    require_known(coder != nullptr && coder->decode_bytes != nullptr,
                  "a table by a coder that is not known to code tables");
    const std::uint64_t bytes = map.entries * column.bytes;
    require(map.table_bytes <= bytes + bytes / 256 + 64, "impossible bytes of a table");
    return;
  }
  map.selector_bits = static_cast<int>(fields.number(1));
  require_known(map.selector_bits <= 4, "more bins of a table than are known");
  const std::uint64_t others = map.entries - 1;
  const std::uint64_t least = column.bytes + divide_up(others * map.selector_bits, 8);
  require(map.table_bytes >= least && map.table_bytes <= least + others * column.bytes,
          "impossible bytes of a table");
  for (int bin = 0; bin < 1 << map.selector_bits; ++bin) {
    map.bin_bits.push_back(static_cast<int>(fields.number(1)));
    require(map.bin_bits.back() <= 8 * column.bytes, "impossible bits of a bin");
  }
}

/// The entries of a table in bins.
Lane read_bins(Input table, const Map& map, const Column& column) {
  std::uint64_t entry = table.number(column.bytes);
  BitRun selectors(table.take(divide_up((map.entries - 1) * map.selector_bits, 8)));
  BitRun offsets(table);
  Lane entries{entry};
  while (entries.size() < map.entries) {
    const std::uint64_t bin = selectors.take(map.selector_bits);
    entry += 1 + offsets.take(map.bin_bits[bin]);
    for (std::uint64_t before = 0; before < bin; ++before)
      entry += map.bin_bits[before] < 64 ? std::uint64_t{1} << map.bin_bits[before] : 0;
    entry &= column.mask();
    entries.push_back(entry);
  }
  selectors.finish();
  offsets.finish();
  return entries;
}

/// The entries of a table that a coder has made.
Lane read_numbers(Input table, const Map& map, const Column& column) {
  Bytes bytes(map.entries * column.bytes);
  residual_coder(map.table_coder)->decode_bytes(table, bytes.data(), bytes.size());
  table.finish();
  Input numbers{bytes.data(), bytes.data() + bytes.size()};
  Lane entries{numbers.number(column.bytes)};
  while (entries.size() < map.entries)
    entries.push_back((entries.back() + 1 + numbers.number(column.bytes)) & column.mask());
  return entries;
}

/// The values of a table.
Lane read_table(const Input& table, const Map& map, const Column& column) {
  Lane entries =
      map.table_coder == 0 ? read_bins(table, map, column) : read_numbers(table, map, column);
  if (column.is_float) undo_map(entries, Map{.number = 1}, column);
  return entries;
}

}  // namespace

const ValueMap dictionary_map{
    .fits = is_any_type, .read_fields = read_fields, .read_table = read_table};

}  // namespace plain_decoder
