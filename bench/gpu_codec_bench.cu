// gdelta.bench.gpu_codec: recordings decoded and encoded in device memory, beside a copy and, if nvCOMP was found,
// its codecs.
//
// usage: gpu_codec_bench FOLDER [MIB]   prints CSV; every NAME.TYPExTUPLE.bin of at least 1 MB in the folder,
//                                       repeated to MIB of values (1024)
// A recording, cut to whole groups, is compressed once and its chunks are repeated; chunks are independent, so no codec sees the
// repetition. Streams of gdelta decode wholly on the device. Only what level 1 chooses is encoded on the device, of the values
// with all repetitions, so other rows have no speed of encoding. nvCOMP gets chunks of 64 KiB. GB are 10^9 bytes of values, the median of
// nine runs after two; every output is compared with the values, and a row that differs says WRONG.
#include <cuda_runtime.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/device_decoding.h"
#include "bench/launch_timing.h"
#include "bench/repeated_stream.h"
#include "gdelta/device.h"
#include "kernels/device/launch.cuh"
#ifdef GDELTA_HAS_NVCOMP
#include "bench/nvcomp_peers.h"
#endif

namespace gdelta {
namespace {

using bench::device_array;
using bench::DeviceDecoding;

/// How recordings are coded. Those of level 1 are what a device encodes, with and without ans and a stride that is found.
struct Effort {
  int level;
  std::optional<Coder> coder = {};
  bool finds_stride = false;

  bool is_measured_encoding() const { return level == 1; }
  std::uint64_t stride() const { return finds_stride ? kFindStride : 0; }
  std::string name() const {
    return std::to_string(level) + (coder ? " " + std::string(coder_name(*coder)) : "") +
           (finds_stride ? " stride" : "");
  }
};
constexpr Effort kEfforts[] = {{1}, {1, {}, true}, {1, Coder::ans}, {1, Coder::ans, true}, {5},
                               {9}};
constexpr std::uint64_t kLeastBytes = 1'000'000;

template <class Launch>
double gb_s(std::uint64_t bytes, const Launch& launch) {
  return static_cast<double>(bytes) / bench::median_seconds(2, 9, launch) / 1e9;
}

__global__ void count_differences(const std::uint64_t* a, const std::uint64_t* b,
                                  std::uint64_t words, unsigned long long* differences) {
  unsigned long long found = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < words;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    found += a[i] != b[i];
  if (found) atomicAdd(differences, found);
}

struct Recording {
  std::string name;
  Layout layout;
  std::vector<std::byte> bytes;  // whole groups of tuples
  std::vector<std::byte> streams[std::size(kEfforts)] = {};

  const Column& column() const { return layout.columns[0]; }
};

std::vector<Recording> recordings_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".bin" && entry.file_size() >= kLeastBytes)
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Recording> recordings;
  for (const auto& path : paths) {
    const auto layout = parse_record(path.stem().extension().string().substr(1));
    if (!layout) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    // Whole groups, as encoders cut the chunks of long streams: others would begin at odd addresses.
    constexpr std::uint64_t kGroup = 128;
    const std::uint64_t group_bytes = kGroup * layout->record_bytes();
    recordings.push_back({.name = path.filename().string(),
                          .layout = *layout,
                          .bytes = {begin, begin + text.size() / group_bytes * group_bytes}});
  }
  tbb::parallel_for(std::size_t{0}, recordings.size() * std::size(kEfforts), [&](std::size_t i) {
    Recording& recording = recordings[i / std::size(kEfforts)];
    const std::size_t number = i % std::size(kEfforts);
    recording.streams[number] = compress(recording.bytes, {.layout = recording.layout,
                                                           .level = kEfforts[number].level,
                                                           .stride = kEfforts[number].stride(),
                                                           .coder = kEfforts[number].coder,
                                                           .device_decodable = true,
                                                           .device = "cpu"})
                                    .value();
  });
  return recordings;
}

/// A recording again and again in device memory, and room for what is decoded.
class Repeated {
 public:
  Repeated(const Recording& recording, std::uint64_t unit_bytes, std::uint64_t total)
      : unit_bytes_(unit_bytes),
        count_((total + unit_bytes - 1) / unit_bytes),
        values_(device_array<std::byte>(bytes() + 8)),
        out_(device_array<std::byte>(bytes() + 8)),
        differences_(device_array<unsigned long long>(1)) {
    for (std::uint64_t i = 0; i < count_; ++i)
      GDELTA_CHECK(cudaMemcpy(values_ + i * unit_bytes_, recording.bytes.data(), unit_bytes_,
                              cudaMemcpyHostToDevice));
    copy_gb_s_ = gb_s(bytes(), [&] {
      GDELTA_CHECK(cudaMemcpyAsync(out_, values_, bytes(), cudaMemcpyDeviceToDevice));
    });
  }
  ~Repeated() {
    for (void* memory :
         {static_cast<void*>(values_), static_cast<void*>(out_), static_cast<void*>(differences_)})
      GDELTA_CHECK(cudaFree(memory));
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return count_ * unit_bytes_; }
  const std::byte* values() const { return values_; }
  std::byte* out() const { return out_; }
  double copy_gb_s() const { return copy_gb_s_; }

