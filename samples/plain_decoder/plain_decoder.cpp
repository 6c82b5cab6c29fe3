// A short, slow decoder of gdelta streams, written from formats/gdelta/spec.md and its pages of stages
// alone, section by section as spec.md has them. It shares no code with the project, so that it shows that the page
// is complete.
//
// usage: plain_decoder IN OUT
//
// What is no stream is refused as section 8 says: "plain_decoder: IN: corrupt: chunk 3, byte 1234: why".
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

// ---- Section 8: what is refused

/// The class of what was found, and where: whoever knows the place fills it in.
struct Refusal {
  std::string kind;
  std::string what;
  const std::uint8_t* at = nullptr;
  std::optional<std::uint64_t> chunk;
};

void require(bool holds, const char* what, const char* kind = "corrupt") {
  if (!holds) throw Refusal{.kind = kind, .what = what, .at = nullptr, .chunk = {}};
}

/// Runs `step`; what it refuses is at `at`, unless it knows better.
template <class Step>
void refuse_at(const std::uint8_t* at, Step step) {
  try {
    step();
  } catch (Refusal& refusal) {
    if (refusal.at == nullptr) refusal.at = at;
    throw;
  }
}

// ---- Section 1: words

/// What is left of some bytes; reading beyond the end is refused. The file's end cuts a stream short,
/// the end of a head or a page contradicts what it says.
struct Input {
  const std::uint8_t* at;
  const std::uint8_t* end;
  const char* at_end = "corrupt";

  std::uint64_t left() const { return static_cast<std::uint64_t>(end - at); }
  Input take(std::uint64_t bytes) {
    require(bytes <= left(), "bytes are missing", at_end);
    at += bytes;
    return {at - bytes, at};
  }
  std::uint64_t number(int bytes) {
    const Input field = take(bytes);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{field.at[i]} << (8 * i);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t byte = number(1);
      require(i == 0 || byte != 0, "a varint is not the shortest");
      require(i < 9 || byte <= 1, "a varint is too large");
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    throw Refusal{.kind = "corrupt", .what = "a varint is too long", .at = nullptr, .chunk = {}};
  }
  void finish() const { require(at == end, "bytes are left over"); }
};

std::uint64_t xxh3(const std::uint8_t* begin, const std::uint8_t* end) {
  return XXH3_64bits(begin, static_cast<std::size_t>(end - begin));
}

// ---- Section 3.1: layouts

struct Column {
  int bytes = 0;  // of a value
  int tuple = 0;
  bool is_float = false;
  bool big_endian = false;
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - 8 * bytes); }
};
using Layout = std::vector<Column>;

std::uint64_t record_bytes(const Layout& layout) {
  std::uint64_t bytes = 0;
  for (const Column& column : layout) bytes += std::uint64_t(column.bytes) * column.tuple;
  return bytes;
}

Layout read_layout(Input& head) {
  constexpr int kValueBytes[] = {1, 1, 2, 2, 3, 3, 4, 4, 8, 8, 2, 2, 4, 8};
  const std::uint64_t columns = head.varint();
  require(columns >= 1 && columns <= 4096, "a layout has 1 to 4096 columns");
  Layout layout;
  for (std::uint64_t i = 0; i < columns; ++i) {
    const auto type = static_cast<int>(head.number(1));
    require((type & 0x7f) < 14, "unknown type", "unsupported_feature");
    const auto tuple = static_cast<int>(head.number(1));
    require(tuple >= 1 && tuple <= 64, "a tuple has 1 to 64 values");
    layout.push_back({kValueBytes[type & 0x7f], tuple, (type & 0x7f) >= 10, type >= 0x80});
  }
  head.number(1);  // the note
  head.finish();
  require(record_bytes(layout) <= 65536, "a record has at most 65536 bytes");
  return layout;
}

// ---- Section 4: models

/// coders/ans.md: a bin as one of its slots sees it.
struct Slot {
  std::uint64_t lower;
  int offset_bits;
  std::uint64_t frequency;
  std::uint64_t place;
};
using Table = std::vector<Slot>;

/// The value map of a lane, with the fields of its page.
struct Map {
  std::uint64_t number = 0;
  std::uint64_t digits = 0;
  double scale = 0;
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
  std::uint64_t table_bytes = 0;
  int selector_bits = 0;
  std::vector<int> bin_bits = {};
};

/// maps/differences.md
struct Step {
  std::uint64_t target;
  std::uint64_t source;
  std::uint64_t kind;
};

/// predictors/linear.md: the sum is over own values, then over values of each source.
struct LinearLane {
  std::uint64_t own = 0;
  std::uint64_t shift = 0;
  struct Source {
    std::uint64_t lane;
    std::uint64_t taps;
  };
  std::vector<Source> sources;
  struct Tap {
    std::uint64_t base;
    std::uint64_t width;
  };
  std::vector<Tap> taps;
};

struct Model {
  int coder = 0;
  std::vector<Map> maps;  // one a lane
  std::uint64_t exceptions = 0;
  std::vector<Step> steps;
  std::vector<int> orders;  // one a lane
  struct Link {
    std::uint64_t stride;
    int order;
  };
  std::vector<Link> links;
  std::uint64_t run_tuples = 0;  // 0: not predicted linearly
  bool reads_unsigned = false;
  std::vector<LinearLane> linear;
  std::vector<std::vector<std::uint64_t>> coefficients;  // of each run: of all taps
  bool has_segments = false;                             // deltas are taken inside of them
  std::vector<int> inside_orders;                        // one a lane
  int head_order = 0;
  std::uint64_t arrangement = 0;
  int slot_bits = 0;
  int span_bits = 0;
  std::vector<Table> tables;
  std::uint64_t part_tuples = 0;
  std::vector<std::uint64_t> part_ends;
  std::vector<std::uint64_t> part_checks;
  std::uint64_t column_bytes = 0;
  std::uint64_t section_bytes = 0;  // without the exceptions and tables behind it

