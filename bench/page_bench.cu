// Chunk and page size, and whether pages carry their scan state: compressed size and speed of
// decoding on the GPU side by side, on real recordings. docs/pages.md says what was decided.
//
// Each recording is packed with the one order (1 to 4, the same in every lane) that suits it best and
// no strides. Sizes are those of the recording packed once; speeds are those of the recording repeated to
// 256 MiB, in launches over `bytes` of it, one range after the other, so that nothing is warm.
//
//   kernel    the page kernel alone, pages with states
//   decode    device_decode without and with verification of contents
//
//   page_bench [--sizes] [--orders] [--file PART_OF_NAME]     recordings are in $GDELTA_TEST_DATA
//
// `--sizes` needs no GPU. `--orders` measures chunks and pages of the usual size at orders 1 to 4. Prints
// CSV; every output is compared with the values.
#include <cuda_runtime.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench/cuda_check.h"
#include "bench/device_array.h"
#include "bench/launch_timing.h"
#include "bench/parsed_stream.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/chunk/chunk_sizes.h"
#include "codec/coders/default_pages.h"
#include "formats/gdelta/chunk_block.h"
#include "gdelta/device.h"
#include "kernels/device/launch.cuh"

namespace gdelta {
namespace {

constexpr std::uint64_t kTotal = 256ull << 20;
constexpr std::uint64_t kWhole = 1ull << 28;  // the largest chunk there is
constexpr int kMaxBenchOrder = 4;
constexpr int kReplays = 7;

using bench::device_array;
using Bytes = std::vector<std::byte>;

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  Bytes bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

struct Recording {
  std::string name;
  Layout layout;
  Bytes values;  // whole records
  int order = 1;
};

format::ColumnModel make_model(const Recording& recording, std::uint32_t page_groups) {
  format::ColumnModel model;
  model.section.coder = Coder::pack;
  if (recording.layout.columns[0].type >= ValueType::f16) model.front.map = ValueMap::ordered;
  std::fill_n(model.front.orders, kMaxTuple, static_cast<std::uint8_t>(recording.order));
  model.section.part_groups = page_groups;
  return model;
}

// ---- Sizes

int varint_bytes(std::uint64_t n) {
  int bytes = 1;
  while (n >>= 7) ++bytes;
  return bytes;
}

struct Packed {
  std::vector<std::vector<std::byte>> blocks;
  std::uint64_t bytes = 0;        // blocks and their entries in the index
  std::uint64_t state_bytes = 0;  // of pages behind the first of their chunk
};

/// `values` cut into chunks of `chunk_records`.
Packed pack_values(const Recording& recording, std::span<const std::byte> values,
                   std::uint64_t chunk_records, std::uint32_t page_groups) {
  const std::uint64_t record_bytes = recording.layout.record_bytes();
  const std::uint64_t chunk_bytes = chunk_records * record_bytes;
  const format::ColumnModel model = make_model(recording, page_groups);
  Packed packed;
  packed.blocks.resize((values.size() + chunk_bytes - 1) / chunk_bytes);
  tbb::parallel_for(std::size_t{0}, packed.blocks.size(), [&](std::size_t i) {
    const std::uint64_t at = i * chunk_bytes;
    ChunkPlan plan;
    plan.columns = {model};
    packed.blocks[i] = encode_chunk(values.subspan(at, std::min(chunk_bytes, values.size() - at)),
                                    recording.layout, false, plan);
  });
  const std::uint32_t states = format::page_state_bytes(model.front, recording.layout.columns[0]);
  std::uint64_t records = values.size() / record_bytes;
  for (const auto& block : packed.blocks) {
    const std::uint64_t in_chunk = std::min(chunk_records, records);
    records -= in_chunk;
    packed.bytes += block.size() + 1 + varint_bytes(block.size()) + format::kCheckBytes +
                    varint_bytes(in_chunk);
    packed.state_bytes += (format::num_parts(model.section, in_chunk) - 1) * states;
  }
  return packed;
}

std::uint64_t chunk_records(const Recording& recording, std::uint64_t chunk_bytes) {
  return records_per_chunk(chunk_bytes, recording.layout.record_bytes());
}

/// Size as the planner would have it at this level, with pages of the default size.
std::uint64_t planned_bytes(const Recording& recording, int level, std::uint64_t chunk_bytes) {
  EncodeOptions options;
  options.layout = recording.layout;
  options.level = level;
  options.chunk_bytes = chunk_bytes;
  options.coder = Coder::pack;
  options.device = "cpu";
  return compress(recording.values, options).value().size();
}

// ---- Device

__global__ void compare(const uint4* a, const uint4* b, std::uint64_t count,
                        unsigned long long* differences) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    if (a[i].x != b[i].x || a[i].y != b[i].y || a[i].z != b[i].z || a[i].w != b[i].w)
      atomicAdd(differences, 1ull);
  }
}

