// coders/pack.md
#include "plain_coders.h"

namespace plain_decoder {
namespace {

std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  return divide_up(n, 128) * column.tuple * (2 + 128 * std::uint64_t(column.bytes)) +
         model.part_checks.size() * 8 * column.bytes * column.tuple;
}

void decode(Input page, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>&, std::vector<Lane>& lanes) {
  const auto w = 8 * column.bytes;
  const auto num_groups = static_cast<std::size_t>(divide_up(tuples, 128));
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));
  page.take(lanes.size() * static_cast<std::size_t>(model.page_states() * column.bytes));

  struct Descriptor {
    int width, count, high_bytes;
  };
  std::vector<Descriptor> descriptors;
  for (std::size_t i = 0; i < lanes.size() * num_groups; ++i) {
    const auto bits = static_cast<int>(page.number(2));
    const Descriptor d{bits & 0x7f, (bits >> 7) & 0x7f, 1 << (bits >> 14)};
    require(d.width <= w && (w > 32 || d.high_bytes <= 4), "impossible descriptor");
    require(d.count > 0 || (bits >> 14) == 0, "set bits where there are no exceptions");
    descriptors.push_back(d);
  }
  std::vector<std::vector<std::uint64_t>> groups;
  for (const Descriptor& d : descriptors) {
    const Input bytes = page.take(16 * d.width);
    std::vector<std::uint64_t> group(128);
    for (int l = 0; l < 16; ++l)
      for (int i = 0; i < 8; ++i)
        group[8 * l + i] = row_bits(bytes, (16 * i + l) * d.width, d.width);
    groups.push_back(group);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Descriptor& d = descriptors[g];
    Input positions = page.take(d.count);
    std::uint64_t next = 0;  // the lowest position that may come
    for (int i = 0; i < d.count; ++i) {
      const std::uint64_t position = positions.number(1);
      const std::uint64_t high = page.number(d.high_bytes);
      require(position >= next && position < 128, "impossible position");
      require(high > 0 && d.width < w && high <= column.mask() >> d.width, "impossible high");
      groups[g][position] |= high << d.width;
      next = position + 1;
    }
    for (std::size_t i = tuples - g % num_groups * 128; i < 128; ++i)
      require(groups[g][i] == 0, "padding that is not zero");
  }
  page.finish();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      const std::uint64_t z = groups[lane * num_groups + i / 128][i % 128];
      lanes[lane].push_back(undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
}

}  // namespace

const Coder pack_coder{
    .pages = true, .states_of_segments = true, .most_bytes = most_bytes, .decode = decode};

}  // namespace plain_decoder