  bool has_front() const { return coder >= 2; }
  bool has_pages() const { return coder == 2 || coder == 4; }
};

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// A number that may become legal, with a meaning that this decoder does not know.
void require_known(bool known, const char* what) { require(known, what, "unsupported_feature"); }

/// An order for all lanes, or one for each.
void read_orders(Input& fields, std::vector<int>& lanes) {
  const std::uint64_t orders = fields.number(1);
  require_known(orders <= 8 || orders == 255, "an unknown order");
  for (int& order : lanes) {
    order = static_cast<int>(orders == 255 ? fields.number(1) : orders);
    require_known(order <= 8, "an unknown order");
  }
}

/// predictors/segments.md
void read_segments(Input& fields, bool in_segments, Model& model) {
  require(in_segments, "a chunk that does not say its segments");
  model.has_segments = true;
  model.inside_orders.resize(model.orders.size());
  read_orders(fields, model.inside_orders);
  model.head_order = static_cast<int>(fields.number(1));
  require_known(model.head_order <= 8, "an unknown order");
}

/// predictors/deltas.md
void read_deltas(Input& fields, std::uint64_t n, Model& model) {
  read_orders(fields, model.orders);
  const std::uint64_t strides = fields.number(1);
  require_known(strides <= 2, "more strides than are known");
  for (std::uint64_t i = 0; i < strides; ++i) {
    const std::uint64_t stride = fields.varint();
    require(stride >= 2 && stride <= (1 << 22) && 4 * stride <= n, "impossible stride");
    const auto order = static_cast<int>(fields.number(1));
    require(order >= 1, "impossible order of a stride");
    require_known(order <= 8, "an unknown order of a stride");
    model.links.push_back({stride, order});
  }
}

/// Bits `at` … `at + width - 1` of a row of them.
std::uint64_t row_bits(const Input& row, std::uint64_t at, std::uint64_t width) {
  std::uint64_t value = 0;
  for (std::uint64_t bit = 0; bit < width; ++bit)
    value |= std::uint64_t((row.at[(at + bit) / 8] >> ((at + bit) % 8)) & 1) << bit;
  return value;
}

LinearLane read_linear_lane(Input& fields, std::uint64_t number) {
  LinearLane lane;
  std::uint64_t taps = lane.own = fields.number(1);
  require_known(lane.own <= 32, "more taps than are known");
  const std::uint64_t sources = fields.number(1);
  require_known(sources <= 2, "more sources than are known");
  lane.shift = fields.number(1);
  require_known(lane.shift <= 15, "an unknown shift");
  for (std::uint64_t i = 0; i < sources; ++i) {
    const std::uint64_t source = fields.number(1);
    require(source < number && (i == 0 || source > lane.sources.back().lane), "impossible source");
    lane.sources.push_back({source, fields.number(1)});
    require(lane.sources.back().taps > 0, "a source without taps");
    taps += lane.sources.back().taps;
    require_known(taps <= 32, "more taps than are known");
  }
  for (std::uint64_t i = 0; i < taps; ++i) {
    lane.taps.push_back({fields.number(2), fields.number(1)});
    require_known(lane.taps.back().width <= 16, "an unknown width");
  }
  return lane;
}

/// predictors/linear.md
void read_linear(Input& fields, std::uint64_t n, Model& model) {
  const std::uint64_t run_bits = fields.number(1);
  require_known(run_bits >= 8 && run_bits <= 16, "runs of unknown length");
  model.run_tuples = std::uint64_t{1} << run_bits;
  const std::uint64_t reading = fields.number(1);
  require_known(reading <= 1, "an unknown reading");
  model.reads_unsigned = reading == 1;
  std::uint64_t bits = 0;  // of a run
  for (std::uint64_t lane = 0; lane < model.orders.size(); ++lane) {
    model.linear.push_back(read_linear_lane(fields, lane));
    for (const LinearLane::Tap& tap : model.linear.back().taps) bits += tap.width;
  }
  const std::uint64_t runs = divide_up(n, model.run_tuples);
  const Input table = fields.take(divide_up(runs * bits, 8));
  require(row_bits(table, runs * bits, 8 * table.left() - runs * bits) == 0,
          "padding that is not zero");
  std::uint64_t at = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    model.coefficients.emplace_back();
    for (const LinearLane& lane : model.linear)
      for (const LinearLane::Tap& tap : lane.taps) {
        const std::uint64_t c = (tap.base + row_bits(table, at, tap.width)) & 0xffff;
        model.coefficients.back().push_back(c < 0x8000 ? c : c - 0x10000);
        at += tap.width;
      }
  }
}

void require_map_of_type(std::uint64_t number, const Column& column) {
  require_known(number <= 5, "unknown value map");
  const bool fits[] = {true,
                       column.is_float,
                       column.is_float && column.bytes >= 4,
                       column.is_float && column.bytes >= 4,
                       !column.is_float,
                       true};
  require(fits[number], "a value map that is not for the type");
}

