// What a build without CUDA answers to the device API.
#include "gdelta/device.h"

namespace gdelta {
namespace {

tl::unexpected<Error> no_cuda() {
  return fail(Errc::unsupported_backend, "this build of gdelta has no CUDA backend");
}

}  // namespace

std::uint64_t chunk_table_bytes(const Layout& /*layout*/, std::uint64_t /*num_chunks*/) {
  return 0;
}

Result<ChunkTable> make_chunk_table(const StreamInfo& /*info*/) { return no_cuda(); }

Result<std::uint64_t> device_decode_scratch_bytes(const ChunkTable& /*table*/,
                                                  std::uint64_t /*first_chunk*/,
                                                  std::uint64_t /*num_chunks*/) {
  return no_cuda();
}

Result<void> device_decode(const DeviceDecode& /*decode*/, DeviceStream /*cuda_stream*/) {
  return no_cuda();
}

Result<DevicePages> device_open_pages(const DeviceDecode& /*decode*/, std::size_t /*column*/,
                                      DeviceStream /*cuda_stream*/) {
  return no_cuda();
}

Result<void> device_close_pages(const DevicePages& /*pages*/, DeviceStream /*cuda_stream*/) {
  return no_cuda();
}

Result<std::uint64_t> device_encode_bound(const DeviceEncode& /*encode*/) { return no_cuda(); }

Result<std::uint64_t> device_encode_scratch_bytes(const DeviceEncode& /*encode*/) {
  return no_cuda();
}

Result<ChunkTable> device_encode_table(const DeviceEncode& /*encode*/) { return no_cuda(); }

Result<void> device_encode(const DeviceEncode& /*encode*/, DeviceStream /*cuda_stream*/) {
  return no_cuda();
}

}  // namespace gdelta
