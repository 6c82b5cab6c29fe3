// What a build without CUDA answers if CUDA is asked for.
#include "codec/backend/backend.h"

namespace gdelta {

Result<std::unique_ptr<Backend>> make_cuda_backend(const std::vector<int>& /*devices*/,
                                                   int /*threads*/) {
  return fail(Errc::unsupported_backend, "this build of gdelta has no CUDA backend");
}

std::vector<DeviceInfo> list_cuda_devices() { return {}; }

}  // namespace gdelta