/// maps/dictionary.md
void read_table_fields(Input& fields, const Column& column, std::uint64_t n, Map& map) {
  map.entries = fields.varint();
  require_known(map.entries <= 65536, "more entries than are known");
  require(map.entries >= 1 && map.entries <= n / 8, "impossible number of entries");
  map.table_bytes = fields.varint();
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

/// maps/decimal.md, maps/scaled.md, maps/multiple.md
void read_map_fields(Input& fields, const Column& column, std::uint64_t n, Map& map) {
  if (map.number == 2) {
    map.digits = fields.number(1);
    require_known(map.digits <= 22, "more digits than are known");
  }
  if (map.number == 3) {
    map.scale = std::bit_cast<double>(fields.number(8));
    require(std::isnormal(map.scale) && map.scale > 0, "impossible step of a scaled map");
  }
  if (map.number == 4) {
    map.step = fields.varint();
    require(map.step >= 2 && map.step <= column.mask(), "impossible step of a multiple map");
    map.offset = fields.number(column.bytes);
  }
  if (map.number == 5) read_table_fields(fields, column, n, map);
}

void read_value_maps(Input& fields, const Column& column, std::uint64_t n, Model& model) {
  constexpr std::uint64_t kByLane = 255;
  const std::uint64_t number = fields.number(1);
  if (number != kByLane) require_map_of_type(number, column);
  model.maps.resize(column.tuple);
  for (Map& map : model.maps) {
    map.number = number == kByLane ? fields.number(1) : number;
    require_map_of_type(map.number, column);
  }
  for (Map& map : model.maps) read_map_fields(fields, column, n, map);
  const auto has_fields = [](const Map& map) { return map.number >= 2; };
  if (std::any_of(model.maps.begin(), model.maps.end(), has_fields))
    model.exceptions = fields.varint();
  require(model.exceptions <= n * column.tuple, "more exceptions than values");
  std::uint64_t bytes = model.exceptions * (4 + column.bytes);
  for (const Map& map : model.maps) bytes += map.table_bytes;
  require(bytes <= model.column_bytes, "more exceptions and tables than there is room for");
  model.section_bytes = model.column_bytes - bytes;
}

/// maps/differences.md
void read_lane_map(Input& fields, const Column& column, Model& model) {
  const std::uint64_t lane_map = fields.number(1);
  require_known(lane_map <= 1, "unknown lane map");
  if (lane_map == 0) return;
  const auto lanes = static_cast<std::uint64_t>(column.tuple);
  const std::uint64_t steps = fields.number(1);
  require(steps >= 1, "no steps of lanes");
  require_known(steps <= 64, "more steps of lanes than are known");
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::uint64_t target = fields.number(1);
    require(target < lanes, "a lane that is not there");
    const std::uint64_t source = fields.number(1);
    require(source < lanes && source != target, "a lane that is not there, or not another");
    const std::uint64_t kind = fields.number(1);
    require_known(kind <= 2, "an unknown kind of a step");
    model.steps.push_back({target, source, kind});
  }
}

void read_front(Input& fields, const Column& column, std::uint64_t n, bool in_segments,
                Model& model) {
  read_value_maps(fields, column, n, model);
  read_lane_map(fields, column, model);
  const std::uint64_t predictor = fields.number(1);
  require_known(predictor <= 3, "unknown predictor");
  model.orders.assign(column.tuple, 0);
  if (predictor == 1) read_deltas(fields, n, model);
  if (predictor == 2) read_linear(fields, n, model);
  if (predictor == 3) read_segments(fields, in_segments, model);
}

/// coders/ans.md: one table, whose number of bins has been read.
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
      table.push_back({lower, offset_bits, frequency, place});
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

void read_parts(Input& fields, const Column& column, std::uint64_t n, Model& model) {
  const std::uint64_t part_groups = fields.varint();
  require(part_groups <= 1 << 22, "impossible parts");
  if (model.has_pages()) {
    require_known(part_groups >= 1 && part_groups * column.tuple <= 2048, "unknown pages");
  } else {
    require(128 * part_groups < n && (model.coder != 1 || part_groups == 0), "impossible parts");
  }
  model.part_tuples = part_groups == 0 ? n : 128 * part_groups;
  const std::uint64_t parts = divide_up(n, model.part_tuples);
  if (model.has_front()) {
    Input ends = fields.take(4 * parts);
    while (ends.left() > 0) model.part_ends.push_back(ends.number(4));
  }
  Input checks = fields.take(4 * parts);
  while (checks.left() > 0) model.part_checks.push_back(checks.number(4));
}

/// The longest section that is not refused.
std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  const std::uint64_t parts = model.part_checks.size();
  const std::uint64_t frames = parts * (model.arrangement == 2 ? tuple_bytes : 1);
  if (model.coder == 3) return n * tuple_bytes + n * tuple_bytes / 256 + 64 * frames;
  if (model.coder == 4)
    return n * column.tuple * (column.bytes + 3) +
           parts * (256 + (8 * std::uint64_t(column.bytes) + 16) * column.tuple);
  return divide_up(n, 128) * column.tuple * (2 + 128 * std::uint64_t(column.bytes)) +
         parts * 8 * tuple_bytes;
}

