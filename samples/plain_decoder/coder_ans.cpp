// coders/ans.md
#include <algorithm>

#include "plain_coders.h"

namespace plain_decoder {
namespace {

/// One table, whose number of bins has been read.
Table read_table(Input& fields, const Column& column, int slot_bits, std::uint64_t bins) {
  const int w = 8 * column.bytes;
  const auto highest = static_cast<std::int64_t>(column.mask() >> 1);
  Table table;
  std::uint64_t end = 0;  // of the bin before
  std::int64_t before = 0;
  for (std::uint64_t i = 0; i < bins; ++i) {
    const std::uint64_t frequency = fields.varint();
    require(frequency >= 1 && frequency <= (1u << slot_bits) - table.size(),
            "impossible frequency");
    const auto offset_bits = static_cast<int>(fields.number(1));
    require(offset_bits <= w, "impossible bits of an offset");
    const std::uint64_t zigzagged = fields.varint();
    const std::uint64_t lower = end + ((zigzagged >> 1) ^ (0 - (zigzagged & 1)));
    const auto as_signed = static_cast<std::int64_t>(lower);
    require(as_signed >= -highest - 1 && as_signed <= highest, "a bin outside of the type");
    require(i == 0 || as_signed > before, "the bins do not rise");
    before = as_signed;
    end = lower + (offset_bits < 64 ? std::uint64_t{1} << offset_bits : 0);
    for (std::uint64_t place = 0; place < frequency; ++place)
      table.push_back(
          {.lower = lower, .offset_bits = offset_bits, .frequency = frequency, .place = place});
  }
  require(table.size() == 1u << slot_bits, "the frequencies do not add up");
  return table;
}

void read_tables(Input& fields, const Column& column, Model& model) {
  model.slot_bits = static_cast<int>(fields.number(1));
  require_known(model.slot_bits >= 5 && model.slot_bits <= 11, "an unknown number of slots");
  model.span_bits = static_cast<int>(fields.number(1));
  require_known(model.span_bits >= 3 && model.span_bits <= 8, "an unknown size of spans");
  const std::uint64_t tables = fields.number(1);
  require(tables >= 1, "no tables");
  require_known(tables <= 16 && tables << model.slot_bits <= 4096, "more slots than are known");
  std::uint64_t all_bins = 0;
  for (std::uint64_t i = 0; i < tables; ++i) {
    const std::uint64_t more_bins = fields.varint();
    require_known(more_bins < 256, "more bins of a table than are known");
    const std::uint64_t bins = more_bins + 1;
    all_bins += bins;
    require_known(all_bins <= 1024, "more bins than are known");
    model.tables.push_back(read_table(fields, column, model.slot_bits, bins));
  }
}

std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  return n * column.tuple * (column.bytes + 3) +
         model.part_checks.size() * (256 + (8 * std::uint64_t(column.bytes) + 16) * column.tuple);
}

/// The residuals of a page, whose delta states have been read, lane by lane.
std::vector<Lane> decode_symbols(Input page, const Model& model, const Column& column,
                                 std::uint64_t tuples) {
  const auto num_lanes = static_cast<std::uint64_t>(column.tuple);
  const std::uint64_t residuals_of_page = tuples * num_lanes;
  std::uint64_t num_states = residuals_of_page >= 4096 ? 32 : 1;
  while (num_states < 32 && 2 * num_states <= residuals_of_page / 512) num_states *= 2;
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

void decode(Input page, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>&, std::vector<Lane>& lanes) {
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));
  const std::vector<Lane> residuals = decode_symbols(page, model, column, tuples);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (const std::uint64_t residual : residuals[lane])
      lanes[lane].push_back(undo_delta(residual, states[lane], column.mask()));
}

}  // namespace

const Coder ans_coder{
    .pages = true, .read_fields = read_tables, .most_bytes = most_bytes, .decode = decode};

}  // namespace plain_decoder