/// A recording repeated, packed and in device memory, and what the kernels need to know.
class DeviceStreamBench {
 public:
  DeviceStreamBench(const Recording& recording, std::uint64_t chunk_bytes,
                    std::uint32_t page_groups, std::span<const std::byte> values,
                    const std::byte* device_values, unsigned char* out, cudaStream_t stream)
      : recording_(recording),
        values_(values),
        device_values_(device_values),
        out_(out),
        stream_(stream),
        page_groups_(page_groups),
        records_(std::min(chunk_records(recording, chunk_bytes),
                          values.size() / recording.layout.record_bytes())) {
    const Packed packed = pack_values(recording, values, records_, page_groups);
    Bytes bytes(6);
    StreamInfo info;
    info.layouts = {recording.layout};
    for (const auto& block : packed.blocks) {
      ChunkInfo chunk;
      chunk.byte = bytes.size();
      chunk.block_bytes = block.size();
      chunk.decoded_at = info.decoded_bytes;
      chunk.decoded_bytes =
          std::min(chunk_span(), values.size() - static_cast<std::size_t>(chunk.decoded_at));
      info.decoded_bytes += chunk.decoded_bytes;
      const auto parsed = format::parse_chunk_block(block, chunk.byte, recording.layout).value();
      chunk.columns.resize(1);  // as `inspect` describes it, so that the table knows its kind
      chunk.columns[0].coder = parsed.columns[0].model.section.coder;
      chunk.columns[0].page_groups = parsed.columns[0].model.section.part_groups;
      info.chunks.push_back(chunk);
      bytes.insert(bytes.end(), block.begin(), block.end());
    }
    table_ = make_chunk_table(info).value();
    chunks_ = static_cast<std::uint32_t>(info.chunks.size());
    bytes_ = bytes.size();
    bytes.resize(bytes.size() + 16);
    data_ = device_array<std::byte>(bytes.size());
    GDELTA_CHECK(cudaMemcpy(data_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    device_table_ = device_array<std::byte>(table_.bytes.size());
    GDELTA_CHECK(cudaMemcpy(device_table_, table_.bytes.data(), table_.bytes.size(),
                            cudaMemcpyHostToDevice));
    status_ = device_array<ChunkStatus>(chunks_);
    scratch_bytes_ = device_decode_scratch_bytes(table_, 0, chunks_).value();
    scratch_ = device_array<std::byte>(scratch_bytes_);
    wrong_ = device_array<unsigned long long>(1);
    parsed_.emplace(decode_of_all(), stream_);
  }
  ~DeviceStreamBench() {
    for (void* memory :
         {static_cast<void*>(data_), static_cast<void*>(device_table_), static_cast<void*>(status_),
          static_cast<void*>(scratch_), static_cast<void*>(wrong_)})
      GDELTA_CHECK(cudaFree(memory));
  }

  std::uint64_t chunk_span() const { return records_ * recording_.layout.record_bytes(); }
  bool all_packed() const { return parsed_->all_packed(); }

  /// GB/s over launches of `chunks` chunks each; 0 if the output is wrong.
  double kernel_speed(std::uint32_t chunks) {
    return speed(chunks, [&](std::uint32_t first, std::uint32_t count) {
      parsed_->launch_pages(first, count, stream_);
    });
  }

  double decode_speed(std::uint32_t chunks, bool verify) {
    return speed(chunks, [&](std::uint32_t first, std::uint32_t count) {
      DeviceDecode decode = decode_of_all();
      decode.first_chunk = first;
      decode.num_chunks = count;
      decode.out = out_ + first * chunk_span();
      decode.out_bytes = values_.size() - first * chunk_span();
      decode.status = status_;
      decode.scratch = scratch_;
      decode.scratch_bytes = scratch_bytes_;
      decode.verify = verify;
      if (!device_decode(decode, stream_)) std::exit(1);
    });
  }

 private:
  /// Decodes all chunks to `out`; without status and scratch.
  DeviceDecode decode_of_all() const {
    DeviceDecode decode;
    decode.table = &table_;
    decode.device_table = device_table_;
    decode.stream = data_;
    decode.stream_bytes = bytes_;
    decode.out = out_;
    decode.out_bytes = values_.size();
    return decode;
  }

  bool is_right(std::uint64_t begin, std::uint64_t end) {
    GDELTA_CHECK(cudaMemsetAsync(wrong_, 0, 8, stream_));
    GDELTA_CHECK(device::launch_kernel(
        compare, 1024, 256, stream_, reinterpret_cast<const uint4*>(out_) + begin / 16,
        reinterpret_cast<const uint4*>(device_values_) + begin / 16, (end - begin) / 16, wrong_));
    unsigned long long wrong = 0;
    GDELTA_CHECK(cudaMemcpyAsync(&wrong, wrong_, 8, cudaMemcpyDeviceToHost, stream_));
    GDELTA_CHECK(cudaStreamSynchronize(stream_));
    if (wrong != 0) std::fprintf(stderr, "WRONG: %s\n", recording_.name.c_str());
    return wrong == 0;
  }

  template <class Launch>
  double speed(std::uint32_t chunks, const Launch& launch) {
    chunks = std::min(chunks, chunks_);
    const int launches = static_cast<int>(std::min<std::uint32_t>(chunks_ / chunks, 24));
    GDELTA_CHECK(cudaMemsetAsync(out_, 0xa5, values_.size(), stream_));
    const double seconds = bench::median_graph_seconds(stream_, launches, kReplays,
                                                       [&](int i) { launch(i * chunks, chunks); });
    const std::uint64_t bytes =
        std::min<std::uint64_t>(std::uint64_t{chunks} * chunk_span(), values_.size());
    return is_right(0, std::min<std::uint64_t>(bytes * launches, values_.size()))
               ? bytes / seconds / 1e9
               : 0;
  }

  const Recording& recording_;
  std::span<const std::byte> values_;
  const std::byte* device_values_;
  unsigned char* out_;
  cudaStream_t stream_;
  std::uint32_t page_groups_;
  std::uint64_t records_;  // of a chunk
  ChunkTable table_;
  std::uint32_t chunks_ = 0;
  std::uint64_t bytes_ = 0;
  std::byte* data_ = nullptr;
  std::byte* device_table_ = nullptr;
  ChunkStatus* status_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::uint64_t scratch_bytes_ = 0;
  unsigned long long* wrong_ = nullptr;
  std::optional<bench::ParsedStream> parsed_;
};

// ---- Rows

struct Point {
  std::uint64_t chunk_bytes;
  std::uint32_t page_groups;
  std::vector<std::uint64_t> totals;
  bool planned;
};

void print_number(double value, const char* format) {
  std::printf(",");
  if (value > 0) std::printf(format, value);
}

void measure_recording(const Recording& recording, bool sizes_only, bool usual_only) {
  const int tuple = recording.layout.columns[0].tuple;
  const std::uint64_t record_bytes = recording.layout.record_bytes();
  const std::uint32_t usual = default_page_groups(tuple);
  const std::uint64_t mib = 1ull << 20;
  std::vector<Point> points;
  if (usual_only) points.push_back({mib, usual, {kTotal}, false});
  for (const std::uint64_t chunk : {mib / 64, mib / 16, mib / 4, mib, 4 * mib, kWhole}) {
    if (!usual_only) points.push_back({chunk, usual, {kTotal}, true});
  }
  for (const std::uint32_t groups : {4u, 8u, 16u, 32u, 64u, 128u}) {
    const std::uint32_t of_lane = std::max(groups / tuple & ~1u, 2u);
    if (usual_only || (of_lane == points.back().page_groups && groups < 32)) continue;
    points.push_back({mib, of_lane, {mib, 4 * mib, 16 * mib, 64 * mib, kTotal}, false});
  }

  const std::uint64_t total_records = kTotal / record_bytes / 4096 * 4096;
  Bytes values;
  std::byte* device_values = nullptr;
  unsigned char* out = nullptr;
  cudaStream_t stream = nullptr;
  if (!sizes_only) {
    values.resize(total_records * record_bytes);
    for (std::uint64_t at = 0; at < values.size(); at += recording.values.size())
      std::memcpy(values.data() + at, recording.values.data(),
                  std::min<std::uint64_t>(recording.values.size(), values.size() - at));
    device_values = device_array<std::byte>(values.size());
    out = device_array<unsigned char>(values.size());
    GDELTA_CHECK(cudaMemcpy(device_values, values.data(), values.size(), cudaMemcpyHostToDevice));
    GDELTA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  for (const Point& point : points) {
    const Packed once = pack_values(recording, recording.values,
                                    chunk_records(recording, point.chunk_bytes), point.page_groups);
    const double raw = static_cast<double>(recording.values.size());
    double planned[2] = {};
    if (point.planned) {
      planned[0] = raw / planned_bytes(recording, 1, point.chunk_bytes);
      planned[1] = raw / planned_bytes(recording, 5, point.chunk_bytes);
    }
    const auto begin_row = [&](std::uint64_t bytes) {
      std::printf("%s,%d,%llu,%u,%llu,%.4f,%.4f", recording.name.c_str(), recording.order,
                  static_cast<unsigned long long>(point.chunk_bytes),
                  128 * point.page_groups * tuple, static_cast<unsigned long long>(bytes),
                  raw / once.bytes, raw / (once.bytes - once.state_bytes));
      print_number(planned[0], "%.4f");
      print_number(planned[1], "%.4f");
    };
    if (sizes_only) {
      begin_row(0);
      std::printf(",,,\n");
      continue;
    }
    DeviceStreamBench bench(recording, point.chunk_bytes, point.page_groups, values, device_values,
                            out, stream);
    if (!bench.all_packed()) continue;
    for (const std::uint64_t total : point.totals) {
      const auto chunks = static_cast<std::uint32_t>(
          std::max<std::uint64_t>((total + bench.chunk_span() / 2) / bench.chunk_span(), 1));
      begin_row(total);
      print_number(bench.kernel_speed(chunks), "%.1f");
      print_number(bench.decode_speed(chunks, false), "%.1f");
      print_number(bench.decode_speed(chunks, true), "%.1f");
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  if (!sizes_only) {
    GDELTA_CHECK(cudaFree(device_values));
    GDELTA_CHECK(cudaFree(out));
    GDELTA_CHECK(cudaStreamDestroy(stream));
  }
}

/// Copies launched one by one: in a graph they may use another engine.
double copy_speed() {
  auto* const from = device_array<std::byte>(4 * kTotal);
  auto* const to = device_array<std::byte>(4 * kTotal);
  GDELTA_CHECK(cudaMemset(from, 7, 4 * kTotal));
  const double seconds = bench::median_seconds(59, 1, [&] {  // an idle GPU starts slow
    GDELTA_CHECK(cudaMemcpyAsync(to, from, 4 * kTotal, cudaMemcpyDeviceToDevice));
  });
  GDELTA_CHECK(cudaFree(from));
  GDELTA_CHECK(cudaFree(to));
  return 4 * kTotal / seconds / 1e9;
}

int run(bool sizes_only, bool all_orders, const std::string& only) {
  const char* const folder = std::getenv("GDELTA_TEST_DATA");
  if (folder == nullptr) {
    std::fprintf(stderr, "page_bench: skipped, GDELTA_TEST_DATA names no folder\n");
    return 0;
  }
  if (!sizes_only) std::fprintf(stderr, "copy: %.1f GB/s\n", copy_speed());
  std::printf(
      "file,order,chunk_bytes,page_values,bytes,ratio,ratio_without_states,planned_level1,"
      "planned_level5,kernel,decode,decode_verified\n");
  for (const auto& [name, record] :
       std::vector<std::pair<const char*, const char*>>{{"audio_speech.i16x1.bin", "i16"},
                                                        {"audio_stereo.i16x2.bin", "i16x2"},
                                                        {"audio_stereo24.i32x2.bin", "i32x2"},
                                                        {"points_las.i32x3.bin", "i32x3"},
                                                        {"points_lidar.f32x4.bin", "f32x4"},
                                                        {"sci_era5_t2m.f32x1.bin", "f32"},
                                                        {"sensor_ecg.i16x2.bin", "i16x2"},
                                                        {"ragged_postings.u32x1.bin", "u32"},
                                                        {"sci_market_bidask.f64x2.bin", "f64x2"},
                                                        {"ts_epoch.i64x1.bin", "i64"}}) {
    if (std::string(name).find(only) == std::string::npos) continue;
    Recording recording{name, parse_record(record).value(),
                        read_file(std::string(folder) + "/" + name)};
    if (recording.values.empty()) {
      std::fprintf(stderr, "page_bench: no %s\n", name);
      continue;
    }
    recording.values.resize(recording.values.size() / recording.layout.record_bytes() *
                            recording.layout.record_bytes());
    std::uint64_t least = ~std::uint64_t{0};
    int best = 1;
    for (int order = 1; order <= kMaxBenchOrder; ++order) {
      recording.order = order;
      const std::uint64_t bytes =
          pack_values(recording, recording.values, kWhole,
                      default_page_groups(recording.layout.columns[0].tuple))
              .bytes;
      if (bytes < least) least = bytes, best = order;
    }
    for (int order = 1; order <= kMaxBenchOrder; ++order) {
      recording.order = order;
      if (all_orders || order == best) measure_recording(recording, sizes_only, all_orders);
    }
  }
  return 0;
}

}  // namespace
}  // namespace gdelta

int main(int argc, char** argv) {
  bool sizes_only = false, all_orders = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--sizes") == 0) sizes_only = true;
    if (std::strcmp(argv[i], "--orders") == 0) all_orders = true;
    if (std::strcmp(argv[i], "--file") == 0 && i + 1 < argc) only = argv[++i];
  }
  return gdelta::run(sizes_only, all_orders, only);
}