/// `in_segments`: the chunk says its segments.
Model read_model(Input& head, const Column& column, std::uint64_t n, bool in_segments = false) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  Input fields = head.take(head.varint());
  Model model;
  model.section_bytes = model.column_bytes = fields.varint();
  model.coder = static_cast<int>(fields.number(1));
  require_known(model.coder <= 4, "unknown coder");
  if (model.has_front()) read_front(fields, column, n, in_segments, model);
  if (model.coder == 3) {
    model.arrangement = fields.number(1);
    require_known(model.arrangement <= 2, "unknown arrangement");
  }
  if (model.coder == 4) read_tables(fields, column, model);
  read_parts(fields, column, n, model);
  fields.finish();
  if (model.coder == 0) require(model.column_bytes == n * tuple_bytes, "impossible section");
  if (model.coder == 1) require(model.column_bytes == tuple_bytes, "impossible section");
  if (model.has_front())
    require(model.section_bytes <= most_bytes(model, column, n), "impossible section");
  for (std::size_t i = 1; i < model.part_ends.size(); ++i)
    require(model.part_ends[i] >= model.part_ends[i - 1], "the ends of the parts fall");
  if (model.has_front())
    require(model.part_ends.back() == model.section_bytes, "the last part ends elsewhere");
  return model;
}

// ---- Section 5: from residuals to values

using Lane = std::vector<std::uint64_t>;

std::uint64_t undo_zigzag(std::uint64_t z, std::uint64_t mask) {
  return ((z >> 1) ^ (0 - (z & 1))) & mask;
}

/// The value after one residual; `state` is y1 … yq.
std::uint64_t undo_delta(std::uint64_t residual, Lane& state, std::uint64_t mask) {
  for (std::uint64_t& y : state) residual = y = (y + residual) & mask;
  return residual;
}

void undo_strides(Lane& x, const Model& model, std::uint64_t mask) {
  for (auto link = model.links.rbegin(); link != model.links.rend(); ++link)
    for (int k = 0; k < link->order; ++k)
      for (std::size_t i = link->stride; i < x.size(); ++i)
        x[i] = (x[i] + x[i - link->stride]) & mask;
}

/// The sum of what a lane is predicted from at tuple i; `c` are the lane's coefficients.
std::uint64_t linear_sum(const std::vector<Lane>& lanes, std::uint64_t number, std::uint64_t i,
                         const Model& model, const std::uint64_t* c, std::uint64_t mask) {
  const std::uint64_t sign = mask ^ (mask >> 1);
  const auto read = [&](std::uint64_t word) {
    return !model.reads_unsigned && (word & sign) != 0 ? word | ~mask : word;
  };
  const LinearLane& lane = model.linear[number];
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < lane.own; ++k) sum += *c++ * read(lanes[number][i - 1 - k]);
  for (const LinearLane::Source& source : lane.sources)
    for (std::uint64_t k = 0; k < source.taps; ++k) sum += *c++ * read(lanes[source.lane][i - k]);
  return sum;
}

/// predictors/linear.md
void undo_linear(std::vector<Lane>& lanes, const Model& model, std::uint64_t mask) {
  for (std::uint64_t at = 0; model.run_tuples > 0 && at < lanes[0].size(); ++at) {
    const std::uint64_t i = at % model.run_tuples;
    const std::uint64_t* c = model.coefficients[at / model.run_tuples].data();
    for (std::uint64_t number = 0; number < lanes.size(); ++number) {
      const LinearLane& lane = model.linear[number];
      std::uint64_t history = lane.own;
      for (const LinearLane::Source& source : lane.sources)
        history = std::max(history, source.taps - 1);
      Lane& x = lanes[number];
      std::uint64_t p = 0;
      if (i >= history) {
        p = linear_sum(lanes, number, at, model, c, mask);
        if (lane.shift > 0) p += std::uint64_t{1} << (lane.shift - 1);
        p = static_cast<std::uint64_t>(static_cast<std::int64_t>(p) >> lane.shift);
      } else if (i > 0) {
        p = i == 1 ? x[at - 1] : 2 * x[at - 1] - x[at - 2];
      }
      x[at] = (x[at] + p) & mask;
      c += lane.taps.size();
    }
  }
}

/// predictors/segments.md
void undo_segments(Lane& x, const std::vector<std::uint64_t>& lengths, int order, int head_order,
                   std::uint64_t mask) {
  std::uint64_t heads = 0;
  for (const std::uint64_t length : lengths) heads += length > 0;
  Lane along_heads(head_order);
  std::size_t next_head = 0, next_other = heads;
  Lane values;
  for (const std::uint64_t length : lengths) {
    if (length == 0) continue;
    const std::uint64_t head = undo_delta(x[next_head++], along_heads, mask);
    values.push_back(head);
    Lane inside(order);
    for (std::uint64_t i = 1; i < length; ++i) {
      const std::uint64_t value = undo_delta(x[next_other++], inside, mask);
      values.push_back((value + (order > 0 ? head : 0)) & mask);
    }
  }
  x = values;
}

/// x, a number of w bits, as a two's complement number.
std::int64_t signed_number(std::uint64_t x, const Column& column) {
  const int above = 64 - 8 * column.bytes;
  return static_cast<std::int64_t>(x << above) >> above;
}

/// maps/differences.md
void undo_steps(std::vector<Lane>& lanes, const Model& model, const Column& column) {
  for (auto step = model.steps.rbegin(); step != model.steps.rend(); ++step)
    for (std::size_t i = 0; i < lanes[step->target].size(); ++i) {
      const std::uint64_t source = lanes[step->source][i];
      const auto half = static_cast<std::uint64_t>(signed_number(source, column) >> 1);
      const std::uint64_t lost = step->kind == 0 ? source : step->kind == 1 ? half : 0 - half;
      lanes[step->target][i] = (lanes[step->target][i] + lost) & column.mask();
    }
}

