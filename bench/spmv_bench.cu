// Sparse matrix times vector in single precision: by schedules, by a merge path written by hand (which is
// what the abstraction costs), by cuSPARSE. Rows are those of mappings_bench, columns random. Prints CSV.
//
// Entries are small integers, so every sum is exact and all results are the same bits. Clearing y counts.
#include <cusparse.h>

#include <cstring>

#include "bench/mapping_timing.cuh"
#include "gdelta/primitives/segmented_reduce.cuh"
#include "gdelta/schedules/add_to_tile.cuh"
#include "gdelta/schedules/choose_schedule.cuh"
#include "gdelta/schedules/cta_warp_scan.cuh"
#include "gdelta/schedules/group_mapped.cuh"
#include "gdelta/schedules/merge_path.cuh"
#include "gdelta/schedules/two_phase_search.cuh"

namespace gdelta::bench {
namespace {

struct Matrix {
  Tiles rows;
  std::uint32_t* columns;
  float* values;
  float* x;
  float* y;
  __device__ float product(std::uint64_t e) const { return values[e] * x[columns[e]]; }
};

__device__ std::uint64_t scrambled(std::uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  return (i ^ i >> 29) * 0x94d049bb133111ebull >> 20;
}

__global__ void fill(Matrix m) {
  for (std::uint64_t e = blockIdx.x * 256ull + threadIdx.x; e < m.rows.atoms;
       e += gridDim.x * 256ull) {
    m.columns[e] = static_cast<std::uint32_t>(scrambled(e) % m.rows.count);
    m.values[e] = static_cast<float>(scrambled(~e) % 5) - 2;
    if (e < m.rows.count) m.x[e] = static_cast<float>(e % 7);
  }
}

struct ProductOf {
  Matrix m;
  __device__ float operator()(std::uint64_t e) const {
    return __ldcs(m.values + e) * m.x[__ldcs(m.columns + e)];
  }
};
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Multiply {
  Matrix m;
  __device__ void operator()(const Piece& piece) const {
    float sum = 0;
    for (std::uint64_t e = piece.begin; e < piece.end; e += piece.step) sum += m.product(e);
    add_to_tile(m.y, piece, sum);
  }
};

/// As the schedule cuts it, with the work inside.
__global__ void __launch_bounds__(MergePath::kThreads) merge_path_by_hand(Matrix m) {
  const std::uint64_t length = m.rows.count + m.rows.atoms;
  const std::uint64_t from =
      (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * MergePath::kSteps;
  if (from >= length) return;
  const std::uint64_t to = min(from + MergePath::kSteps, length);
  std::uint64_t row = from > m.rows.atoms ? from - m.rows.atoms : 0;
  std::uint64_t high = min(from, m.rows.count);
  while (row < high) {
    const std::uint64_t middle = row + (high - row) / 2;
    if (m.rows.end(middle) + middle < from) {
      row = middle + 1;
    } else {
      high = middle;
    }
  }
  std::uint64_t e = from - row;
  for (std::uint64_t step = from; step < to;) {
    const std::uint64_t end = row < m.rows.count ? m.rows.end(row) : e;
    const std::uint64_t stop = min(end, e + (to - step));
    const bool ends_here = stop == end && step + (end - e) < to;
    const bool whole = ends_here && e == m.rows.begin(row);
    if (e < stop || whole) {
      float sum = 0;
      step += stop - e;
      for (; e < stop; ++e) sum += m.product(e);
      if (whole) {
        m.y[row] = sum;
      } else {
        add_to_tile(m.y, Piece{.tile = row, .begin = 0, .end = 0, .step = 1, .whole = false}, sum);
      }
    }
    if (ends_here) ++step;
    if (ends_here) ++row;
  }
}

void check(cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuSPARSE: %s\n", cusparseGetErrorString(status));
  std::exit(1);
}

/// cuSPARSE's product, prepared once.
class Peer {
 public:
  explicit Peer(const Matrix& m) {
    const auto rows = static_cast<std::int64_t>(m.rows.count);
    check(cusparseCreate(&handle_));
    check(cusparseCreateCsr(&matrix_, rows, rows, static_cast<std::int64_t>(m.rows.atoms),
                            const_cast<std::uint32_t*>(m.rows.offsets), m.columns, m.values,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_32F));
    check(cusparseCreateDnVec(&x_, rows, m.x, CUDA_R_32F));
    check(cusparseCreateDnVec(&y_, rows, m.y, CUDA_R_32F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_,
                                  &zero_, y_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    buffer_ = device_array<char>(bytes);
    check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_,
                                  &zero_, y_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer_));
  }
  Peer(const Peer&) = delete;
  ~Peer() {
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
    cudaFree(buffer_);
  }
  void run() {
    check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                       CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer_));
  }

