#include "formats/gdelta/head_writer.h"

#include <gtest/gtest.h>

#include <vector>

#include "formats/gdelta/block_frame.h"

namespace gdelta::format {
namespace {

constexpr Column kColumn{.type = ValueType::i32, .tuple = 3, .big_endian = false};
constexpr std::uint64_t kRecords = 1000;

/// A model of two pages, with orders of its own for each lane if they differ.
ModelToWrite model_of(const Front& front, const std::vector<std::uint32_t>& ends) {
  ModelToWrite model;
  model.column_bytes = ends.back();
  model.section.coder = coder_chosen_by(ChosenBy::widths);
  model.section.part_groups = 4;
  model.front.links = front.links(kColumn.tuple);
  model.front.predictor = needed_predictor(front.predictor, model.front.links);
  model.ends = model.checks = {ends.data(), ends.size()};
  return model;
}

std::vector<std::byte> written(const ModelToWrite& model) {
  std::vector<std::byte> bytes;
  ByteAppender sink{bytes};
  write_model(sink, model);
  return bytes;
}

std::vector<Front> some_fronts() {
  std::vector<Front> fronts(4);
  fronts[1].orders[0] = fronts[1].orders[1] = fronts[1].orders[2] = 2;
  fronts[2].orders[2] = 8;
  fronts[3].num_strides = 2;
  fronts[3].strides[0] = {200, 1};
  fronts[3].strides[1] = {2, 8};
  return fronts;
}

TEST(HeadWriter, ModelsAreReadAsTheyWereWritten) {
  const std::vector<std::uint32_t> ends{300, 700};
  for (const Front& front : some_fronts()) {
    const std::vector<std::byte> bytes = written(model_of(front, ends));
    Cursor cursor = cursor_over(bytes);
    ColumnHead head;
    ASSERT_EQ(parse_model(cursor, kColumn, kRecords, 0, head), HeadError::none);
    EXPECT_TRUE(cursor.done());
    EXPECT_EQ(head.section_bytes, ends.back());
    EXPECT_EQ(head.model.section.part_groups, 4U);
    EXPECT_EQ(part_end(cursor.data, head, 0), ends[0]);
    EXPECT_EQ(part_check_at(cursor.data, head, 1), ends[1]);
    const Front& read = head.model.front;
    ASSERT_EQ(read.num_strides, front.num_strides);
    for (int lane = 0; lane < kColumn.tuple; ++lane)
      EXPECT_EQ(read.orders[lane], front.orders[lane]);
    for (int link = 0; link < read.num_strides; ++link) {
      EXPECT_EQ(read.strides[link].stride, front.strides[link].stride);
      EXPECT_EQ(read.strides[link].order, front.strides[link].order);
    }
  }
}

TEST(HeadWriter, MapsAreReadAsTheyWereWritten) {
  constexpr Column kFloats{.type = ValueType::f32, .tuple = 3, .big_endian = false};
  const std::vector<std::uint32_t> ends{300, 700};
  for (const ValueMap map : {ValueMap::none, ValueMap::ordered}) {
    ModelToWrite model = model_of({}, ends);
    model.front.map = map;
    const std::vector<std::byte> bytes = written(model);
    Cursor cursor = cursor_over(bytes);
    ColumnHead head;
    ASSERT_EQ(parse_model(cursor, kFloats, kRecords, 0, head), HeadError::none);
    EXPECT_EQ(head.model.front.map, map);
  }
}

TEST(HeadWriter, OrdersOfLanesAreFoundWhereTheyWereRead) {
  for (const Front& front : some_fronts()) {
    const std::vector<std::byte> bytes = written(model_of(front, {300, 700}));
    Cursor cursor = cursor_over(bytes);
    ColumnHead head;
    ASSERT_EQ(parse_model(cursor, kColumn, kRecords, 0, head), HeadError::none);
    const Byte* const orders =
        orders_by_lane(cursor.data + head.predictor_at, kColumn.tuple, head.model.front.orders);
    EXPECT_EQ(orders != nullptr, front.orders[2] == 8);
    for (int lane = 0; orders != nullptr && lane < kColumn.tuple; ++lane)
      EXPECT_EQ(orders[lane], front.orders[lane]);
  }
}

TEST(HeadWriter, ACountIsOfAsManyBytesAsAreAppended) {
  for (const std::uint64_t number : {0ull, 127ull, 128ull, 1ull << 40}) {
    std::vector<std::byte> bytes;
    ByteAppender appended{bytes};
    ByteCount counted;
    const auto write = [number](auto& sink) {
      write_block_frame(sink, BlockTag::chunk, number, number);
      write_chunk_fields(sink, number, {.lengths = number, .joins = kContinues});
      write_entry_start(sink, {.tag = 2, .block_bytes = number, .check = 1, .number = number});
    };
    write(appended);
    write(counted);
    EXPECT_EQ(counted.total, bytes.size());
  }
  const std::vector<std::uint32_t> ends{300, 700};
  for (const Front& front : some_fronts()) {
    const ModelToWrite model = model_of(front, ends);
    ByteCount counted;
    write_model(counted, model);
    EXPECT_EQ(counted.total, written(model).size());
  }
}

}  // namespace
}  // namespace gdelta::format