/// The bits of the float of the column's type that is nearest.
std::uint64_t nearest_float(double number, const Column& column) {
  if (column.bytes == 8) return std::bit_cast<std::uint64_t>(number);
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

/// The pages of maps.
void undo_map(Lane& x, const Map& map, const Column& column) {
  const std::uint64_t sign = column.mask() ^ (column.mask() >> 1);
  double power = 1;
  for (std::uint64_t i = 0; i < map.digits; ++i) power *= 10;
  for (std::uint64_t& value : x) {
    const auto k = static_cast<double>(signed_number(value, column));
    if (map.number == 1) value ^= value & sign ? sign : column.mask();
    if (map.number == 2) value = nearest_float(k / power, column);
    if (map.number == 3) value = nearest_float(k * map.scale, column);
    if (map.number == 4) value = (value * map.step + map.offset) & column.mask();
  }
}

/// Section 4: overwrites what the maps do not give back with the values behind the places.
void place_exceptions(Input places, const Model& model, const Column& column, std::uint64_t n,
                      std::uint8_t* records, std::uint64_t record) {
  Input values = places;
  values.take(4 * model.exceptions);
  const auto lanes = static_cast<std::uint64_t>(column.tuple);
  std::uint64_t next = 0;  // the lowest place that may come
  for (std::uint64_t i = 0; i < model.exceptions; ++i) {
    const std::uint64_t place = places.number(4);
    require(place >= next && place < n * lanes, "impossible place of an exception");
    next = place + 1;
    const Input value = values.take(column.bytes);
    std::copy(value.at, value.end, records + place / lanes * record + place % lanes * column.bytes);
  }
}

// ---- Section 6: coders. Each gives the lanes after the delta has been undone.

/// Bits k·width … k·width + width - 1 of a group.
std::uint64_t slot(const Input& group, int k, int width) {
  std::uint64_t value = 0;
  for (int bit = 0; bit < width; ++bit) {
    const int at = k * width + bit;
    value |= std::uint64_t((group.at[at / 8] >> (at % 8)) & 1) << bit;
  }
  return value;
}

void decode_page(Input page, const Model& model, const Column& column, std::uint64_t tuples,
                 std::vector<Lane>& lanes) {
  const auto w = 8 * column.bytes;
  const auto num_groups = static_cast<std::size_t>(divide_up(tuples, 128));
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));

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
      for (int i = 0; i < 8; ++i) group[8 * l + i] = slot(bytes, 16 * i + l, d.width);
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

void decode_frame(Input& part, std::uint8_t* out, std::uint64_t bytes) {
  // libzstd also decodes frames of formats before RFC 8878, of wider windows, and several frames in one piece.
  Input header(part);
  require(header.number(4) == 0xFD2FB528, "not a zstd frame");
  const bool has_window = (header.number(1) & 0x20) == 0;
  require(!has_window || header.number(1) <= (28 - 10) << 3, "a zstd window above 2^28");
  const std::size_t frame_bytes = ZSTD_findFrameCompressedSize(part.at, part.left());
  require(!ZSTD_isError(frame_bytes), "a zstd frame is damaged");
  const Input frame = part.take(frame_bytes);
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  const bool whole = ZSTD_decompressDCtx(context, out, bytes, frame.at, frame.left()) == bytes;
  ZSTD_freeDCtx(context);
  require(whole, "a zstd frame is damaged");
}

/// coders/zstd.md. `states` are those of the delta before the part's first tuple.
void decode_frames(Input part, const Model& model, const Column& column, std::uint64_t tuples,
                   std::vector<Lane>& states, std::vector<Lane>& lanes) {
  Bytes bytes(tuples * column.bytes * column.tuple);
  const std::uint64_t frame = model.arrangement == 2 ? tuples : bytes.size();
  for (std::uint64_t at = 0; at < bytes.size(); at += frame)
    decode_frame(part, bytes.data() + at, frame);
  part.finish();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::uint64_t i = 0; i < tuples; ++i) {
      std::uint64_t z = 0;
      for (int b = 0; b < column.bytes; ++b) {
        const std::uint64_t at = model.arrangement > 0
                                     ? (lane * column.bytes + b) * tuples + i
                                     : (i * column.tuple + lane) * column.bytes + b;
        z |= std::uint64_t{bytes[at]} << (8 * b);
      }
      lanes[lane].push_back(undo_delta(undo_zigzag(z, column.mask()), states[lane], column.mask()));
    }
}

/// coders/ans.md: a run of numbers of some bits each, from the lowest bit of the first byte up.
class BitRun {
 public:
  explicit BitRun(Input bytes) : bytes_(bytes) {}

  std::uint64_t take(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      require(at_ / 8 < bytes_.left(), "bits are missing");
      value |= std::uint64_t((bytes_.at[at_ / 8] >> (at_ % 8)) & 1) << i;
    }
    return value;
  }
  void finish() {
    while (at_ % 8 != 0) require(take(1) == 0, "padding that is not zero");
    require(at_ / 8 == bytes_.left(), "bytes are left over");
  }

 private:
  Input bytes_;
  std::uint64_t at_ = 0;
};

/// maps/dictionary.md: the values of a table.
Lane read_table(Input table, const Map& map, const Column& column) {
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
  if (column.is_float) undo_map(entries, Map{.number = 1}, column);
  return entries;
}

/// maps/dictionary.md: what stands in the records is an index.
void look_up_lane(const Lane& table, const Column& column, std::uint64_t n, std::uint8_t* values,
                  std::uint64_t record) {
  const auto byte_at = [&](std::uint64_t i, int b) {
    return values + i * record + (column.big_endian ? column.bytes - 1 - b : b);
  };
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t index = 0;
    for (int b = 0; b < column.bytes; ++b) index |= std::uint64_t{*byte_at(i, b)} << (8 * b);
    require(index < table.size(), "an index beyond the table");
    for (int b = 0; b < column.bytes; ++b)
      *byte_at(i, b) = static_cast<std::uint8_t>(table[index] >> (8 * b));
  }
}

