// Every path of the device scan against the serial reference.
#ifdef GDELTA_HAS_CUDA
#include "tests/kernels/scan_cuda_check.h"

namespace gdelta::scan {
namespace {

TEST(ScanCuda, EveryOrderOfEveryWidthOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (int order = 1; order <= kMaxOrder; ++order) {
        for (const std::uint64_t tuple : {1, 3}) {
          const Shape shape{
              .type = type, .order = order, .tuple = tuple, .count = scaled(path, 5'000'003)};
          if (!takes(shape, path)) continue;
          ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
        }
      }
    }
  }
}

TEST(ScanCuda, EveryTupleOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (std::uint64_t tuple = 1; tuple <= 64; ++tuple) {
        const Shape shape{.type = type,
                          .order = 1 + static_cast<int>(tuple % 3),
                          .tuple = tuple,
                          .exclusive = tuple % 2 == 0,
                          .backward = tuple % 5 == 0,
                          .count = scaled(path, 1'500'007)};
        if (!takes(shape, path)) continue;
        ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
      }
    }
  }
}

TEST(ScanCuda, LargeStatesOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (const std::uint64_t tuple : {8, 17, 32, 33, 64}) {
        const Shape shape{
            .type = type, .order = 8, .tuple = tuple, .count = scaled(path, 3'000'001)};
        if (!takes(shape, path)) continue;
        ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
      }
    }
  }
}

TEST(ScanCuda, SizesStraddleEdges) {
  GDELTA_NEEDS_DEVICE();
  const std::uint64_t counts[] = {2815,  2816,    2817,    1279,    1280,    1281,    90'112,
                                  0,     1,       2,       3,       31,      32,      33,
                                  1000,  4351,    4352,    4353,    7391,    7392,    7393,
                                  65536, 278'528, 278'529, 975'744, 975'743, 975'745, 1 << 20};
  for (const Path path :
       {Path::automatic, Path::group, Path::stream, Path::cluster, Path::resident}) {
    for (const Type type : kIntegers) {
      for (const std::uint64_t count : counts) {
        for (const bool backward : {false, true}) {
          const Shape shape{.type = type,
                            .order = 2,
                            .tuple = 1 + count % 3,
                            .exclusive = !backward,
                            .backward = backward,
                            .count = count};
          if (!takes(shape, path)) continue;
          ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
        }
      }
    }
  }
}

TEST(ScanCuda, SizesStraddleEdgesOfWhatStaysOnTheChip) {
  GDELTA_NEEDS_DEVICE();
  // Bytes of a granule, a warp's granules, a block, a cluster, and all registers of 132 blocks with
  // four and eight granules a thread, and with eight more in shared memory.
  const std::uint64_t edges[] = {16,        512,        2048,      8192,    16'384,
                                 65'536,    131'072,    262'144,   524'288, 1'081'344,
                                 8'650'752, 17'301'504, 34'603'008};
  for (const Path path : {Path::automatic, Path::cluster, Path::resident}) {
    for (const Type type : {Type::u8, Type::u16, Type::u32, Type::f64}) {
      for (const std::uint64_t edge : edges) {
        for (const int off : {-1, 0, 1}) {
          Shape shape{.type = type,
                      .order = 1,
                      .tuple = 1,
                      .exclusive = off == 0,
                      .count = edge / type_bytes(type) + off};
          if (!takes(shape, path)) continue;
          ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
          shape.backward = true;  // values in shared memory
          if (!takes(shape, path)) continue;
          ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
        }
      }
    }
  }
}

/// Ones, so that the sums are known without a reference: i + 1, and backwards count - i.
TEST(ScanCuda, MoreThan2To32Values) {
  GDELTA_NEEDS_DEVICE();
  const char* const asked = std::getenv("GDELTA_LARGE_TESTS");
  if (asked == nullptr || asked[0] != '1')
    GTEST_SKIP() << "takes 4.3 GB of GPU memory; set GDELTA_LARGE_TESTS=1 to run it";
  const std::uint64_t count = (std::uint64_t{1} << 32) + 12'345;
  unsigned char* values = nullptr;
  ASSERT_EQ(cudaMalloc(&values, count), cudaSuccess);
  for (const Path path : {Path::stream, Path::group}) {
    for (const bool backward : {false, true}) {
      const Shape shape{
          .type = Type::u8, .order = 1, .tuple = 1, .backward = backward, .count = count};
      if (!can_take(shape, path, 0)) continue;
      void* scratch = nullptr;
      const std::size_t bytes = scratch_bytes(shape, path, 0);
      ASSERT_EQ(cudaMalloc(&scratch, bytes), cudaSuccess);
      ASSERT_EQ(cudaMemset(values, 1, count), cudaSuccess);
      ASSERT_EQ(launch_scan(shape, path, values, values, scratch, bytes, nullptr), cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::vector<unsigned char> piece(std::size_t{1} << 20);
      for (std::uint64_t begin = 0; begin < count; begin += std::uint64_t{1} << 28) {
        // A piece a 256 MiB, and the last bytes behind 2^32.
        const std::uint64_t size = std::min<std::uint64_t>(piece.size(), count - begin);
        ASSERT_EQ(cudaMemcpy(piece.data(), values + begin, size, cudaMemcpyDeviceToHost),
                  cudaSuccess);
        std::uint64_t wrong = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
          const std::uint64_t sum = backward ? count - (begin + i) : begin + i + 1;
          wrong += piece[i] != static_cast<unsigned char>(sum);
        }
        EXPECT_EQ(wrong, 0u) << "from " << begin << " path " << int(path) << " backward "
                             << backward;
      }
      cudaFree(scratch);
    }
  }
  cudaFree(values);
}

TEST(ScanCuda, AnyAlignmentInPlaceAndOutOfPlace) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (const Placement placement :
           {Placement{0, 0, true}, Placement{1, 0, true}, Placement{3, 3, false},
            Placement{1, 2, false}, Placement{0, 1, false}, Placement{5, 0, false},
            Placement{7, 7, true}}) {
        for (const bool backward : {false, true}) {
          for (const int order : {1, 2}) {
            const Shape shape{.type = type,
                              .order = order,
                              .tuple = order == 1 ? 1u : 5u,
                              .exclusive = backward,
                              .backward = backward,
                              .count = scaled(path, 1'000'003)};
            if (!takes(shape, path)) continue;
            ASSERT_TRUE(check(shape, path, placement))
                << describe(shape) << " path " << int(path) << " offsets " << placement.in_offset
                << " " << placement.out_offset;
          }
        }
      }
    }
  }
}

