// Faults in the pages of pack, in their groups, exceptions and padding; fault_cases.h says how they are made.
#include <numeric>

#include "codec/faults/fault_parts.h"
#include "codec/faults/group_fields.h"

namespace gdelta::faults {

std::uint64_t most_pack_bytes(std::uint64_t records, int lanes, int bits, int pages) {
  const std::uint64_t groups = (records + 127) / 128 * static_cast<std::uint64_t>(lanes);
  return groups * (2 + 16 * static_cast<std::uint64_t>(bits)) +
         static_cast<std::uint64_t>(pages * lanes * bits);
}

namespace {

Bytes descriptor(int width, int count, int log2_high_bytes) {
  return bytes_of({(width | count << 7) & 0xff, (width | count << 7 | log2_high_bytes << 14) >> 8});
}

constexpr std::size_t kPageRecords = 136;

/// Two pages of one lane of `type`, of order 0: 128 values and 8. All are zero but value
/// `not_zero`, which is 1 (residual 2).
StreamFields page_stream(ValueType type, const std::array<Bytes, 2>& pages,
                         std::optional<std::size_t> not_zero = {}) {
  const Layout layout{{{type, 1}}};
  const auto width = static_cast<std::size_t>(value_bytes(type));
  Bytes values(kPageRecords * width);
  if (not_zero) values[*not_zero * width] = std::byte{1};
  StreamFields fields =
      stream_of(layout, values, {plain::linked(Coder::pack, layout.columns[0], {0})});
  ChunkFields& chunk = fields.chunks[1];
  chunk.payload = joined({pages[0], pages[1]});
  chunk.models[0].column_bytes = chunk.payload.size();
  chunk.models[0].part_ends = {pages[0].size(), chunk.payload.size()};
  return fields;
}

void add_page_faults(FaultTable& table) {
  const Bytes good = with_zeros(descriptor(1, 0, 0), 16);
  // Of u8, with a high of 1 byte at position 3.
  const Bytes exception = joined({descriptor(1, 1, 0), Bytes(16), bytes_of({3, 1})});
  table.add_good("pages", page_stream(ValueType::u8, {good, good}));
  table.add_good("a page with an exception", page_stream(ValueType::u8, {good, exception}, 131));
  table.add_good(
      "an exception at the last position",
      page_stream(ValueType::u8,
                  {joined({descriptor(1, 1, 0), Bytes(16), bytes_of({127, 1})}), good}, 127));
  const auto add = [&](const std::string& name, ValueType type, const Bytes& page,
                       std::optional<std::size_t> not_zero = {}) {
    const StreamFields right = page_stream(type, {good, good});
    // The longest are refused before they are decoded.
    const bool too_long =
        good.size() + page.size() > most_pack_bytes(kPageRecords, 1, value_bits(type), 2);
    table.add(name + " in the first page", right,
              put_chunk_of(page_stream(type, {page, good}, not_zero)), Errc::corrupt,
              too_long ? Place::chunk : Place::first_part);
    if (not_zero) *not_zero += 128;
    table.add(name + " in the second page", right,
              put_chunk_of(page_stream(type, {good, page}, not_zero)), Errc::corrupt,
              too_long ? Place::chunk : Place::second_part);
  };
  const auto add_u8 = [&](const std::string& name, const Bytes& page,
                          std::optional<std::size_t> not_zero = {}) {
    add(name, ValueType::u8, page, not_zero);
  };
  add_u8("no byte", {});
  add_u8("half a descriptor", bytes_of({0}));
  add_u8("a group too short", Bytes(good.begin(), good.end() - 1));
  add_u8("a byte behind the group", with_zeros(good, 1));
  add_u8("exceptions without highs", joined({descriptor(1, 1, 0), Bytes(16), bytes_of({3})}), 3);
  add_u8("a byte behind the exceptions", with_zeros(exception, 1), 3);
  add_u8("127 exceptions, one of them there", joined({descriptor(1, 127, 0), Bytes(16 + 2)}));
  for (const int log2 : {1, 2, 3})
    add_u8("high_bytes " + std::to_string(1 << log2) + " without exceptions",
           with_zeros(descriptor(1, 0, log2), 16));
  for (const int position : {128, 129, 255})
    add_u8("position " + std::to_string(position),
           joined({descriptor(1, 1, 0), Bytes(16), bytes_of({position, 1})}));
  for (const auto& [type, log2, allowed] : {std::tuple{ValueType::u8, 3, false},
                                            {ValueType::u32, 2, true},
                                            {ValueType::u32, 3, false},
                                            {ValueType::f16, 3, false},
                                            {ValueType::u64, 3, true}}) {
    const Bytes page =
        with_zeros(joined({descriptor(1, 1, log2), Bytes(16), bytes_of({3, 1})}), (1u << log2) - 1);
    const std::string name =
        "high_bytes " + std::to_string(1 << log2) + " of " + std::string(type_name(type));
    if (allowed)
      table.add_good(name, page_stream(type, {good, page}, 131));
    else
      add(name, type, page, 3);
  }
  for (const ValueType type :
       {ValueType::i8, ValueType::bf16, ValueType::u24, ValueType::f32, ValueType::i64})
    for (const int more : {0, 1, 127 - value_bits(type)}) {
      const int width = value_bits(type) + more;
      const Bytes page = with_zeros(descriptor(width, 0, 0), 16u * static_cast<unsigned>(width));
      const std::string name =
          "width " + std::to_string(width) + " of " + std::string(type_name(type));
      if (more == 0)
        table.add_good(name, page_stream(type, {page, page}));
      else
        add(name, type, page);
    }
}

// ---- Groups

struct GroupAt {
  std::size_t page = 0, lane = 0, group = 0;
};

/// Two pages of two groups a lane, of order 0; the last group of a lane has few residuals.
constexpr std::size_t kLastResiduals = 8;
constexpr std::size_t kGroupRecords = 3 * 128 + kLastResiduals;

/// All residuals are zero but those of one group.
StreamFields group_stream(const Column& column, const GroupAt& at, const GroupFields& group) {
  const Layout layout{{column}};
  const int bits = value_bits(column.type);
  const auto bytes = static_cast<std::size_t>(value_bytes(column.type));
  Bytes values(kGroupRecords * column.tuple * bytes);
  for (int position = 0; position < 128; ++position) {
    const std::size_t tuple = 256 * at.page + 128 * at.group + static_cast<std::size_t>(position);
    if (tuple >= kGroupRecords) continue;
    const std::uint64_t z = residual_of(group, position, bits);
    const std::uint64_t value = (z >> 1) ^ (0 - (z & 1));
    for (std::size_t b = 0; b < bytes; ++b)
      values[(tuple * column.tuple + at.lane) * bytes + b] = static_cast<std::byte>(value >> 8 * b);
  }
  plain::Choice choice = plain::linked(Coder::pack, column, {0});
  choice.model.section.part_groups = 2;
  StreamFields fields = stream_of(layout, values, {choice});
  ModelFields& model = fields.chunks[1].models[0];
  Bytes& payload = fields.chunks[1].payload;
  payload.clear();
  model.part_ends.clear();
  for (std::size_t page = 0; page < 2; ++page) {
    std::vector<GroupFields> groups(2u * column.tuple);
    if (page == at.page) groups[2 * at.lane + at.group] = group;
    append(payload, page_of_groups({}, groups));
    model.part_ends.push_back(payload.size());
  }
  model.column_bytes = payload.size();
  return fields;
}

/// Puts groups at places of a column, with what their names need.
class GroupFaults {
 public:
  GroupFaults(FaultTable& table, const Column& column) : table_(table), column_(column) {}

