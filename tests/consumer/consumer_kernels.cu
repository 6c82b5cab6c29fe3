// Whoever includes an installed header of kernels compiles them: nothing may be missing.
#include "gdelta/pages/page_reader.cuh"
#include "gdelta/primitives/compact.cuh"
#include "gdelta/primitives/segmented_reduce.cuh"
#include "gdelta/primitives/segmented_scan_host.h"
#include "gdelta/primitives/segmented_sums.cuh"
#include "gdelta/scan_custom.cuh"
#include "gdelta/schedules/merge_path.cuh"

cudaError_t sums(const gdelta::SegmentedScan& scan, const unsigned* in, unsigned* out,
                 const gdelta::HeadFlags& flags, void* scratch, std::size_t bytes) {
  return gdelta::segmented_sums<2>(scan, in, out, flags, scratch, bytes, nullptr);
}

struct Larger {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a < b ? b : a; }
};

cudaError_t maxima(std::uint64_t count, const unsigned* in, unsigned* out,
                   const gdelta::SegmentOffsets<std::uint64_t>& segments, void* scratch,
                   std::size_t bytes) {
  using gdelta::custom_scan::FromArray;
  if (const cudaError_t error =
          gdelta::plan_segmented_reduce<unsigned>(count, segments, scratch, bytes, nullptr))
    return error;
  return gdelta::segmented_reduce(count, FromArray<unsigned>{in}, segments, out, Larger{}, 0u,
                                  scratch, bytes, nullptr);
}

cudaError_t running_maximum(const gdelta::CustomScan& scan, const unsigned* in, unsigned* out,
                            void* scratch, std::size_t bytes) {
  return gdelta::scan_custom(scan, in, out, Larger{}, 0u, scratch, bytes, nullptr);
}

using Reader = gdelta::PageReader<float, 3>;
struct CountBefore {
  unsigned long long* count;
  std::uint64_t record;
  __device__ void operator()(const Reader::Run& run) const {
    if (run.first() < record) atomicAdd(count, static_cast<unsigned long long>(run.count()));
  }
};
__global__ void __launch_bounds__(Reader::kThreads, Reader::kBlocks)
    count_before(gdelta::DevicePages pages, CountBefore work) {
  Reader::for_each_run(pages, work);
}

cudaError_t read(const gdelta::DevicePages& pages, const CountBefore& work) {
  return gdelta::launch_reader<Reader, count_before>(pages, nullptr, pages, work);
}