TEST(ScanCuda, UnalignedBuffersThatOnlyRegistersCouldHold) {
  GDELTA_NEEDS_DEVICE();
  const Shape shape{.type = Type::u32, .order = 1, .tuple = 1, .count = 8'300'007};
  for (const Path path : {Path::automatic, Path::resident}) {
    if (!takes(shape, path)) continue;
    for (const Placement placement :
         {Placement{0, 0, false}, Placement{4, 0, true}, Placement{1, 1, false},
          Placement{0, 1, false}, Placement{2, 0, true}}) {
      ASSERT_TRUE(check(shape, path, placement)) << "path " << int(path);
    }
  }
}

TEST(ScanCuda, GroupPathAcrossChapters) {
  GDELTA_NEEDS_DEVICE();
  for (const Type type : kIntegers) {
    const std::uint64_t count = type == Type::i8    ? 72'000'001
                                : type == Type::i64 ? 8'500'001
                                                    : 37'000'001;
    for (const std::uint64_t tuple : {1, 7, 17, 64}) {
      for (const Operator op : {Operator::sum, Operator::product, Operator::bit_xor}) {
        const int order = tuple == 1 ? 2 : tuple == 7 ? 1 : 4;
        if (op == Operator::product && tuple > 7) continue;
        const Shape shape{.op = op,
                          .type = type,
                          .order = order,
                          .tuple = tuple,
                          .exclusive = tuple == 7,
                          .backward = tuple == 17,
                          .count = count};
        ASSERT_TRUE(check(shape, Path::group, {0, 1, tuple == 1})) << describe(shape);
      }
    }
  }
}

TEST(ScanCuda, EveryOperatorOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (int type = 0; type <= int(Type::f64); ++type) {
      if (Type(type) == Type::f16 || Type(type) == Type::bf16) continue;
      for (int op = 0; op <= int(Operator::bit_or); ++op) {
        for (const int order : {1, 2, 3, 8}) {
          for (const bool exclusive : {false, true}) {
            // Whole numbers stay exact in floating point only while the sums stay small.
            if (is_float(Type(type)) && Operator(op) == Operator::sum && order > 2) continue;
            const std::uint64_t count =
                is_float(Type(type)) && order > 1 ? 3'000 : scaled(path, 700'001);
            const Shape shape{.op = Operator(op),
                              .type = Type(type),
                              .order = order,
                              .tuple = exclusive ? 7u : 1u,
                              .exclusive = exclusive,
                              .backward = order == 2,
                              .count = count};
            if (!is_valid(shape) || !takes(shape, path)) continue;
            ASSERT_TRUE(check(shape, path)) << describe(shape) << " path " << int(path);
          }
        }
      }
    }
  }
}

TEST(ScanCuda, OverflowWrapsAtTheWidthOfTheType) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (const int order : {1, 8}) {
        const Shape shape{
            .type = type, .order = order, .tuple = 1, .count = scaled(path, 2'000'000)};
        if (!takes(shape, path)) continue;
        std::vector<std::uint8_t> ones(shape.count * type_bytes(type),
                                       0xff);  // every value is -1, the extreme
        void* data = nullptr;
        void* scratch = nullptr;
        const std::size_t bytes = scratch_bytes(shape, path, 0);
        cudaMalloc(&data, ones.size());
        cudaMalloc(&scratch, bytes);
        cudaMemcpy(data, ones.data(), ones.size(), cudaMemcpyHostToDevice);
        ASSERT_EQ(launch_scan(shape, path, data, data, scratch, bytes, nullptr), cudaSuccess)
            << describe(shape) << " path " << int(path);
        std::vector<std::uint8_t> result(ones.size());
        cudaMemcpy(result.data(), data, result.size(), cudaMemcpyDeviceToHost);
        cudaFree(data);
        cudaFree(scratch);
        // Order q of a constant c is c * C(i + q, q); check it at a few places through the state
        // itself.
        std::vector<std::uint64_t> wide(shape.count, ~std::uint64_t{0});
        Shape wide_shape = shape;
        wide_shape.type = Type::u64;
        reference_scan(wide_shape, wide);
        for (std::size_t i = 0; i < shape.count; ++i) {
          ASSERT_EQ(std::memcmp(&result[i * type_bytes(type)], &wide[i], type_bytes(type)), 0)
              << describe(shape) << " path " << int(path) << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::scan
#endif  // GDELTA_HAS_CUDA