  void forget_out() const { GDELTA_CHECK(cudaMemset(out_, 0xa5, bytes())); }
  bool out_is_right() const {
    GDELTA_CHECK(cudaMemset(differences_, 0, sizeof(unsigned long long)));
    for (std::byte* array : {values_, out_})
      GDELTA_CHECK(cudaMemset(array + bytes(), 0, 8));  // what fills the last word
    GDELTA_CHECK(device::launch_kernel(
        count_differences, 1024, 256, nullptr, reinterpret_cast<const std::uint64_t*>(values_),
        reinterpret_cast<const std::uint64_t*>(out_), (bytes() + 7) / 8, differences_));
    unsigned long long found = 1;
    GDELTA_CHECK(cudaMemcpy(&found, differences_, sizeof found, cudaMemcpyDeviceToHost));
    return found == 0;
  }

 private:
  std::uint64_t unit_bytes_, count_;
  std::byte *values_, *out_;
  unsigned long long* differences_;
  double copy_gb_s_ = 0;
};

struct Row {
  std::string codec = {}, level = {}, coder = {}, order = {};
  double ratio = 0;
  double encode = 0;  // GB/s; 0: not measured
  double decode = 0, verified = 0;
  bool right = true;
};

void print(const Recording& recording, const Repeated& repeated, const Row& row) {
  const auto number = [](double value) {
    char text[32] = "";
    if (value > 0) std::snprintf(text, sizeof text, "%.1f", value);
    return std::string(text);
  };
  std::printf("%s,%s,%s,%s,%s,%s,%d,%.3f,%s,%s,%s,%.1f,%s\n", recording.name.c_str(),
              row.codec.c_str(), row.level.c_str(), row.coder.c_str(),
              type_name(recording.column().type).data(), row.order.c_str(),
              static_cast<int>(recording.column().tuple), row.ratio, number(row.encode).c_str(),
              number(row.decode).c_str(), number(row.verified).c_str(), repeated.copy_gb_s(),
              row.right ? "ok" : "WRONG");
  std::fflush(stdout);
}

/// Of the first chunk: "ans", "pack decimal /10", and the lanes' orders.
void say_model(const ColumnInfo& column, Row& row) {
  row.coder = coder_name(column.coder);
  for (const std::string* words : {&column.map_words, &column.lane_map_words})
    if (!words->empty()) row.coder += ' ' + *words;
  std::replace(row.coder.begin(), row.coder.end(), ',', ';');
  if (column.predictor == Predictor::linear) row.order = "linear";
  for (std::size_t lane = 0; lane < column.orders.size(); ++lane)
    row.order += (lane > 0 ? "/" : "") + std::to_string(column.orders[lane]);
}

/// Fills the speeds of decoding.
void decode_rows(const bench::RepeatedStream& stream, const Repeated& repeated, Row& row) {
  DeviceDecoding decoding(stream.bytes, stream.info);
  decoding.send_to(repeated.out());
  for (const bool verify : {false, true}) {
    repeated.forget_out();
    (verify ? row.verified : row.decode) = gb_s(repeated.bytes(), [&] { decoding.run(verify); });
    row.right &= repeated.out_is_right() && decoding.is_whole();
  }
}

double device_encode_gb_s(const Recording& recording, const Repeated& repeated,
                          const Effort& effort) {
  DeviceEncode encode;
  encode.stride = effort.stride();
  encode.coder = effort.coder;
  encode.layout = {{recording.column()}};
  encode.values = repeated.values();
  encode.values_bytes = repeated.bytes();
  encode.stream_room = device_encode_bound(encode).value();
  encode.scratch_bytes = device_encode_scratch_bytes(encode).value();
  const ChunkTable table = device_encode_table(encode).value();
  std::byte* const stream = device_array<std::byte>(encode.stream_room + 16);
  std::byte* const device_table =
      device_array<std::byte>(chunk_table_bytes(table.layout, table.num_chunks));
  std::byte* const scratch = device_array<std::byte>(encode.scratch_bytes);
  encode.stream = stream;
  encode.table = device_table;
  encode.scratch = scratch;
  encode.stream_bytes = device_array<std::uint64_t>(1);
  const double speed = gb_s(repeated.bytes(), [&] {
    if (!device_encode(encode, nullptr)) std::exit(1);
  });
  for (void* memory : {static_cast<void*>(stream), static_cast<void*>(device_table),
                       static_cast<void*>(scratch), static_cast<void*>(encode.stream_bytes)})
    GDELTA_CHECK(cudaFree(memory));
  return speed;
}

