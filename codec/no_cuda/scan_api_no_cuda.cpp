// What a build without CUDA answers to the device scan.
#include "gdelta/scan.h"

namespace gdelta {
namespace {

tl::unexpected<Error> no_cuda() {
  return fail(Errc::unsupported_backend, "this build of gdelta has no CUDA backend");
}

}  // namespace

Result<std::size_t> scan_scratch_bytes(const Scan& /*scan*/) { return no_cuda(); }

Result<void> scan_device(const Scan& /*scan*/, const void* /*in*/, void* /*out*/, void* /*scratch*/,
                         std::size_t /*scratch_bytes*/, ::CUstream_st* /*stream*/) {
  return no_cuda();
}

}  // namespace gdelta