void look_up(Input tables, const Model& model, const Column& column, std::uint64_t n,
             std::uint8_t* records, std::uint64_t record) {
  for (std::size_t lane = 0; lane < model.maps.size(); ++lane) {
    const Map& map = model.maps[lane];
    if (map.number != 5) continue;
    const Input table = tables.take(map.table_bytes);
    refuse_at(table.at, [&] {
      look_up_lane(read_table(table, map, column), column, n, records + lane * column.bytes,
                   record);
    });
  }
}

/// The residuals of a page, whose delta states have been read, lane by lane.
std::vector<Lane> decode_symbols(Input page, const Model& model, const Column& column,
                                 std::uint64_t tuples) {
  const auto num_lanes = static_cast<std::uint64_t>(column.tuple);
  std::uint64_t num_states = 1;
  while (num_states < 32 && 2 * num_states <= tuples * num_lanes / 128) num_states *= 2;
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

/// coders/ans.md
void decode_symbol_page(Input page, const Model& model, const Column& column, std::uint64_t tuples,
                        std::vector<Lane>& lanes) {
  std::vector<Lane> states(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (int k = 0; k < model.orders[lane]; ++k) states[lane].push_back(page.number(column.bytes));
  const std::vector<Lane> residuals = decode_symbols(page, model, column, tuples);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (const std::uint64_t residual : residuals[lane])
      lanes[lane].push_back(undo_delta(residual, states[lane], column.mask()));
}

/// Writes the column's bytes into the records at `records`. `lengths` are those of the segments.
void decode_column(Input section, const Model& model, const Column& column, std::uint64_t n,
                   const std::vector<std::uint64_t>& lengths, std::uint8_t* records,
                   std::uint64_t record) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  if (!model.has_front()) {
    for (std::uint64_t i = 0; i < n; ++i)
      std::copy_n(section.at + (model.coder == 0 ? i * tuple_bytes : 0), tuple_bytes,
                  records + i * record);
    return;
  }
  std::vector<Lane> lanes(column.tuple);
  std::vector<Lane> states;
  for (const int order : model.orders) states.emplace_back(order);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < model.part_ends.size(); ++i) {
    const std::uint64_t tuples = std::min(model.part_tuples, n - i * model.part_tuples);
    const Input part = section.take(model.part_ends[i] - begin);
    refuse_at(part.at, [&] {
      if (model.coder == 2) decode_page(part, model, column, tuples, lanes);
      if (model.coder == 4) decode_symbol_page(part, model, column, tuples, lanes);
      if (model.coder == 3) decode_frames(part, model, column, tuples, states, lanes);
    });
    begin = model.part_ends[i];
  }
  undo_linear(lanes, model, column.mask());
  for (Lane& lane : lanes) undo_strides(lane, model, column.mask());
  for (std::size_t lane = 0; model.has_segments && lane < lanes.size(); ++lane)
    undo_segments(lanes[lane], lengths, model.inside_orders[lane], model.head_order, column.mask());
  undo_steps(lanes, model, column);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    undo_map(lanes[lane], model.maps[lane], column);
    for (std::uint64_t i = 0; i < n; ++i)
      for (int b = 0; b < column.bytes; ++b)
        records[i * record + lane * column.bytes + b] = static_cast<std::uint8_t>(
            lanes[lane][i] >> 8 * (column.big_endian ? column.bytes - 1 - b : b));
  }
  refuse_at(section.at, [&] { place_exceptions(section, model, column, n, records, record); });
  section.take(model.exceptions * (4 + column.bytes));
  look_up(section, model, column, n, records, record);
}

// ---- Section 7: checks of parts

constexpr std::uint64_t kBase = 0x5851F42D4C957F2D;

std::uint64_t part_check(std::uint64_t tuples, const Bytes& bytes) {
  std::uint64_t sum = tuples;
  std::uint64_t power = kBase;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 4 && at + b < bytes.size(); ++b)
      word |= std::uint64_t{bytes[at + b]} << (8 * b);
    sum += word * power;
    power *= kBase;
  }
  return ((sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15) >> 32;
}

/// Compares the column that stands in the records at `records`.
void check_column(Input section, const Model& model, const Column& column, std::uint64_t n,
                  const std::uint8_t* records, std::uint64_t record) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  for (std::size_t i = 0; i < model.part_checks.size(); ++i) {
    const std::uint64_t first = i * model.part_tuples;
    const std::uint64_t tuples = std::min(n - first, model.part_tuples);
    const std::uint64_t end = model.coder == 1 ? 1 : first + tuples;
    Bytes bytes;
    for (std::uint64_t t = first; t < end; ++t)
      bytes.insert(bytes.end(), records + t * record, records + t * record + tuple_bytes);
    std::uint64_t begin = i == 0 ? 0 : first * tuple_bytes;
    if (i > 0 && model.has_front()) begin = model.part_ends[i - 1];
    refuse_at(section.at + begin, [&] {
      require(part_check(tuples, bytes) == model.part_checks[i], "the content of a part differs");
    });
  }
}

// ---- Section 3.5: segments

constexpr Column kLength = {4, 1, false, false};

/// The segments of a chunk; none if it does not say them.
struct Segments {
  std::uint64_t count = 0;
  bool continues = false;
  bool goes_on = false;
  std::uint64_t joins() const { return (continues ? 1 : 0) + (goes_on ? 2 : 0); }
  Model model;
};