void bench_gdelta(const Recording& recording, std::uint64_t total) {
  const Repeated repeated(recording, recording.bytes.size(), total);
  for (std::size_t i = 0; i < std::size(kEfforts); ++i) {
    const Effort& effort = kEfforts[i];
    const bench::RepeatedStream stream(recording.streams[i], repeated.count());
    Row row{.codec = "gdelta",
            .level = effort.name(),
            .ratio = static_cast<double>(recording.bytes.size()) /
                     static_cast<double>(recording.streams[i].size())};
    say_model(stream.info.chunks[0].columns[0], row);
    if (effort.is_measured_encoding()) row.encode = device_encode_gb_s(recording, repeated, effort);
    decode_rows(stream, repeated, row);
    print(recording, repeated, row);
  }
}

#ifdef GDELTA_HAS_NVCOMP
constexpr std::size_t kPeerChunk = 64 << 10;

/// Pointers and sizes of chunks, in device memory.
class PeerRoom {
 public:
  PeerRoom(const Repeated& repeated, std::size_t most_packed_bytes) {
    batch.num_chunks = repeated.bytes() / kPeerChunk;
    batch.chunk_bytes = kPeerChunk;
    const std::size_t stride = (most_packed_bytes + 255) / 256 * 256;
    auto* const packed = kept(device_array<std::byte>(batch.num_chunks * stride));
    batch.values = addresses(const_cast<std::byte*>(repeated.values()), kPeerChunk);
    batch.packed = addresses(packed, stride);
    batch.decoded = addresses(repeated.out(), kPeerChunk);
    const std::vector<std::size_t> sizes(batch.num_chunks, kPeerChunk);
    auto* const value_bytes = kept(device_array<std::size_t>(batch.num_chunks));
    GDELTA_CHECK(cudaMemcpy(value_bytes, sizes.data(), sizes.size() * sizeof(std::size_t),
                            cudaMemcpyHostToDevice));
    batch.value_bytes = value_bytes;
    batch.packed_bytes = kept(device_array<std::size_t>(batch.num_chunks));
    batch.decoded_bytes = kept(device_array<std::size_t>(batch.num_chunks));
    batch.statuses = kept(device_array<nvcompStatus_t>(batch.num_chunks));
  }
  ~PeerRoom() {
    for (void* memory : kept_) GDELTA_CHECK(cudaFree(memory));
  }
  PeerRoom(const PeerRoom&) = delete;
  PeerRoom& operator=(const PeerRoom&) = delete;

  void add_scratch(std::size_t bytes) {
    batch.scratch = kept(device_array<std::byte>(bytes + 256));
    batch.scratch_bytes = bytes;
  }
  double ratio() const {
    std::vector<std::size_t> sizes(batch.num_chunks);
    GDELTA_CHECK(cudaMemcpy(sizes.data(), batch.packed_bytes, sizes.size() * sizeof(std::size_t),
                            cudaMemcpyDeviceToHost));
    std::uint64_t packed = 0;
    for (const std::size_t size : sizes) packed += size;
    return static_cast<double>(batch.total_bytes()) / static_cast<double>(packed);
  }

  bench::NvcompBatch batch;

 private:
  template <class T>
  T* kept(T* memory) {
    kept_.push_back(memory);
    return memory;
  }
  void** addresses(std::byte* first, std::size_t stride) {
    std::vector<void*> all(batch.num_chunks);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = first + i * stride;
    void** const device = kept(device_array<void*>(all.size()));
    GDELTA_CHECK(
        cudaMemcpy(device, all.data(), all.size() * sizeof(void*), cudaMemcpyHostToDevice));
    return device;
  }

  std::vector<void*> kept_;
};

void bench_peer(const Recording& recording, const Repeated& repeated,
                const bench::NvcompPeer& peer) {
  PeerRoom room(repeated, peer.most_packed_bytes(kPeerChunk));
  room.add_scratch(peer.scratch_bytes(room.batch));
  Row row{.codec = peer.codec, .level = peer.level};
  row.encode = gb_s(repeated.bytes(), [&] { row.right &= peer.encode(room.batch); });
  row.ratio = room.ratio();
  repeated.forget_out();
  row.decode = gb_s(repeated.bytes(), [&] { row.right &= peer.decode(room.batch); });
  row.right &= repeated.out_is_right();
  print(recording, repeated, row);
}

void bench_peers(const Recording& recording, std::uint64_t total) {
  // Whole chunks of the peers and whole tuples.
  const std::uint64_t unit = recording.bytes.size() / kPeerChunk * kPeerChunk;
  const Repeated repeated(recording, unit, total);
  for (const bench::NvcompPeer& peer : bench::nvcomp_peers(recording.column().type))
    bench_peer(recording, repeated, peer);
}
#endif

}  // namespace
}  // namespace gdelta

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gpu_codec_bench FOLDER [MIB]\n");
    return 1;
  }
  const std::uint64_t total = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024) << 20;
  std::printf(
      "file,codec,level,coder,type,order,tuple,ratio,encode_gb_s,decode_gb_s,verified_gb_s,"
      "copy_gb_s,right\n");
  for (const gdelta::Recording& recording : gdelta::recordings_of(argv[1])) {
    gdelta::bench_gdelta(recording, total);
#ifdef GDELTA_HAS_NVCOMP
    gdelta::bench_peers(recording, total);
#endif
  }
  return 0;
}
