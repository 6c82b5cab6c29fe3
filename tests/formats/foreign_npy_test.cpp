// NPY heads of every kind, whole and damaged.
#include "foreign_samples.h"

namespace gdelta::format {
namespace {

std::optional<Recognised> recognise_npy_literal(const std::string& literal,
                                                std::uint64_t data_bytes = 4096) {
  return recognise_checked(npy_file(literal, data_bytes).bytes());
}

std::string layout_of(std::string_view descr, std::string_view shape, bool fortran = false) {
  const auto found = recognise_npy_literal(npy_literal(descr, shape, fortran));
  return found ? to_string(found->layout) : "none";
}

TEST(NpyHead, EveryNumericTypeInEveryByteOrder) {
  const std::pair<const char*, const char*> kinds[] = {
      {"b1", "u8"},     {"i1", "i8"},      {"u1", "u8"},      {"i2", "i16"},    {"u2", "u16"},
      {"i4", "i32"},    {"u4", "u32"},     {"i8", "i64"},     {"u8", "u64"},    {"f2", "f16"},
      {"f4", "f32"},    {"f8", "f64"},     {"c8", "f32x2"},   {"c16", "f64x2"}, {"f16", "u64x2"},
      {"c32", "u64x4"}, {"M8[ns]", "i64"}, {"m8[25s]", "i64"}};
  for (const auto& [kind, layout] : kinds) {
    for (const char* order : {"<", "=", "|"})
      EXPECT_EQ(layout_of(std::string(order) + kind, "(10,)"), layout) << order << kind;
    std::string big(layout);
    if (big.substr(0, 2) != "u8" && big != "i8")
      big.insert(std::min(big.find('x'), big.size()), ":be");
    EXPECT_EQ(layout_of(std::string(">") + kind, "(10,)"), big) << kind;
  }
}

TEST(NpyHead, OtherTypesAreBareFiles) {
  for (const char* descr :
       {"", "<", "f4", "<f", "<f3", "<i16", "|O", "<U10", "|S5", "|V8", "<f4 ", "!f4", "<c4"})
    EXPECT_EQ(layout_of(descr, "(10,)"), "none") << descr;
}

TEST(NpyHead, AShortLastDimensionIsTheTuple) {
  EXPECT_EQ(layout_of("<f4", "(100, 3)"), "f32x3");
  EXPECT_EQ(layout_of("<f4", "(5, 100, 8)"), "f32x8");
  EXPECT_EQ(layout_of("<f4", "(100, 9)"), "f32");
  EXPECT_EQ(layout_of("<f4", "(2, 3, 241, 480)"), "f32");
  EXPECT_EQ(layout_of("<f4", "(3,)"), "f32");
  EXPECT_EQ(layout_of("<f4", "(3, 100)"), "f32");
  EXPECT_EQ(layout_of("<c8", "(100, 4)"), "f32x8");
  EXPECT_EQ(layout_of("<c32", "(10, 8)"), "u64x32");
}

TEST(NpyHead, InFortranOrderTheFirstDimensionMovesFastest) {
  EXPECT_EQ(layout_of("<f4", "(100, 3)", true), "f32");
  EXPECT_EQ(layout_of("<f4", "(3, 100)", true), "f32x3");
  EXPECT_EQ(layout_of("<f4", "(3,)", true), "f32");
}

TEST(NpyHead, DimensionsOfOneDoNotCount) {
  EXPECT_EQ(layout_of("<f4", "(100, 3, 1)"), "f32x3");
  EXPECT_EQ(layout_of("<f4", "(1, 3)"), "f32");
  EXPECT_EQ(layout_of("<f4", "(1, 3, 100)", true), "f32x3");
  EXPECT_EQ(layout_of("<f4", "()"), "f32");
}

TEST(NpyHead, TheShapeTellsHowLongRowsAndPlanesAre) {
  const auto rows_of = [](std::string_view descr, std::string_view shape, bool fortran = false) {
    return recognise(npy_file(npy_literal(descr, shape, fortran), 0).bytes(), std::nullopt)->rows;
  };
  EXPECT_EQ(rows_of("<i2", "(2, 3, 241, 480)"), (ArrayRows{480, 115680}));
  EXPECT_EQ(rows_of("<f4", "(100, 9)"), (ArrayRows{9, 0}));
  EXPECT_EQ(rows_of("<f4", "(100,)"), ArrayRows{});
  EXPECT_EQ(rows_of("<f4", "(1, 9, 1)"), ArrayRows{});
  // Of tuples.
  EXPECT_EQ(rows_of("<f4", "(100, 3)"), ArrayRows{});
  EXPECT_EQ(rows_of("<f4", "(480, 640, 3)"), (ArrayRows{640, 0}));
  EXPECT_EQ(rows_of("<f4", "(10, 480, 640, 3)"), (ArrayRows{640, 307200}));
  EXPECT_EQ(rows_of("<f4", "(70, 20, 30)", true), (ArrayRows{70, 1400}));
  EXPECT_EQ(rows_of("<f4", "(3, 70, 20)", true), (ArrayRows{70, 0}));
  const auto fields = recognise(
      npy_file("{'descr': [('a', '<i4'), ('b', '<f8')], 'fortran_order': False, 'shape': (9, 4)}",
               0)
          .bytes(),
      std::nullopt);
  EXPECT_EQ(fields->rows, (ArrayRows{4, 0}));
}

TEST(NpyHead, TheShapeTellsHowManyBytesAreValues) {
  EXPECT_EQ(recognise_npy_literal(npy_literal("<f4", "(10, 3)"))->data_bytes, 120u);
  EXPECT_EQ(recognise_npy_literal(npy_literal("<f8", "()"))->data_bytes, 8u);
  EXPECT_EQ(recognise_npy_literal(npy_literal("<f8", "(0, 3)"))->data_bytes, 0u);
  EXPECT_EQ(
      recognise_npy_literal(npy_literal("<f8", "(9223372036854775799, 0, 9223372036854775799)")),
      std::nullopt);
  EXPECT_EQ(recognise_npy_literal(npy_literal("<f4", "(10, 3)"), 50)->data_bytes, 48u);
  EXPECT_EQ(recognise_npy_literal(npy_literal("<f4", "(10L, 3L)"))->data_bytes, 120u);
}

TEST(NpyHead, ShapesThatNoMemoryHoldsAreRefused) {
  for (const char* shape : {"(9223372036854775807,)", "(18446744073709551616,)",
                            "(4294967296, 4294967296)", "(99999999999999999999999999,)", "(-1,)",
                            "(1.5,)", "(3", "3", "(3,,)", "(,)", "[3]", "(3 4)", "(None,)"})
    EXPECT_EQ(layout_of("<f8", shape), "none") << shape;
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  EXPECT_EQ(layout_of("<f8", many + ")"), "none");
  const auto large =
      recognise(npy_file(npy_literal("<f8", "(1000000000000,)"), 0).bytes(), std::nullopt);
  EXPECT_EQ(large->data_bytes, 8000000000000u);
}

TEST(NpyHead, AllVersionsAreRead) {
  for (const int version : {1, 2, 3}) {
    const FileMaker file = npy_file(npy_literal("<i2", "(7, 2)"), 28, version);
    const auto found = recognise_checked(file.bytes());
    ASSERT_TRUE(found) << version;
    EXPECT_EQ(found->name, "npy");
    EXPECT_EQ(found->head_bytes, file.size() - 28);
    EXPECT_EQ(found->data_bytes, 28u);
    EXPECT_EQ(to_string(found->layout), "i16x2");
  }
  EXPECT_FALSE(recognise_checked(npy_file(npy_literal("<i2", "(7,)"), 14, 4).bytes()));
  EXPECT_FALSE(recognise_checked(npy_file(npy_literal("<i2", "(7,)"), 14, 0).bytes()));
  for (const int version : {1, 2, 3}) {
    Bytes minor = npy_file(npy_literal("<i2", "(7,)"), 14, version).bytes();
    EXPECT_TRUE(recognise_checked(minor));
    minor[7] = std::byte{1};
    EXPECT_FALSE(recognise_checked(minor)) << version;
  }
}

TEST(NpyHead, TheDictionaryMayBeWrittenInOtherWays) {
  for (const char* literal :
       {"{'shape':(10,3),'fortran_order':False,'descr':'<f4'}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (10, 3)}",
        "\n{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 10 , 3 , ) , } \n"})
    EXPECT_EQ(to_string(recognise_npy_literal(literal)->layout), "f32x3") << literal;
}

TEST(NpyHead, ADictionaryThatIsNoneIsRefused) {
  for (const char* literal :
       {"", "{}", "{", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (3,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': <f4, 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x",
        "['descr': '<f4', 'fortran_order': False, 'shape': (3,)]",
        "{'descr': '<f4\\', 'fortran_order': False"})
    EXPECT_FALSE(recognise_npy_literal(literal)) << literal;
}

std::string structured(const std::string& fields) {
  const auto found =
      recognise_npy_literal("{'descr': " + fields + ", 'fortran_order': False, 'shape': (5, 3), }");
  return found ? to_string(found->layout) : "none";
}

TEST(NpyHead, StructuredArraysBecomeRecords) {
  EXPECT_EQ(structured("[('x', '<f4'), ('y', '>f4')]"), "f32,f32:be");
  EXPECT_EQ(structured("[('p', '<f8', (3,)), ('rgb', '|u1', (3, 1)), ('', '|V5'), ('n', '|S70')]"),
            "f64x3,u8x3,u8x5,u8x64,u8x6");
  EXPECT_EQ(structured("[(('title', 'z'), '<c8', (2,)),]"), "f32x4");
  EXPECT_EQ(structured("[('none', '|V0'), ('x', '<f4'), ('none', '|V0', (9,))]"), "f32");
  const auto found = recognise_npy_literal(
      "{'descr': [('t', '<i8'), ('v', '<i2', (3,))], 'fortran_order': False, 'shape': (5,), }");
  EXPECT_EQ(found->data_bytes, 70u);
}

TEST(NpyHead, StructuredArraysOfOtherFieldsAreBareFiles) {
  for (const char* fields :
       {"[]", "[('x',)]", "[('x', '<f4'", "['x', '<f4']", "[('x', '<f4') ('y', '<f4')]",
        "[('x', '|O')]", "[('x', '<f4', (0,))]", "[('x', '<f4', (16385,))]",
        "[('x', '<f4', (256, 65))]", "[('x', '|V0')]", "[('x', '|V99999999999999999999')]",
        "[('x', '|V65537')]", "[('x', [])]", "[('x', [('y', '|O')])]", "[('x', [('y', '<f4'])]",
        "[('x', [('y', '<f4'), ('z', '|u1')], (2049,))]", "[('x', '|V65536'), ('y', '|u1')]",
        "[('x', '<f4', (9223372036854775807, 2))]"})
    EXPECT_EQ(structured(fields), "none") << fields;
}

TEST(NpyHead, NestedFieldsBecomeColumnsOfTheRecord) {
  EXPECT_EQ(structured("[('t', '<i8'), ('at', [('x', '<f4'), ('y', '<f4')])]"), "i64,f32,f32");
  EXPECT_EQ(structured("[('a', [('b', [('c', '|u1', (3,))]), ('d', '>i2')], (2,)), ('e', '|S3')]"),
            "u8x3,i16:be,u8x3,i16:be,u8x3");
  EXPECT_EQ(structured("[(('title', 'p'), [('x', '<f8')], (3,))]"), "f64x3");
  const auto nested = [](int levels) {
    std::string text, behind;
    for (int i = 0; i < levels; ++i) {
      text += "[('x', ";
      behind += ")]";
    }
    text += "'|u1'" + behind;
    return structured(text);
  };
  EXPECT_EQ(nested(17), "u8");
  EXPECT_EQ(nested(18), "none");
  EXPECT_EQ(nested(100'000), "none");  // no stack is that deep
}

TEST(NpyHead, FieldsLongerThanATupleBecomeSeveralColumns) {
  EXPECT_EQ(structured("[('x', '<f4', (65,))]"), "f32x64,f32");
  EXPECT_EQ(structured("[('x', '<c8', (8, 10)), ('y', '|V4', (3,))]"),
            "f32x64,f32x64,f32x32,u8x12");
}

TEST(NpyHead, AHeadThatEndsEarlyIsABareFile) {
  const Bytes file = npy_file(npy_literal("<f4", "(10, 3)"), 120).bytes();
  for (std::size_t length = 0; length < 128; ++length)
    EXPECT_FALSE(
        recognise_checked(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length))))
        << length;
  EXPECT_TRUE(recognise_checked(Bytes(file.begin(), file.begin() + 128)));
  Bytes endless = npy_file(npy_literal("<f4", "(10, 3)"), 120, 2).bytes();
  for (std::size_t i = 8; i < 12; ++i) endless[i] = std::byte{0xff};
  EXPECT_FALSE(recognise_checked(endless));
}

TEST(NpyHead, EveryTruncationAndBitFlipIsSurvived) {
  damage_everywhere(npy_file(npy_literal("<f4", "(10, 3)"), 120).bytes());
  damage_everywhere(npy_file(npy_literal(">c16", "(3, 7)", true), 340, 2).bytes());
  damage_everywhere(npy_file("{'descr': [(('a', 'x'), '<f4'), ('y', '|u1', (3,)), ('', '|V5')], "
                             "'fortran_order': False, 'shape': (9,), }",
                             108, 3)
                        .bytes());
}

}  // namespace
}  // namespace gdelta::format