  void add_good(const std::string& name, const GroupAt& at, const GroupFields& group) {
    table_.add_good(name_of(name, at), group_stream(column_, at, group));
  }
  void add(const std::string& name, const GroupAt& at, const GroupFields& group) {
    table_.add(name_of(name, at), group_stream(column_, at, {}),
               put_chunk_of(group_stream(column_, at, group)), Errc::corrupt,
               at.page == 0 ? Place::first_part : Place::second_part);
  }

 private:
  std::string name_of(const std::string& name, const GroupAt& at) const {
    return name + " in group " + std::to_string(2 * at.page + at.group) + " of lane " +
           std::to_string(at.lane) + " of " + to_string(Layout{{column_}});
  }

  FaultTable& table_;
  Column column_;
};

std::vector<AtPosition> ones_at(const std::vector<int>& positions) {
  std::vector<AtPosition> exceptions;
  exceptions.reserve(positions.size());
  for (const int position : positions) exceptions.emplace_back(position, 1);
  return exceptions;
}

/// As many as a group may have.
std::vector<int> most_positions() {
  std::vector<int> positions(127);
  std::iota(positions.begin(), positions.end(), 1);
  return positions;
}

void add_exception_faults(GroupFaults& faults, const Column& column, const GroupAt& at) {
  const auto with = [](const std::vector<AtPosition>& exceptions, int width = 1,
                       int high_bytes = 1) {
    return GroupFields{
        .width = width, .slots = {}, .exceptions = exceptions, .high_bytes = high_bytes};
  };
  faults.add_good("rising positions", at, with(ones_at({0, 1, 2, 6, 7})));
  faults.add("a position twice", at, with(ones_at({3, 3})));
  faults.add("a position twice, with other highs", at, with({{1, 1}, {5, 1}, {5, 2}}));
  faults.add("positions that fall", at, with(ones_at({5, 3})));
  faults.add("positions that fall at last", at, with(ones_at({1, 2, 3, 4, 7, 6})));

  faults.add("a high of 0", at, with({{3, 0}}));
  faults.add("a high of 0 behind others", at, with({{3, 1}, {4, 1}, {5, 0}}));
  faults.add("a high of 0 before another", at, with({{3, 0}, {4, 1}}));
  const int bits = value_bits(column.type);
  const int most_bytes = bits == 64 ? 8 : 4;
  for (const int width : {0, 1, bits - 1}) {
    const std::uint64_t beyond = bits - width == 64 ? 0 : 1ull << (bits - width);
    const std::string of = " above width " + std::to_string(width);
    faults.add_good("the longest high" + of, at,
                    with({{3, 1}, {4, beyond - 1}}, width, most_bytes));
    if (beyond == 0 || beyond == 1ull << 32) continue;
    faults.add("a high too long" + of, at, with({{3, 1}, {4, beyond | 1}}, width, most_bytes));
    const int top = 8 * most_bytes - 1;
    faults.add("a high's last bit" + of, at, with({{3, 1ull << top | 1}}, width, most_bytes));
  }
  faults.add("an exception above the full width", at, with(ones_at({3}), bits));
}

/// In a group of 128 residuals.
void add_full_group_faults(GroupFaults& faults, const GroupAt& at) {
  std::vector<int> positions = most_positions();
  faults.add_good("127 exceptions", at, {1, {{0, 1}, {127, 1}}, ones_at(positions)});
  for (const std::size_t i : {1, 40, 126}) {
    std::swap(positions[i - 1], positions[i]);
    faults.add("exception " + std::to_string(i) + " of 127 out of order", at,
               {1, {}, ones_at(positions)});
    positions = most_positions();
  }
}

void add_padding_faults(GroupFaults& faults, const Column& column, std::size_t lane) {
  const GroupAt at{1, lane, 1};
  const int bits = value_bits(column.type);
  constexpr int kBehind = kLastResiduals;
  faults.add_good("the last residual", at, {1, {{kBehind - 1, 1}}, {}});
  faults.add_good("an exception at the last residual", at, {1, {}, ones_at({kBehind - 1})});
  for (const int position : {kBehind, 127}) {
    const std::string where = " at position " + std::to_string(position);
    faults.add("padding" + where, at, {1, {{position, 1}}, {}});
    faults.add("padding beside exceptions" + where, at,
               {2, {{0, 3}, {position, 2}}, ones_at({0, kBehind - 1})});
    faults.add("padding of the full width" + where, at,
               {bits, {{position, 1ull << (bits - 1)}}, {}});
    faults.add("an exception" + where, at, {1, {}, ones_at({position})});
    faults.add("an exception behind another" + where, at, {1, {}, ones_at({2, position})});
  }
}

void add_group_faults(FaultTable& table) {
  for (const char* record : {"u8", "i24x3", "f32", "u64x2", "i32x5"}) {
    const Column column = parse_record(record).value().columns[0];
    const std::size_t last_lane = column.tuple - 1u;
    GroupFaults faults(table, column);
    const GroupAt first, last{1, last_lane, 1};
    add_exception_faults(faults, column, first);
    add_exception_faults(faults, column, last);
    add_full_group_faults(faults, {0, last_lane, 1});
    add_padding_faults(faults, column, 0);
    if (last_lane > 0) add_padding_faults(faults, column, last_lane);
  }
}

}  // namespace

void add_faults_of_pack(FaultTable& table) {
  add_page_faults(table);
  add_group_faults(table);
}

}  // namespace gdelta::faults
