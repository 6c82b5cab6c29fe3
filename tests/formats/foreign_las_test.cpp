// LAS heads of every version and point format, whole and damaged.
#include <algorithm>

#include "foreign_samples.h"

namespace gdelta::format {
namespace {

struct LasFormat {
  std::uint64_t format = 0, point_bytes = 20;
  std::uint64_t minor = 2, header_bytes = 227;
  std::uint64_t records_bytes = 10;  // variable length records, behind the header
  std::uint64_t legacy_points = 5, points = 0;
};

/// A whole file of points of 0xaa, and `after`.
FileMaker las_file(const LasFormat& las, const FileMaker& after = FileMaker()) {
  FileMaker file;
  file.text("LASF").fill(20, 0).number(1, 1).number(las.minor, 1).fill(68, 0);
  file.u16(las.header_bytes).u32(las.header_bytes + las.records_bytes).u32(1);
  file.number(las.format, 1).u16(las.point_bytes).u32(las.legacy_points);
  if (las.header_bytes > 247) file.fill(247 - file.size(), 0).u64(las.points);
  if (las.header_bytes > file.size()) file.fill(las.header_bytes - file.size(), 0);
  file.fill(las.records_bytes, 0x55);
  file.fill(las.point_bytes * std::max(las.legacy_points, las.points)).append(after);
  return file;
}

TEST(LasHead, EveryPointFormatBecomesItsFields) {
  const struct {
    std::uint64_t format, bytes;
    const char* layout;
  } cases[] = {{0, 20, "i32x3,u16,u8,u8,i8,u8,u16"},
               {1, 28, "i32x3,u16,u8,u8,i8,u8,u16,f64"},
               {2, 26, "i32x3,u16,u8,u8,i8,u8,u16,u16x3"},
               {3, 34, "i32x3,u16,u8,u8,i8,u8,u16,f64,u16x3"},
               {4, 57, "i32x3,u16,u8,u8,i8,u8,u16,f64,u8,u64,u32,f32x4"},
               {5, 63, "i32x3,u16,u8,u8,i8,u8,u16,f64,u16x3,u8,u64,u32,f32x4"},
               {6, 30, "i32x3,u16,u8,u8,u8,u8,i16,u16,f64"},
               {7, 36, "i32x3,u16,u8,u8,u8,u8,i16,u16,f64,u16x3"},
               {8, 38, "i32x3,u16,u8,u8,u8,u8,i16,u16,f64,u16x4"},
               {9, 59, "i32x3,u16,u8,u8,u8,u8,i16,u16,f64,u8,u64,u32,f32x4"},
               {10, 67, "i32x3,u16,u8,u8,u8,u8,i16,u16,f64,u16x4,u8,u64,u32,f32x4"}};
  for (const auto& c : cases) {
    const auto found =
        recognise_checked(las_file({.format = c.format, .point_bytes = c.bytes}).bytes());
    ASSERT_TRUE(found) << c.format;
    EXPECT_EQ(found->name, "las");
    EXPECT_EQ(found->head_bytes, 237u);
    EXPECT_EQ(found->data_bytes, 5 * c.bytes);
    EXPECT_EQ(to_string(found->layout), c.layout);
    EXPECT_FALSE(
        recognise_checked(las_file({.format = c.format, .point_bytes = c.bytes - 1}).bytes()));
  }
}

TEST(LasHead, BytesAddedToPointsAreColumnsOfBytes) {
  const auto layout = [](std::uint64_t point_bytes) {
    return to_string(recognise_checked(las_file({.point_bytes = point_bytes}).bytes())->layout);
  };
  EXPECT_EQ(layout(21), "i32x3,u16,u8,u8,i8,u8,u16,u8");
  EXPECT_EQ(layout(84), "i32x3,u16,u8,u8,i8,u8,u16,u8x64");
  EXPECT_EQ(layout(85), "i32x3,u16,u8,u8,i8,u8,u16,u8x64,u8");
  EXPECT_EQ(recognise_checked(las_file({.point_bytes = 65535}).bytes())->data_bytes, 5u * 65535);
}

TEST(LasHead, PointsAreCountedInSixtyFourBitsWhereTheHeaderIsLong) {
  const LasFormat las{.minor = 4, .header_bytes = 375, .legacy_points = 0, .points = 7};
  EXPECT_EQ(recognise_checked(las_file(las).bytes())->data_bytes, 140u);
  Bytes many = las_file(las).bytes();
  many[247 + 7] = std::byte{0xff};
  EXPECT_EQ(recognise(many, std::nullopt)->data_bytes, kUntilTheEnd);
  EXPECT_EQ(recognise_checked(many)->data_bytes, 140u);
  EXPECT_FALSE(recognise_checked(
      las_file({.minor = 4, .header_bytes = 375, .legacy_points = 0, .points = 0}).bytes()));
}

TEST(LasHead, WhatFollowsThePointsIsNotTheirs) {
  EXPECT_EQ(recognise_checked(las_file({}, FileMaker().fill(77)).bytes())->data_bytes, 100u);
}

TEST(LasHead, AFileThatEndsEarlyHasWholePoints) {
  Bytes file = las_file({}).bytes();
  file.resize(file.size() - 30);
  const auto found = recognise_checked(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data_bytes, 60u);
  EXPECT_EQ(found->torn_bytes, 10u);
}

TEST(LasHead, HeadsThatAreWrongAreBareFiles) {
  const LasFormat formats[] = {{.format = 0x83, .point_bytes = 34},  // compressed
                               {.format = 11, .point_bytes = 67},
                               {.format = 3, .point_bytes = 0},
                               {.header_bytes = 226},
                               {.legacy_points = 0}};
  for (const LasFormat& las : formats)
    EXPECT_FALSE(recognise_checked(las_file(las).bytes())) << las.format;
  Bytes version = las_file({}).bytes();
  version[24] = std::byte{2};
  EXPECT_FALSE(recognise_checked(version));
  Bytes early = las_file({}).bytes();
  early[96] = std::byte{226};
  EXPECT_FALSE(recognise_checked(early));
  Bytes late = las_file({}).bytes();
  late[98] = std::byte{1};
  EXPECT_FALSE(recognise_checked(late));
}

TEST(LasHead, DamageNeverLeadsOutsideTheFile) {
  damage_everywhere(las_file({.format = 3, .point_bytes = 34}).bytes());
  damage_everywhere(las_file({.minor = 4, .header_bytes = 375, .points = 5}).bytes());
}

}  // namespace
}  // namespace gdelta::format
