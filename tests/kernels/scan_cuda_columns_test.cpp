// Scans of strides so large that columns are walked, against the serial reference.
#ifdef GDELTA_HAS_CUDA
#include "tests/kernels/scan_cuda_check.h"

namespace gdelta::scan {
namespace {

TEST(ScanCuda, LargeStridesWalkColumns) {
  GDELTA_NEEDS_DEVICE();
  for (const Type type : kIntegers) {
    for (const std::uint64_t stride :
         {65, 100, 1000, 4096, 100'000, 1'999'999, 2'000'003, 5'000'000}) {
      for (const int order : {1, 2, 5}) {
        const Shape shape{.type = type,
                          .order = order,
                          .tuple = stride,
                          .exclusive = order == 2,
                          .backward = order == 5,
                          .count = 2'000'003};
        ASSERT_TRUE(check(shape, Path::automatic)) << describe(shape);
      }
    }
  }
}

TEST(ScanCuda, StridesStraddleStripsLinksAndWalks) {
  GDELTA_NEEDS_DEVICE();
  for (const Type type : kIntegers) {
    const std::uint64_t rows = type == Type::i64 ? 16 : 32;  // of a stretch
    for (const std::uint64_t stride :
         {65, 96, 97, 128, 255, 256, 257, 1000, 8191, 89'999, 90'000}) {
      for (const std::uint64_t count :
           {std::uint64_t{0}, stride + 1, stride * rows - 1, stride * rows, stride * (4 * rows + 1),
            stride * 7 * rows + 1, stride * 8 * rows - 1, stride * 8 * rows + stride / 2}) {
        if (count > 20'000'000) continue;
        for (const bool backward : {false, true}) {
          const Shape shape{.type = type,
                            .order = 1 + static_cast<int>(count % 3),
                            .tuple = stride,
                            .exclusive = count % 2 == 0,
                            .backward = backward,
                            .count = count};
          ASSERT_TRUE(check(shape, Path::automatic)) << describe(shape);
        }
      }
    }
  }
}

TEST(ScanCuda, ColumnsOfManyChapters) {
  GDELTA_NEEDS_DEVICE();
  for (const Type type : kIntegers) {
    for (const std::uint64_t stride : {65, 300, 4096}) {
      for (const int order : {1, 2, 4, 8}) {
        const std::uint64_t count = type == Type::i8 ? 33'000'001 : 12'000'001;
        const Shape shape{.type = type,
                          .order = order,
                          .tuple = stride,
                          .exclusive = order == 4,
                          .backward = order == 2,
                          .count = count};
        ASSERT_TRUE(check(shape, Path::automatic, {0, 0, order == 1})) << describe(shape);
      }
    }
  }
}

TEST(ScanCuda, ColumnsOfEveryOperatorAndAlignment) {
  GDELTA_NEEDS_DEVICE();
  for (int type = 0; type <= int(Type::f64); ++type) {
    if (Type(type) == Type::f16 || Type(type) == Type::bf16) continue;
    for (int op = 0; op <= int(Operator::bit_or); ++op) {
      for (const std::uint64_t stride : {100, 1001, 95'000}) {
        for (const int order : {1, 3}) {
          const bool floating = is_float(Type(type));
          const std::uint64_t count = floating && order > 1 ? stride * 40 + 3 : stride * 270 + 7;
          if (count > 10'000'000 && op > 1) continue;
          const Shape shape{.op = Operator(op),
                            .type = Type(type),
                            .order = order,
                            .tuple = stride,
                            .exclusive = order == 3,
                            .backward = op % 2 == 1,
                            .count = count};
          if (!is_valid(shape)) continue;
          const Placement placement{std::size_t(op % 3), std::size_t(op % 2 + 1), order == 3};
          ASSERT_TRUE(check(shape, Path::automatic, placement)) << describe(shape);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::scan
#endif  // GDELTA_HAS_CUDA
