// The order of each lane under the pack coder: the cost of sampled groups at every order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/residual_source.h"
#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "codec/plan/encode_settings.h"

namespace gdelta {

/// The maps without fields, none among them, that a level weighs on values of a type, in the order of their numbers.
std::vector<ValueMap> plain_maps(ValueType type, int level);

struct LaneOrders {
  std::uint8_t orders[kMaxTuple] = {};
  std::uint64_t lane_bits[kMaxTuple] = {};  // estimated, of each lane
  std::uint64_t bits = 0;                   // of the section
};

/// How hard to look.
struct OrderEffort {
  int max_order = kMaxOrder;
  std::uint64_t column_groups = 0;  // that are looked at, all lanes together
};

/// Chooses for each lane the order 0 … max_order of the least estimated cost, ties to the lower one; or the
/// cost of the order asked for. `work` is told, if there is one.
LaneOrders choose_orders(const ResidualSource& source, std::optional<int> asked, OrderEffort effort,
                         Workers& workers, Work* work = nullptr);

/// What a level's plain maps do for a column, each with its best orders.
struct PlainFronts {
  std::vector<format::Front> fronts;
  std::size_t best =
      0;  ///< that one behind which the column is packed in the fewest bits, of equals the first
  std::uint64_t bits = 0;                     ///< behind it
  std::vector<std::uint64_t> lane_bits = {};  ///< of each lane, behind it

  const format::Front& best_front() const { return fronts[best]; }
};
PlainFronts choose_plain_fronts(const ColumnBytes& column, const EncodeSettings& settings,
                                Workers& workers, Work* work = nullptr);

/// Whether all lanes of a front have this order.
bool has_orders(const format::Front& front, int lanes, std::uint8_t order);

/// Estimated bits of one lane at a given order.
std::uint64_t lane_bits(const ResidualSource& source, int lane, int order, OrderEffort effort,
                        Workers& workers);

/// Estimated bits of a lane of `records` at its best order, or at the order asked for, from its sampled groups: each has
/// kMaxOrder values before it, and there are whole groups.
template <class Word>
std::uint64_t least_lane_bits(std::span<const Word> groups, const Column& column,
                              std::uint64_t records, std::optional<int> asked, OrderEffort effort);

/// Bits of these tuples of one lane, packed at a given order, all groups looked at; `first` is a
/// multiple of 128.
std::uint64_t packed_lane_bits(const ResidualSource& source, int lane, int order,
                               std::uint64_t first, std::uint64_t count, Workers& workers,
                               Work* work = nullptr);

/// Adds that up over all lanes, each at its order.
std::uint64_t packed_bits(const ResidualSource& source, const std::uint8_t* orders,
                          std::uint64_t first, std::uint64_t count, Workers& workers,
                          Work* work = nullptr);

}  // namespace gdelta
