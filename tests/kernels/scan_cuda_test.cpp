// Every path of the device scan against the serial reference.
#ifdef GDELTA_HAS_CUDA
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernels/scan/scan_cuda.h"
#include "tests/kernels/has_device.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {
namespace {

/// Device memory with bytes before and after that must stay as they are.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, std::size_t offset) : bytes_(bytes), offset_(kGuard + offset) {
    cudaMalloc(&data_, bytes_ + offset_ + kGuard);
    cudaMemset(data_, 0xa5, bytes_ + offset_ + kGuard);
  }
  ~GuardedBuffer() { cudaFree(data_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  void* get() { return static_cast<char*>(data_) + offset_; }
  bool guards_hold() const {
    std::vector<unsigned char> head(offset_), tail(kGuard);
    cudaMemcpy(head.data(), data_, offset_, cudaMemcpyDeviceToHost);
    cudaMemcpy(tail.data(), static_cast<char*>(data_) + offset_ + bytes_, kGuard,
               cudaMemcpyDeviceToHost);
    const auto whole = [](unsigned char c) { return c == 0xa5; };
    return std::all_of(head.begin(), head.end(), whole) &&
           std::all_of(tail.begin(), tail.end(), whole);
  }

 private:
  static constexpr std::size_t kGuard = 256;
  void* data_ = nullptr;
  std::size_t bytes_;
  std::size_t offset_;
};

struct Placement {
  std::size_t in_offset = 0;  // in values
  std::size_t out_offset = 0;
  bool in_place = false;
};

template <class Value>
::testing::AssertionResult scans_like_reference(const Shape& shape, Path path, Placement placement,
                                                std::uint64_t seed) {
  std::vector<Value> expected = random_values<Value>(shape.count, seed, shape.op);
  const std::size_t bytes = shape.count * sizeof(Value);
  GuardedBuffer in(bytes, placement.in_offset * sizeof(Value));
  GuardedBuffer out(placement.in_place ? 0 : bytes, placement.out_offset * sizeof(Value));
  void* const target = placement.in_place ? in.get() : out.get();
  cudaMemcpy(in.get(), expected.data(), bytes, cudaMemcpyHostToDevice);
  reference_scan(shape, expected);

  const std::size_t scratch_size = scratch_bytes(shape, path, 0);
  GuardedBuffer scratch(scratch_size, 0);
  const cudaError_t error =
      launch_scan(shape, path, in.get(), target, scratch.get(), scratch_size, nullptr);
  if (error != cudaSuccess) return ::testing::AssertionFailure() << cudaGetErrorString(error);
  const cudaError_t done = cudaDeviceSynchronize();
  if (done != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", describe(shape).c_str(), cudaGetErrorString(done));
    std::abort();  // nothing works on this device any more
  }
  std::vector<Value> result(shape.count);
  cudaMemcpy(result.data(), target, bytes, cudaMemcpyDeviceToHost);
  if (std::memcmp(result.data(), expected.data(), bytes) != 0) {
    std::size_t at = 0;
    std::size_t wrong = 0;
    for (std::size_t i = shape.count; i-- > 0;) {
      if (std::memcmp(&result[i], &expected[i], sizeof(Value)) != 0) at = i, ++wrong;
    }
    return ::testing::AssertionFailure() << wrong << " values differ, the first at " << at;
  }
  if (!in.guards_hold() || !out.guards_hold() || !scratch.guards_hold()) {
    return ::testing::AssertionFailure() << "wrote outside its buffers";
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult check(const Shape& shape, Path path, Placement placement = {},
                                 std::uint64_t seed = 1) {
  switch (shape.type) {
    case Type::i8:
      return scans_like_reference<std::int8_t>(shape, path, placement, seed);
    case Type::u8:
      return scans_like_reference<std::uint8_t>(shape, path, placement, seed);
    case Type::i16:
      return scans_like_reference<std::int16_t>(shape, path, placement, seed);
    case Type::u16:
      return scans_like_reference<std::uint16_t>(shape, path, placement, seed);
    case Type::i32:
      return scans_like_reference<std::int32_t>(shape, path, placement, seed);
    case Type::u32:
      return scans_like_reference<std::uint32_t>(shape, path, placement, seed);
    case Type::i64:
      return scans_like_reference<std::int64_t>(shape, path, placement, seed);
    case Type::u64:
      return scans_like_reference<std::uint64_t>(shape, path, placement, seed);
    case Type::f32:
      return scans_like_reference<float>(shape, path, placement, seed);
    case Type::f64:
      return scans_like_reference<double>(shape, path, placement, seed);
    default:
      return ::testing::AssertionFailure() << "no reference for this type";
  }
}

constexpr Type kIntegers[] = {Type::i8, Type::u16, Type::u32, Type::i64};
constexpr Path kPaths[] = {Path::group, Path::stream, Path::cluster, Path::resident};

/// What a path can hold: a cluster and the chip are small.
std::uint64_t scaled(Path path, std::uint64_t count) {
  return path == Path::cluster ? count / 97 : path == Path::resident ? count / 4 : count;
}

bool takes(const Shape& shape, Path path) {
  return path == Path::automatic || can_take(shape, path, 0);
}

TEST(ScanCuda, EveryOrderOfEveryWidthOnEveryPath) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : kIntegers) {
      for (int order = 1; order <= kMaxOrder; ++order) {
        for (const std::uint64_t tuple : {1, 3}) {
          const Shape shape{Operator::sum,          type, order, tuple, false, false,
                            scaled(path, 5'000'003)};
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
        const Shape shape{Operator::sum,  type,           1 + static_cast<int>(tuple % 3), tuple,
                          tuple % 2 == 0, tuple % 5 == 0, scaled(path, 1'500'007)};
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
        const Shape shape{Operator::sum, type, 8, tuple, false, false, scaled(path, 3'000'001)};
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
          const Shape shape{Operator::sum, type, 2, 1 + count % 3, !backward, backward, count};
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
          Shape shape{Operator::sum, type, 1, 1, off == 0, false, edge / type_bytes(type) + off};
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
      const Shape shape{Operator::sum, Type::u8, 1, 1, false, backward, count};
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
            const Shape shape{Operator::sum,          type,     order,
                              order == 1 ? 1u : 5u,   backward, backward,
                              scaled(path, 1'000'003)};
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
  const Shape shape{Operator::sum, Type::u32, 1, 1, false, false, 8'300'007};
  for (const Path path : {Path::automatic, Path::resident}) {
    if (!takes(shape, path)) continue;
    for (const Placement placement :
         {Placement{0, 0, false}, Placement{4, 0, true}, Placement{1, 1, false},
          Placement{0, 1, false}, Placement{2, 0, true}}) {
      ASSERT_TRUE(check(shape, path, placement)) << "path " << int(path);
    }
  }
}

TEST(ScanCuda, LargeStridesWalkColumns) {
  GDELTA_NEEDS_DEVICE();
  for (const Type type : kIntegers) {
    for (const std::uint64_t stride :
         {65, 100, 1000, 4096, 100'000, 1'999'999, 2'000'003, 5'000'000}) {
      for (const int order : {1, 2, 5}) {
        const Shape shape{Operator::sum, type, order, stride, order == 2, order == 5, 2'000'003};
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
          const Shape shape{Operator::sum, type,           1 + static_cast<int>(count % 3),
                            stride,        count % 2 == 0, backward,
                            count};
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
        const Shape shape{Operator::sum, type, order, stride, order == 4, order == 2, count};
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
          const Shape shape{Operator(op), Type(type),  order, stride,
                            order == 3,   op % 2 == 1, count};
          if (!is_valid(shape)) continue;
          const Placement placement{std::size_t(op % 3), std::size_t(op % 2 + 1), order == 3};
          ASSERT_TRUE(check(shape, Path::automatic, placement)) << describe(shape);
        }
      }
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
        const Shape shape{op, type, order, tuple, tuple == 7, tuple == 17, count};
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
            const Shape shape{Operator(op), Type(type), order, exclusive ? 7u : 1u,
                              exclusive,    order == 2, count};
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
        const Shape shape{Operator::sum, type, order, 1, false, false, scaled(path, 2'000'000)};
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

TEST(ScanCuda, FloatingPointIsTheSameOnEveryRun) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
      for (const Shape& shape :
           {Shape{Operator::sum, type, 1, 1, false, false, scaled(path, 3'000'001)},
            Shape{Operator::product, type, 1, 1, false, false, scaled(path, 3'000'001)},
            Shape{Operator::sum, type, 2, 20, false, false, 20'000'001},
            Shape{Operator::sum, type, 2, 1, false, false, 40'000'001},
            Shape{Operator::sum, type, 1, 1000, false, false, 10'000'001}}) {
        if (!takes(shape, path)) continue;
        std::mt19937_64 random(5);
        std::vector<std::uint8_t> values(shape.count * type_bytes(type));
        for (std::size_t i = 0; i < values.size(); ++i) {
          const bool top = i % type_bytes(type) == std::size_t(type_bytes(type)) - 1;
          values[i] = static_cast<std::uint8_t>(top ? 0x3c : random());
        }
        void *in = nullptr, *out = nullptr, *scratch = nullptr;
        const std::size_t bytes = scratch_bytes(shape, path, 0);
        cudaMalloc(&in, values.size());
        cudaMalloc(&out, values.size());
        cudaMalloc(&scratch, bytes);
        cudaMemcpy(in, values.data(), values.size(), cudaMemcpyHostToDevice);
        std::vector<std::uint8_t> first(values.size()), again(values.size());
        for (int run = 0; run < 6; ++run) {
          cudaMemset(out, 0xee, values.size());
          ASSERT_EQ(launch_scan(shape, path, in, out, scratch, bytes, nullptr), cudaSuccess);
          cudaMemcpy(run == 0 ? first.data() : again.data(), out, values.size(),
                     cudaMemcpyDeviceToHost);
          if (run == 0) continue;
          ASSERT_EQ(first, again) << describe(shape) << " path " << int(path);
        }
        cudaFree(in);
        cudaFree(out);
        cudaFree(scratch);
      }
    }
  }
}

TEST(ScanCuda, ManyStreamsAtOnceMakeProgress) {
  GDELTA_NEEDS_DEVICE();
  constexpr int kStreams = 12;
  struct Lane {
    cudaStream_t stream;
    void* in;
    void* out;
    void* scratch;
    std::size_t bytes;
    Path path;
    Shape shape;
    std::vector<std::uint32_t> expected;
  };
  const Shape large{Operator::sum, Type::u32, 3, 2, false, false, 8'000'003};
  std::vector<Lane> lanes(kStreams);
  for (int i = 0; i < kStreams; ++i) {
    Lane& lane = lanes[i];
    lane.path = i % 3 == 2 || !takes(large, Path::stream) ? Path::group : Path::stream;
    lane.shape = large;
    if (i % 4 == 3) {
      const Path path = i == 3 ? Path::cluster : Path::resident;
      Shape shape = large;
      shape.count = scaled(path, shape.count);
      if (i == 7) shape.order = 1, shape.tuple = 1;
      if (takes(shape, path)) lane.path = path, lane.shape = shape;
    }
    const Shape& shape = lane.shape;
    lane.expected = random_values<std::uint32_t>(shape.count, i, shape.op);
    lane.bytes = scratch_bytes(shape, lane.path, 0);
    cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    cudaMalloc(&lane.in, shape.count * 4);
    cudaMalloc(&lane.out, shape.count * 4);
    cudaMalloc(&lane.scratch, lane.bytes);
    cudaMemcpy(lane.in, lane.expected.data(), shape.count * 4, cudaMemcpyHostToDevice);
    reference_scan(shape, lane.expected);
  }
  for (int round = 0; round < 20; ++round) {
    for (Lane& lane : lanes) {
      const Shape& shape = lane.shape;
      ASSERT_EQ(
          launch_scan(shape, lane.path, lane.in, lane.out, lane.scratch, lane.bytes, lane.stream),
          cudaSuccess);
      if (round % 4 == 1) cudaMemsetAsync(lane.out, 0xee, shape.count * 4, lane.stream);
      if (round % 4 == 1)
        launch_scan(shape, lane.path, lane.in, lane.out, lane.scratch, lane.bytes, lane.stream);
    }
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (Lane& lane : lanes) {
    std::vector<std::uint32_t> result(lane.shape.count);
    cudaMemcpy(result.data(), lane.out, lane.shape.count * 4, cudaMemcpyDeviceToHost);
    EXPECT_EQ(result, lane.expected);
    cudaFree(lane.in);
    cudaFree(lane.out);
    cudaFree(lane.scratch);
    cudaStreamDestroy(lane.stream);
  }
}

TEST(ScanCuda, RunsInsideAGraph) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    const Shape shape{Operator::sum, Type::u32, 4, 1, false, false, scaled(path, 9'000'001)};
    if (!takes(shape, path)) continue;
    std::vector<std::uint32_t> expected = random_values<std::uint32_t>(shape.count, 3, shape.op);
    void *in = nullptr, *out = nullptr, *scratch = nullptr;
    const std::size_t bytes = scratch_bytes(shape, path, 0);
    cudaMalloc(&in, shape.count * 4);
    cudaMalloc(&out, shape.count * 4);
    cudaMalloc(&scratch, bytes);
    cudaMemcpy(in, expected.data(), shape.count * 4, cudaMemcpyHostToDevice);
    reference_scan(shape, expected);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStreamCreate(&stream);
    // Behind a copy, behind another scan, and behind a join of two branches.
    cudaStream_t branch;
    cudaEvent_t fork, join;
    cudaStreamCreate(&branch);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    cudaMemcpyAsync(out, in, shape.count * 4, cudaMemcpyDeviceToDevice, stream);
    ASSERT_EQ(launch_scan(shape, path, in, out, scratch, bytes, stream), cudaSuccess);
    ASSERT_EQ(launch_scan(shape, path, in, out, scratch, bytes, stream), cudaSuccess);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(branch, fork);
    cudaMemcpyAsync(out, in, shape.count * 4, cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(scratch, 0xee, bytes, branch);
    cudaEventRecord(join, branch);
    cudaStreamWaitEvent(stream, join);
    ASSERT_EQ(launch_scan(shape, path, out, out, scratch, bytes, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
    for (int run = 0; run < 3; ++run) ASSERT_EQ(cudaGraphLaunch(instance, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    std::vector<std::uint32_t> result(shape.count);
    cudaMemcpy(result.data(), out, shape.count * 4, cudaMemcpyDeviceToHost);
    EXPECT_EQ(result, expected);
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(branch);
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
    cudaFree(scratch);
  }
}

TEST(ScanCuda, RefusesWhatCannotBe) {
  GDELTA_NEEDS_DEVICE();
  void* data = nullptr;
  cudaMalloc(&data, 4096);
  const Shape good{Operator::sum, Type::u32, 1, 1, false, false, 100};
  Shape shape = good;
  shape.order = 9;
  EXPECT_EQ(launch_scan(shape, Path::automatic, data, data, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  shape = good;
  shape.tuple = 0;
  EXPECT_EQ(launch_scan(shape, Path::automatic, data, data, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  char* const odd = static_cast<char*>(data) + 1;
  EXPECT_EQ(launch_scan(good, Path::automatic, odd, odd, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  char* const overlapping = static_cast<char*>(data) + 40;
  EXPECT_EQ(launch_scan(good, Path::automatic, data, overlapping, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  shape = good;
  shape.type = Type::f32;
  shape.op = Operator::bit_xor;
  EXPECT_EQ(launch_scan(shape, Path::automatic, data, data, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  shape = good;
  shape.count = 100'000'000;
  EXPECT_EQ(launch_scan(shape, Path::group, data, static_cast<char*>(data) + 400'000'000, nullptr,
                        0, nullptr),
            cudaErrorInvalidValue);
  cudaFree(data);
}

// ---- For compute-sanitizer, whose racecheck takes a quarter of a second a launch: every kernel with
// narrow, usual and wide values and states, and no more values than its exchange needs.

void expect_scan(const Shape& shape, Path path, Placement placement = {}) {
  if (!takes(shape, path)) return;
  EXPECT_TRUE(check(shape, path, placement)) << describe(shape) << " path " << int(path);
}

template <std::size_t kShapes>
void expect_scans(const Shape (&shapes)[kShapes], Path path) {
  for (const Shape& shape : shapes) expect_scan(shape, path);
}

/// Three whole tiles for every block, and a few values in a fourth.
Shape of_three_rounds(Shape shape) {
  const StreamReport stream = describe_stream(shape, 0);
  shape.count = std::uint64_t{3} * stream.blocks * stream.tile_values + 13;
  return shape;
}

TEST(ScanCudaSmall, Stream) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8},
      {.type = Type::u8, .order = 2, .tuple = 3},
      {.type = Type::u8, .order = 8},
      {.type = Type::u16, .order = 2, .tuple = 33, .exclusive = true},
      {.type = Type::u32},
      {.type = Type::u32, .tuple = 3, .backward = true},
      {.type = Type::u32, .tuple = 33},
      {.type = Type::u32, .order = 2, .exclusive = true},
      {.type = Type::u32, .order = 2, .tuple = 3},
      {.type = Type::u32, .order = 2, .tuple = 33},
      {.type = Type::u32, .order = 8},
      {.type = Type::u32, .order = 8, .tuple = 3},
      {.type = Type::u32, .order = 8, .tuple = 33},
      {.type = Type::u64},
      {.type = Type::u64, .tuple = 3},
      {.type = Type::u64, .order = 2, .tuple = 33, .backward = true},
      {.type = Type::u64, .order = 8},
      {.type = Type::u64, .order = 8, .tuple = 3, .exclusive = true},
      {.type = Type::f32},
      {.type = Type::f32, .tuple = 3},
      {.op = Operator::bit_xor, .type = Type::u32},
      {.op = Operator::max, .type = Type::u64, .tuple = 3},
  };
  for (const Shape& shape : shapes) expect_scan(of_three_rounds(shape), Path::stream);
  expect_scan(of_three_rounds({.type = Type::u32}), Path::stream, {1, 1, false});
  expect_scan(of_three_rounds({.type = Type::u8, .order = 2}), Path::stream, {3, 0, true});
}

TEST(ScanCudaSmall, Group) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      // Two groups of tiles.
      {.type = Type::u8, .count = 450'001},
      {.type = Type::u8, .order = 8, .tuple = 3, .count = 450'001},
      {.type = Type::u32, .count = 112'501},
      {.type = Type::u32, .order = 2, .tuple = 3, .exclusive = true, .count = 112'501},
      {.type = Type::u32, .order = 8, .tuple = 33, .count = 112'501},
      {.type = Type::u64, .order = 2, .backward = true, .count = 56'251},
      {.type = Type::u64, .order = 8, .tuple = 3, .count = 56'251},
      {.type = Type::f32, .count = 112'501},
      {.type = Type::f32, .order = 2, .tuple = 3, .count = 3'001},
      {.op = Operator::product, .type = Type::u32, .order = 2, .count = 112'501},
      {.op = Operator::bit_xor, .type = Type::u64, .order = 2, .tuple = 33, .count = 56'251},
      // Two chapters, tiles from the counter.
      {.type = Type::u64, .count = 4'000'001},
  };
  expect_scans(shapes, Path::group);
  expect_scan({.type = Type::u32, .order = 2, .count = 112'501}, Path::group, {1, 2, false});
}

TEST(ScanCudaSmall, Columns) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8, .order = 2, .tuple = 100, .count = 400'001},
      {.type = Type::u32, .tuple = 100, .exclusive = true, .count = 200'001},
      {.type = Type::u32, .order = 8, .tuple = 1000, .count = 300'001},
      {.type = Type::u64, .order = 2, .tuple = 65, .backward = true, .count = 100'001},
      {.type = Type::f32, .order = 2, .tuple = 1000, .count = 300'001},
      {.op = Operator::max, .type = Type::u32, .tuple = 100, .count = 200'001},
      {.type = Type::u32, .order = 2, .tuple = 90'001, .count = 400'001},  // walked
  };
  expect_scans(shapes, Path::group);
  expect_scan({.type = Type::u32, .tuple = 1000, .count = 300'001}, Path::group, {1, 2, false});
}

TEST(ScanCudaSmall, Single) {
  GDELTA_NEEDS_DEVICE();
  const Shape shapes[] = {
      {.type = Type::u8, .order = 2, .tuple = 33, .count = 5'001},
      {.type = Type::u32, .count = 1'001},
      {.type = Type::u64, .order = 8, .tuple = 3, .exclusive = true, .count = 501},
      {.type = Type::f32, .order = 2, .backward = true, .count = 1'001},
      {.type = Type::u32, .tuple = 100, .count = 1'001},
  };
  expect_scans(shapes, Path::single);
}

/// Paths on the chip: order 1 of aligned contiguous values stays in registers, the rest in shared
/// memory.
void expect_on_chip(Path path, std::uint64_t bytes) {
  const Shape shapes[] = {
      {.type = Type::u8},
      {.type = Type::u8, .order = 8, .tuple = 3},
      {.type = Type::u32},
      {.type = Type::u32, .backward = true},
      {.type = Type::u32, .order = 8},
      {.type = Type::u64, .exclusive = true},
      {.type = Type::u64, .order = 2, .tuple = 3},
      {.type = Type::u64, .order = 8, .tuple = 33},
      {.type = Type::f32},
      {.op = Operator::bit_xor, .type = Type::u32, .order = 2, .tuple = 3, .exclusive = true},
      {.op = Operator::max, .type = Type::u32},
  };
  for (Shape shape : shapes) {
    shape.count = bytes / type_bytes(shape.type) + 1;
    expect_scan(shape, path);
  }
  expect_scan({.type = Type::u32, .count = bytes / 4 + 1}, path, {1, 1, false});
  expect_scan({.op = Operator::product, .type = Type::u32, .order = 2, .count = bytes / 4 + 1},
              path);
}

TEST(ScanCudaSmall, Cluster) {
  GDELTA_NEEDS_DEVICE();
  expect_on_chip(Path::cluster, 100'000);
  expect_scan({.type = Type::u32, .count = 1'001}, Path::cluster);  // one block
  expect_scan({.type = Type::u64, .order = 2, .tuple = 3, .count = 501}, Path::cluster);
}

TEST(ScanCudaSmall, Resident) {
  GDELTA_NEEDS_DEVICE();
  expect_on_chip(Path::resident, 800'000);
  expect_scan({.type = Type::u32, .count = 2'500'001}, Path::resident);  // more in registers
  expect_scan({.type = Type::u32, .count = 5'000'001}, Path::resident);  // and in shared memory
}

}  // namespace
}  // namespace gdelta::scan
#endif  // GDELTA_HAS_CUDA