 private:
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  char* buffer_ = nullptr;
  float one_ = 1, zero_ = 0;
};

std::vector<float> result_of(const Matrix& m) {
  std::vector<float> y(m.rows.count);
  GDELTA_CHECK(cudaMemcpy(y.data(), m.y, y.size() * 4, cudaMemcpyDeviceToHost));
  return y;
}

/// Rows of CSV for one matrix.
class Comparison {
 public:
  Comparison(const Workload& w, const Matrix& m) : name_(w.name), m_(m) {
    Peer peer(m);
    peer_ = gflops([&] { peer.run(); });
    expected_ = result_of(m);
  }
  /// `run` adds to y, which is cleared before.
  template <class Run>
  void report(const char* schedule, Run run) {
    report_whole(schedule, [&] {
      GDELTA_CHECK(cudaMemsetAsync(m_.y, 0, m_.rows.count * 4, nullptr));
      run();
    });
  }
  template <class Run>
  void report_whole(const char* schedule, Run run) {
    GDELTA_CHECK(cudaMemset(m_.y, 0xff, m_.rows.count * 4));
    const double own = gflops(run);
    if (result_of(m_) != expected_) {
      std::fprintf(stderr, "%s by %s: not what cuSPARSE says\n", name_, schedule);
      std::exit(1);
    }
    std::printf("%s,%s,%.2f,%.2f\n", name_, schedule, own, peer_);
    std::fflush(stdout);
  }
  template <class Schedule>
  void report_schedule(const char* name, Schedule schedule) {
    Planned<Schedule> planned(schedule, m_.rows);
    planned.plan();  // once a matrix, as cuSPARSE's
    report(name, [&] { planned.run(Multiply{m_}); });
  }
  /// Which stores every sum, so that nothing has to be cleared.
  void report_reduction(const char* name) {
    const SegmentOffsets<std::uint32_t> rows{m_.rows.offsets, m_.rows.count};
    const std::size_t bytes = segmented_reduce_scratch_bytes<float>(m_.rows.atoms, rows);
    auto* const scratch = device_array<unsigned char>(bytes);
    GDELTA_CHECK(plan_segmented_reduce<float>(m_.rows.atoms, rows, scratch, bytes,
                                              nullptr));  // once a matrix
    report_whole(name, [&] {
      GDELTA_CHECK(segmented_reduce(m_.rows.atoms, ProductOf{m_}, rows, m_.y, Plus{}, 0.0f, scratch,
                                    bytes, nullptr));
    });
    GDELTA_CHECK(cudaFree(scratch));
  }

 private:
  template <class Run>
  double gflops(Run run) const {
    return 2e-9 * static_cast<double>(m_.rows.atoms) / seconds_of(m_.rows, run);
  }
  const char* name_;
  Matrix m_;
  double peer_ = 0;
  std::vector<float> expected_;
};

void compare(const Workload& w, const Tiles& tiles) {
  const Matrix m{.rows = tiles,
                 .columns = device_array<std::uint32_t>(tiles.atoms),
                 .values = device_array<float>(tiles.atoms),
                 .x = device_array<float>(tiles.count),
                 .y = device_array<float>(tiles.count)};
  fill<<<4096, 256>>>(m);
  GDELTA_CHECK(cudaGetLastError());
  Comparison comparison(w, m);
  comparison.report_schedule("virtual_warps_1", VirtualWarps<1>{});
  comparison.report_schedule("virtual_warps_2", VirtualWarps<2>{});
  comparison.report_schedule("virtual_warps_4", VirtualWarps<4>{});
  comparison.report_schedule("virtual_warps_8", VirtualWarps<8>{});
  comparison.report_schedule("virtual_warps_32", VirtualWarps<32>{});
  comparison.report_schedule("warp_mapped", WarpMapped{});
  comparison.report_schedule("cta_warp_scan", CtaWarpScan{});
  comparison.report_schedule("two_phase_search", TwoPhaseSearch<>{});
  comparison.report_schedule("multi_phase_is1", MultiPhaseMapping<8, 1>{});
  comparison.report_schedule("merge_path", MergePath{});
  comparison.report("merge_path_by_hand", [&] {
    merge_path_by_hand<<<static_cast<unsigned>(MergePath{}.blocks(tiles)), MergePath::kThreads>>>(
        m);
  });
  comparison.report_reduction("segmented_reduce");
  auto* const on_device = device_array<TileStatistics>(1);
  TileStatistics statistics{};
  GDELTA_CHECK(measure_tiles(tiles, on_device, nullptr));
  GDELTA_CHECK(cudaMemcpy(&statistics, on_device, sizeof statistics, cudaMemcpyDeviceToHost));
  const ScheduleChoice choice = choose_schedule(tiles.count, tiles.atoms, statistics, kReduceCosts);
  if (choice.width == 0) {
    comparison.report_reduction("chosen");
  } else {
    with_schedule(choice, [&](auto schedule) { comparison.report_schedule("chosen", schedule); });
  }
  for (void* data :
       {static_cast<void*>(on_device), static_cast<void*>(m.columns), static_cast<void*>(m.values),
        static_cast<void*>(m.x), static_cast<void*>(m.y)})
    GDELTA_CHECK(cudaFree(data));
}

}  // namespace
}  // namespace gdelta::bench

int main() {
  std::printf("matrix,schedule,gflops,cusparse_gflops\n");
  gdelta::bench::for_each_workload(gdelta::bench::compare);
}
