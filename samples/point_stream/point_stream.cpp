// A point cloud in GPU memory: a compressed stream is decoded into the caller's buffer, on the caller's CUDA stream, with
// the caller's scratch, where the caller's kernels can go on with it. If there is no GPU the host call does the same.
// usage: point_stream POINTS.f32x4.bin
#include <gdelta/device.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#ifdef SAMPLE_HAS_CUDA
#include <cuda_runtime.h>
#endif

using Bytes = std::vector<std::byte>;

[[noreturn]] static void give_up(const std::string& why) {
  std::fprintf(stderr, "point_stream: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
static T value_of(gdelta::Result<T> result) {
  if (!result) give_up(result.error().to_string());
  return std::move(*result);
}

static Bytes read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up(std::string("cannot read ") + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

#ifdef SAMPLE_HAS_CUDA

static void must(cudaError_t error) {
  if (error != cudaSuccess) give_up(cudaGetErrorString(error));
}

/// Device memory, with some of it copied from the host.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t num_bytes) { must(cudaMalloc(&pointer_, num_bytes + 16)); }
  DeviceBytes(const Bytes& from, cudaStream_t stream) : DeviceBytes(from.size()) {
    must(cudaMemcpyAsync(pointer_, from.data(), from.size(), cudaMemcpyHostToDevice, stream));
  }
  ~DeviceBytes() { cudaFree(pointer_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  void* get() const { return pointer_; }

 private:
  void* pointer_ = nullptr;
};

static bool gpu_is_here() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

static Bytes decode_on_gpu(const Bytes& compressed) {
  cudaStream_t cuda_stream;
  must(cudaStreamCreate(&cuda_stream));

  // Where the chunks are is read on the host, once; any range of chunks can be decoded with the same table.
  const gdelta::ChunkTable table =
      value_of(gdelta::make_chunk_table(value_of(gdelta::inspect(compressed))));
  const std::uint64_t scratch_bytes =
      value_of(gdelta::device_decode_scratch_bytes(table, 0, table.num_chunks));

  const DeviceBytes stream(compressed, cuda_stream), device_table(table.bytes, cuda_stream);
  const DeviceBytes points(table.decoded_bytes), scratch(scratch_bytes);
  const DeviceBytes status(table.num_chunks * sizeof(gdelta::ChunkStatus));

  gdelta::DeviceDecode decode;
  decode.table = &table;
  decode.device_table = device_table.get();
  decode.stream = stream.get();
  decode.stream_bytes = compressed.size();
  decode.num_chunks = table.num_chunks;
  decode.out = points.get();
  decode.out_bytes = table.decoded_bytes;
  decode.status = static_cast<gdelta::ChunkStatus*>(status.get());
  decode.scratch = scratch.get();
  decode.scratch_bytes = scratch_bytes;
  if (const auto enqueued = gdelta::device_decode(decode, cuda_stream); !enqueued)
    give_up(enqueued.error().to_string());
  // Kernels launched on cuda_stream from here on find the points in `points`.

  Bytes restored(table.decoded_bytes);
  std::vector<gdelta::ChunkStatus> verdicts(table.num_chunks);
  must(cudaMemcpyAsync(restored.data(), points.get(), restored.size(), cudaMemcpyDeviceToHost,
                       cuda_stream));
  must(cudaMemcpyAsync(verdicts.data(), status.get(), verdicts.size() * sizeof(verdicts[0]),
                       cudaMemcpyDeviceToHost, cuda_stream));
  must(cudaStreamSynchronize(cuda_stream));
  must(cudaStreamDestroy(cuda_stream));
  for (const gdelta::ChunkStatus& verdict : verdicts)
    if (verdict.code != 0) give_up(gdelta::errc_name(static_cast<gdelta::Errc>(verdict.code)));
  return restored;
}

#else

static bool gpu_is_here() { return false; }
static Bytes decode_on_gpu(const Bytes& compressed) {
  return value_of(gdelta::decompress(compressed));
}

#endif

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: point_stream POINTS.f32x4.bin\n");
    return 1;
  }
  const Bytes points = read_file(argv[1]);
  gdelta::EncodeOptions options;
  options.layout = value_of(gdelta::parse_record("f32x4"));  // x y z intensity
  options.device_decodable = true;                           // only coders that the GPU decodes
  const Bytes compressed = value_of(gdelta::compress(points, options));
  std::printf("%zu points, %zu bytes, compressed %zu\n", points.size() / 16, points.size(),
              compressed.size());

  const bool gpu = gpu_is_here();
  const Bytes restored = gpu ? decode_on_gpu(compressed) : value_of(gdelta::decompress(compressed));
  std::printf("decoded on the %s, the same points: %s\n", gpu ? "GPU" : "CPU (no GPU here)",
              restored == points ? "yes" : "NO");
  return restored == points ? 0 : 1;
}
