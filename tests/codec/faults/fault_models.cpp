// Faults of models: what stands in front of residuals, and what pack and zstd say of their sections.

#include <zstd.h>

#include "codec/faults/fault_parts.h"
#include "stages/registry.h"

namespace gdelta::faults {

namespace {

// ---- Section 4: models

void add_link_faults(FaultTable& table) {
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(name, good, change, code, Place::chunk);
  };
  for (const Coder coder : test::plain_coders()) {
    const std::string of = " of " + std::string(coder_name(coder));
    const auto stream = [&](const char* record, std::vector<int> orders, bool ordered = false) {
      return wandering_stream(record, 140, [&](const Column& column) {
        plain::Choice choice = plain::linked(coder, column, orders);
        if (ordered) choice.model.front.map = ValueMap::ordered;
        return choice;
      });
    };
    const StreamFields floats = stream("f16x2", {1}, true);
    table.add_good("ordered floats" + of, floats);
    for (const int map : {kNumValueMaps, 0x81, 254})
      add(
          "map " + std::to_string(map) + of, floats, [map](auto& s) { model(s).map = map; },
          Errc::unsupported_feature);
    for (const char* type : {"i8", "u24", "u64"})
      add("ordered integers" + of + " " + type, stream(type, {1}),
          put_chunk_of(stream(type, {1}, true)));
    for (const int lane_map : {kNumLaneMaps, 255})
      add(
          "lane map " + std::to_string(lane_map) + of, floats,
          [lane_map](auto& s) { model(s).lane_map = lane_map; }, Errc::unsupported_feature);
    for (const int predictor : {kNumPredictors, 255})
      add(
          "predictor " + std::to_string(predictor) + of, floats,
          [predictor](auto& s) { model(s).predictor = predictor; }, Errc::unsupported_feature);
    StreamFields without = stream("i16x2", {0});
    table.add_good("deltas of order 0" + of, without);
    model(without).predictor = 0;
    table.add_good("no predictor" + of, without);
    add("orders without a predictor" + of, without, [](auto& s) {
      model(s).behind = bytes_of({0, 0});
    });
    add("order 9" + of, stream("i16x2", {8}), put_chunk_of(stream("i16x2", {9})),
        Errc::unsupported_feature);
    for (const int orders : {10, 0x81, 254})
      add(
          "order " + std::to_string(orders) + of, stream("i16x2", {8}),
          [orders](auto& s) { model(s).orders = orders; }, Errc::unsupported_feature);
    const StreamFields lanes = stream("i16x3", {1, 8, 3});
    table.add_good("orders of lanes" + of, lanes);
    for (const int lane : {0, 1, 2}) {
      std::vector<int> orders = {1, 8, 3};
      orders[static_cast<std::size_t>(lane)] = 9;
      add("order 9 in lane " + std::to_string(lane) + of, lanes,
          put_chunk_of(stream("i16x3", orders)), Errc::unsupported_feature);
    }
    add(
        "order 255 in a lane" + of, lanes, [](auto& s) { model(s).lane_orders[1] = 255; },
        Errc::unsupported_feature);
  }
}

void add_stride_faults(FaultTable& table) {
  const auto add = [&](const std::string& name, const StreamFields& good,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(name, good, change, code, Place::chunk);
  };
  const StreamFields two = strided_stream(140, {{7, 1}, {2, 3}});
  table.add_good("two strides", two);
  // Values whose differences over 5 are what two strides are taken of: three in all.
  const auto third_stride = [](StreamFields& s) {
    const Layout& layout = s.columns;
    const Bytes values = plain::wandering_values(layout, 140, 5, 7);
    Bytes differences = values;
    for (std::size_t i = values.size(); i-- > 5;)
      differences[i] = static_cast<std::byte>(std::to_integer<int>(values[i]) -
                                              std::to_integer<int>(values[i - 5]));
    plain::Choice choice = plain::linked(Coder::pack, layout.columns[0], {1});
    choice = plain::with_stride(plain::with_stride(choice, 7, 1), 2, 3);
    const std::vector<std::uint32_t> checks = model(s).part_checks;
    chunk(s) = chunk_of(layout, differences, {choice});
    model(s).part_checks = checks;  // those of the values
    model(s).strides.insert(model(s).strides.begin(), StrideFields{5, 1});
  };
  add("three strides", two, third_stride, Errc::unsupported_feature);
  for (const int strides : {3, 4, 255})
    add(
        std::to_string(strides) + " strides, two of them there", two,
        [strides](auto& s) { model(s).num_strides = strides; }, Errc::unsupported_feature);
  add("one stride, two of them there", two, [](auto& s) { model(s).num_strides = 1; });
  add("a stride of 0", two, [](auto& s) { model(s).strides[1].stride = 0; });
  add("a stride of 1", two, put_chunk_of(strided_stream(140, {{7, 1}, {1, 3}})));
  add("longer stride", two, [](auto& s) { model(s).strides[1].stride.longer = true; });
  for (const std::uint64_t more : {1ull << 32, 1ull << 62, 3ull << 62})
    add("a stride of 2 and " + std::to_string(more), two,
        [more](auto& s) { model(s).strides[1].stride = 2 + more; });
  for (const int link : {0, 1})
    for (const int order : {0, 9}) {
      std::vector<StrideFields> links = {{7, 1}, {2, 3}};
      links[static_cast<std::size_t>(link)].order = order;
      add("order " + std::to_string(order) + " of stride " + std::to_string(link), two,
          put_chunk_of(strided_stream(140, links)),
          order == 0 ? Errc::corrupt : Errc::unsupported_feature);
    }
  // A chunk has at least four times the stride.
  for (const std::uint64_t stride : {2, 3, 35}) {
    table.add_good("a chunk of four strides of " + std::to_string(stride),
                   strided_stream(4 * stride, {{stride, 1}}));
    for (std::uint64_t records = 3 * stride; records < 4 * stride; ++records)
      add("a stride of " + std::to_string(stride) + " in " + std::to_string(records) + " records",
          strided_stream(4 * stride, {{stride, 1}}),
          put_chunk_of(strided_stream(records, {{stride, 1}})));
  }
}

/// Strides about the longest want a long chunk: zeros, in one frame of zstd.
StreamFields long_stride_stream(std::uint64_t stride) {
  const Bytes zeros(4 * stride);
  StreamFields fields = zstd_stream();
  fields.columns = parse_record("u8").value();
  fields.layout.columns = {{1, 1}};
  fields.chunks[0] = chunk_of(fields.columns, Bytes(kFirstRecords), {plain::raw()});
  fields.decoded_bytes = zeros.size();
  chunk(fields).records = zeros.size();
  chunk(fields).payload.resize(ZSTD_compressBound(zeros.size()));
  chunk(fields).payload.resize(ZSTD_compress(
      chunk(fields).payload.data(), chunk(fields).payload.size(), zeros.data(), zeros.size(), 1));
  model(fields).strides = {{stride, 1}};
  model(fields).column_bytes = chunk(fields).payload.size();
  model(fields).part_groups = 0;
  model(fields).part_ends = {chunk(fields).payload.size()};
  model(fields).part_checks = {plain::detail::check_of(zeros.size(), {})};
  return fields;
}

void add_pack_faults(FaultTable& table) {
  const StreamFields good = pack_stream();
  table.add_good("pack", good);
  const auto add = [&](const std::string& name, const StreamFields& from,
                       const FaultTable::Change& change, Errc code = Errc::corrupt) {
    table.add(name, from, change, code, Place::chunk);
  };
  const auto with_page_groups = [](const char* record, std::uint32_t page_groups) {
    return wandering_stream(record, 140, [&](const Column& column) {
      plain::Choice choice = plain::linked(Coder::pack, column, {1});
      choice.model.section.part_groups = page_groups;
      return choice;
    });
  };
  table.add_good("pages of 2048 groups", with_page_groups("u8", 2048));
  add("pages of 2049 groups", with_page_groups("u8", 2048),
      put_chunk_of(with_page_groups("u8", 2049)), Errc::unsupported_feature);
  table.add_good("pages of 682 groups of three lanes", with_page_groups("u8x3", 682));
  add("pages of 683 groups of three lanes", with_page_groups("u8x3", 682),
      put_chunk_of(with_page_groups("u8x3", 683)), Errc::unsupported_feature);
  add(
      "pages of no groups", good, [](auto& s) { model(s).part_groups = 0; },
      Errc::unsupported_feature);
  add("longer groups of a page", good, [](auto& s) { model(s).part_groups.longer = true; });
  add("groups of a page that wrap in 32 bits", good,
      [](auto& s) { model(s).part_groups = (1ull << 32) + 1; });
  // Times the tuple it is 2^64 + 2, or 2^64.
  add("groups of a page whose product wraps", good,
      [](auto& s) { model(s).part_groups = (1ull << 63) + 1; });
  add("groups of a page whose product wraps to nothing", with_page_groups("u8x64", 1),
      [](auto& s) { model(s).part_groups = 1ull << 58; });
  add("a page that ends behind the section", good,
      [](auto& s) { model(s).part_ends[0] = model(s).column_bytes.value + 1; });
  const StreamFields three = wandering_stream("i16", 300, coded(Coder::pack, {1}));
  table.add_good("three pages", three);
  add("ends of pages that fall", three,
      [](auto& s) { std::swap(model(s).part_ends[0], model(s).part_ends[1]); });
  add("no end of the last page", three, [](auto& s) { model(s).part_ends.pop_back(); });
  add("an end too many", three,
      [](auto& s) { model(s).part_ends.push_back(model(s).column_bytes.value); });
  for (const int more : {-1, 1})
    add("a last page whose end is other by " + std::to_string(more), three,
        [more](auto& s) { model(s).part_ends[2] += static_cast<std::uint64_t>(more); });
  add("no check of the last page", three, [](auto& s) { model(s).part_checks.pop_back(); });
  for (const std::uint32_t bit : {1u, 1u << 31}) {
    table.add(
        "the check of the first page " + std::to_string(bit), good,
        [bit](auto& s) { model(s).part_checks[0] ^= bit; }, Errc::corrupt, Place::first_part);
    table.add(
        "the check of the second page " + std::to_string(bit), good,
        [bit](auto& s) { model(s).part_checks[1] ^= bit; }, Errc::corrupt, Place::second_part);
  }
  add("a section longer than any", good, [](auto& s) {
    const std::uint64_t bytes = most_pack_bytes(140, 2, 16, 2) + 1;
    chunk(s).payload.resize(bytes);
    model(s).column_bytes = bytes;
    model(s).part_ends[1] = bytes;
  });
  table.add(
      "a section as long as one may be, with a page too long", good,
      [](auto& s) {
        const std::uint64_t bytes = most_pack_bytes(140, 2, 16, 2);
        chunk(s).payload.resize(bytes);
        model(s).column_bytes = bytes;
        model(s).part_ends[1] = bytes;
      },
      Errc::corrupt, Place::second_part);
}

void add_zstd_faults(FaultTable& table) {
  const StreamFields good = zstd_stream();
  table.add_good("zstd", good);
  const auto add = [&](const std::string& name, const FaultTable::Change& change,
                       Errc code = Errc::corrupt) {
    table.add(name, good, change, code, Place::chunk);
  };
  for (const int arrangement : {3, 0x80, 255})
    add(
        "arrangement " + std::to_string(arrangement),
        [=](auto& s) { model(s).arrangement = arrangement; }, Errc::unsupported_feature);
  add("longer part_groups of zstd", [](auto& s) { model(s).part_groups.longer = true; });
  add("part_groups that wrap in 32 bits", [](auto& s) { model(s).part_groups = (1ull << 32) + 1; });
  add("parts as long as the chunk", [](auto& s) {
    model(s).part_groups = 2;
    model(s).part_ends = {model(s).column_bytes.value};
    model(s).part_checks.resize(1);
  });
  add("a frame that ends behind the section",
      [](auto& s) { model(s).part_ends[0] = model(s).column_bytes.value + 1; });
  add("a frame without an end", [](auto& s) { model(s).part_ends.pop_back(); });
  add("a frame without a check", [](auto& s) { model(s).part_checks.pop_back(); });
  table.add(
      "a part of no bytes", good,
      [](auto& s) {
        model(s).column_bytes = model(s).part_ends[1] = model(s).part_ends[0];
        chunk(s).payload.resize(static_cast<std::size_t>(model(s).part_ends[0]));
      },
      Errc::corrupt, Place::second_part);
  for (const std::size_t part : {0, 1})
    table.add(
        "the check of frame " + std::to_string(part), good,
        [part](auto& s) { model(s).part_checks[part] ^= 1; }, Errc::corrupt,
        part == 0 ? Place::first_part : Place::second_part);
  constexpr std::uint64_t kRawBytes = 200 * 4;
  constexpr std::uint64_t kMostBytes = kRawBytes + kRawBytes / 256 + 64 * 2;
  add("frames longer than any", [](auto& s) {
    chunk(s).payload.resize(kMostBytes + 1);
    model(s).column_bytes = model(s).part_ends[1] = kMostBytes + 1;
  });
  table.add(
      "frames as long as they may be, the last too long", good,
      [](auto& s) {
        chunk(s).payload.resize(kMostBytes);
        model(s).column_bytes = model(s).part_ends[1] = kMostBytes;
      },
      Errc::corrupt, Place::second_part);

  const StreamFields longest = long_stride_stream(1ull << 22);
  table.add("a stride of 2^22 + 1", longest, put_chunk_of(long_stride_stream((1ull << 22) + 1)),
            Errc::corrupt, Place::chunk);
}

}  // namespace

void add_faults_of_models(FaultTable& table) {
  add_link_faults(table);
  add_stride_faults(table);
  add_pack_faults(table);
  add_zstd_faults(table);
}

}  // namespace gdelta::faults