Segments read_segments_of_chunk(Input& head) {
  Segments segments;
  segments.count = head.varint();
  require(segments.count >= 1 && segments.count <= 1 << 26, "impossible number of segments");
  const std::uint64_t joins = head.number(1);
  require_known(joins <= 3, "unknown joins");
  segments.continues = (joins & 1) != 0;
  segments.goes_on = (joins & 2) != 0;
  segments.model = read_model(head, kLength, segments.count);
  return segments;
}

/// Of check 6; `bytes` become those of the lengths.
std::vector<std::uint64_t> decode_lengths(Input section, const Segments& segments, std::uint64_t n,
                                          Bytes& bytes) {
  bytes.resize(4 * segments.count);
  decode_column(section, segments.model, kLength, segments.count, {}, bytes.data(), 4);
  std::vector<std::uint64_t> lengths;
  std::uint64_t sum = 0;
  for (Input rest{bytes.data(), bytes.data() + bytes.size()}; rest.left() > 0;) {
    lengths.push_back(rest.number(4));
    sum += lengths.back();
  }
  refuse_at(section.at, [&] { require(sum == n, "the lengths do not add up"); });
  return lengths;
}

// ---- Sections 3.2 and 3.3: chunks and the end

void decode_chunk(Input head, std::uint64_t payload_bytes, Input& file, const Layout& layout,
                  bool opaque, bool segment_is_open, Bytes& out, std::uint64_t& num_records,
                  Segments& segments) {
  const std::uint64_t record = record_bytes(layout);
  num_records = head.varint();
  require(num_records <= (1u << 28) / record, "impossible chunk");
  const std::uint64_t kinds = head.number(1);
  const bool in_segments = kinds == 16 && !opaque;
  require(num_records >= 1 || in_segments, "a chunk without records");
  require_known(kinds == 0 || in_segments, "unknown kinds of checks or bounds");
  std::uint64_t column_bytes = 0;
  if (in_segments) {
    segments = read_segments_of_chunk(head);
    column_bytes = segments.model.column_bytes;
  }
  std::vector<Model> models;
  for (std::size_t i = 0; num_records > 0 && i < layout.size(); ++i) {
    models.push_back(read_model(head, layout[i], num_records, in_segments));
    column_bytes += models.back().column_bytes;
  }
  head.finish();
  require(column_bytes == payload_bytes, "sections and payload differ");
  require(segments.continues == segment_is_open, "segments that do not join");
  Input payload = file.take(payload_bytes);
  Input of_lengths = payload.take(segments.model.column_bytes);
  Bytes length_bytes;
  std::vector<std::uint64_t> lengths;
  if (in_segments) lengths = decode_lengths(of_lengths, segments, num_records, length_bytes);
  Bytes values(num_records * record);
  const auto each_column = [&](auto step) {
    Input rest = payload;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      step(rest.take(models[i].column_bytes), models[i], layout[i], values.data() + at);
      at += std::uint64_t(layout[i].bytes) * layout[i].tuple;
    }
  };
  each_column([&](Input section, const Model& model, const Column& column, std::uint8_t* at) {
    decode_column(section, model, column, num_records, lengths, at, record);
  });
  if (in_segments)
    check_column(of_lengths, segments.model, kLength, segments.count, length_bytes.data(), 4);
  each_column([&](Input section, const Model& model, const Column& column, std::uint8_t* at) {
    check_column(section, model, column, num_records, at, record);
  });
  out.insert(out.end(), values.begin(), values.end());
}

struct Block {
  std::uint64_t tag;
  std::uint64_t bytes;
  std::uint64_t check;
  std::uint64_t records;
  Input head;
  Segments segments = {};

  bool is_chunk() const { return tag == 2 || tag == 3; }
  std::uint64_t index_tag() const { return segments.count > 0 ? 66 : tag; }
};

void check_index(Input head, const std::vector<Block>& blocks) {
  const std::uint64_t entries = head.varint();
  require(entries == 0 || entries == blocks.size(), "the index has another number of blocks");
  for (std::uint64_t i = 0; i < entries; ++i) {
    const Block& block = blocks[i];
    require(head.number(1) == block.index_tag() && head.varint() == block.bytes &&
                head.number(4) == block.check,
            "the index is wrong");
    const std::uint64_t number = head.varint();
    require(number == (block.is_chunk() ? block.records : block.head.left()), "the index is wrong");
    if (block.segments.count > 0)
      require(head.varint() == block.segments.count && head.number(1) == block.segments.joins(),
              "the index is wrong");
    if (block.is_chunk()) continue;
    const Input repeated = head.take(number);
    require(std::equal(repeated.at, repeated.end, block.head.at), "the index is wrong");
  }
  head.finish();
}

// ---- Section 3.4: metadata

void check_metadata(Input head) {
  const std::uint64_t entries = head.varint();
  require(entries >= 1, "metadata without entries");
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t key_bytes = head.varint();
    require(key_bytes >= 1 && key_bytes <= 255, "impossible key");
    head.take(key_bytes);
    head.take(head.varint());
  }
  head.finish();
}

// ---- Sections 2 and 3: streams and blocks

/// The blocks of one stream, as far as they have been read.
struct Stream {
  Layout layout;
  std::vector<Block> blocks;
  bool segment_is_open = false;
  bool ended = false;
};

