// How scans on a device are launched: again, on many streams at once, inside a graph, and refused.
#ifdef GDELTA_HAS_CUDA
#include <random>

#include "tests/kernels/scan_cuda_check.h"

namespace gdelta::scan {
namespace {

TEST(ScanCuda, FloatingPointIsTheSameOnEveryRun) {
  GDELTA_NEEDS_DEVICE();
  for (const Path path : kPaths) {
    for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
      for (const Shape& shape :
           {Shape{.type = type, .order = 1, .tuple = 1, .count = scaled(path, 3'000'001)},
            Shape{.op = Operator::product,
            .type = type,
            .order = 1,
            .tuple = 1,
            .count = scaled(path, 3'000'001)},
            Shape{.type = type, .order = 2, .tuple = 20, .count = 20'000'001},
            Shape{.type = type, .order = 2, .tuple = 1, .count = 40'000'001},
            Shape{.type = type, .order = 1, .tuple = 1000, .count = 10'000'001}}) {
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
  const Shape large{.type = Type::u32, .order = 3, .tuple = 2, .count = 8'000'003};
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
    const Shape shape{.type = Type::u32, .order = 4, .tuple = 1, .count = scaled(path, 9'000'001)};
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
  const Shape good{.type = Type::u32, .order = 1, .tuple = 1, .count = 100};
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

}  // namespace
}  // namespace gdelta::scan
#endif  // GDELTA_HAS_CUDA
