// coders/runs.md
#include "plain_coders.h"

namespace plain_decoder {
namespace {

std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  return n * column.tuple * (2 + std::uint64_t(column.bytes)) +
         model.part_checks.size() * 8 * column.bytes * column.tuple;
}

void decode(Input page, const Model& model, const Column& column, std::uint64_t tuples,
            std::vector<Lane>&, std::vector<Lane>& lanes) {
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t left = tuples; left > 0;) {
      const std::uint64_t length = page.number(2) + 1;
      const std::uint64_t z = page.number(column.bytes);
      require(length <= left, "a run beyond its lane");
      left -= length;
      for (std::uint64_t i = 0; i < length; ++i)
        lanes[lane].push_back(
            undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
  page.finish();
}

}  // namespace

const Coder runs_coder{.pages = true, .most_bytes = most_bytes, .decode = decode};

}  // namespace plain_decoder