void decode_block(Input& file, Stream& stream, Bytes& out) {
  const std::uint8_t* begin = file.at;
  const std::uint64_t tag = file.number(1);
  const std::uint64_t head_bytes = file.varint();
  require(head_bytes <= (tag >= 128 ? 1ull << 16
                         : tag == 4 ? (1ull << 32) - 64
                                    : 1ull << 24),
          "impossible head");
  const std::uint64_t payload_bytes = file.varint();
  require(payload_bytes <= 1ull << 40, "impossible payload");
  require(file.left() >= 4 && head_bytes <= file.left() - 4, "bytes are missing", "truncated");
  const Input head = file.take(head_bytes);
  const std::uint64_t check = xxh3(begin, file.at) & 0xffffffff;
  require(check == file.number(4), "the check of a block differs");
  require_known((tag >= 1 && tag <= 4) || tag >= 128, "unknown block");
  Block block{tag, 0, check, 0, head};
  if (block.is_chunk()) {
    const Layout opaque = {{1, 1, false, false}};
    require(tag == 3 || !stream.layout.empty(), "a chunk before any layout");
    decode_chunk(head, payload_bytes, file, tag == 2 ? stream.layout : opaque, tag == 3,
                 stream.segment_is_open, out, block.records, block.segments);
    stream.segment_is_open = block.segments.goes_on;
  } else if (tag > 128) {
    file.take(payload_bytes);
  } else {
    require_known(payload_bytes == 0, "a payload where none is known");
    if (tag == 1) {
      Input fields = head;
      const Layout layout = read_layout(fields);
      require(!stream.segment_is_open, "a layout inside a segment");
      stream.layout = layout;
    }
    if (tag == 128) check_metadata(head);
    if (tag == 4) {
      check_index(head, stream.blocks);
      require(!stream.segment_is_open, "a segment that does not end");
      const auto end_bytes = static_cast<std::uint64_t>(file.at - begin);
      require(file.number(4) == end_bytes, "the footer is wrong");
      stream.ended = true;
    }
  }
  block.bytes = static_cast<std::uint64_t>(file.at - begin);
  stream.blocks.push_back(block);
}

/// `chunks` are counted through all streams of a file.
void decode_stream(Input& file, Bytes& out, std::uint64_t& chunks) {
  for (Stream stream; !stream.ended;) {
    const std::uint8_t* begin = file.at;
    const bool is_chunk = file.left() > 0 && (*begin == 2 || *begin == 3);
    try {
      refuse_at(begin, [&] { decode_block(file, stream, out); });
    } catch (Refusal& refusal) {
      if (is_chunk) refusal.chunk = chunks;
      throw;
    }
    chunks += is_chunk;
  }
}

enum class Opening { stream, skippable, cut, other };

/// What the next four bytes begin, or would if the input went on.
Opening next_opening(const Input& file, bool any_stream) {
  constexpr std::uint8_t kStream[] = {0x89, 0x47, 0x44, 0x5a};
  constexpr std::uint8_t kSkippable[] = {0x50, 0x2a, 0x4d, 0x18};  // to 5f 2a 4d 18
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(file.left(), 4));
  const bool skippable = !any_stream && shown > 0 && (file.at[0] & 0xf0) == kSkippable[0] &&
                         std::equal(file.at + 1, file.at + shown, kSkippable + 1);
  const bool stream = std::equal(file.at, file.at + shown, kStream);
  if (!stream && !skippable) return Opening::other;
  return shown < 4 ? Opening::cut : stream ? Opening::stream : Opening::skippable;
}

/// Reads a stream or, before the first, a skippable frame; says whether it was a stream.
bool decode_next(Input& file, Bytes& out, bool any_stream, std::uint64_t& chunks) {
  require(file.left() > 0, "there is no stream", "not_gdelta");
  const Opening opening = next_opening(file, any_stream);
  require(opening != Opening::other, "no stream begins here",
          any_stream ? "corrupt" : "not_gdelta");
  file.take(4);
  if (opening == Opening::skippable) {
    file.take(file.number(4));
    return false;
  }
  Input header = file.take(2);
  require(header.number(1) == 0, "unknown version", "unsupported_version");
  require_known((header.number(1) & 0x0f) == 0, "unknown flags");
  decode_stream(file, out, chunks);
  return true;
}

Bytes decode_file(const Bytes& bytes) {
  Input file{bytes.data(), bytes.data() + bytes.size(), "truncated"};
  Bytes out;
  std::uint64_t chunks = 0;
  for (bool any_stream = false; file.left() > 0 || !any_stream;)
    refuse_at(file.at, [&] { any_stream |= decode_next(file, out, any_stream, chunks); });
  return out;
}

/// As gdelta has them, with the class before: "corrupt: chunk 3, byte 1234: why".
std::string to_string(const Refusal& refusal, const Bytes& bytes) {
  std::string text = refusal.kind + ": ";
  if (refusal.chunk) text += "chunk " + std::to_string(*refusal.chunk) + ", ";
  return text + "byte " + std::to_string(refusal.at - bytes.data()) + ": " + refusal.what;
}

bool write_file(const char* path, const Bytes& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size()));
  out.close();
  return !out.fail();
}

int fail(const char* path, const std::string& what) {
  std::cerr << "plain_decoder: " << path << ": " << what << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: plain_decoder IN OUT\n";
    return 1;
  }
  std::ifstream in(argv[1], std::ios::binary);
  if (!in.is_open()) return fail(argv[1], "cannot be opened");
  const Bytes bytes(std::istreambuf_iterator<char>(in), {});
  try {
    if (!write_file(argv[2], decode_file(bytes))) return fail(argv[2], "cannot be written");
  } catch (const Refusal& refusal) {
    return fail(argv[1], to_string(refusal, bytes));
  }
  return 0;
}
