// The hash that a warp takes on the simulated device, against libxxhash.
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>
#include <vector>

#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "simulator/guarded_bytes.h"

namespace gdelta {
namespace {

/// hashes[32 × length + thread] for the last `length` bytes of so many, each length from 0 on.
__global__ void hash_kernel(const unsigned char* bytes, int most, std::uint64_t* hashes) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  for (int length = 0; length <= most; ++length)
    hashes[32 * length + threadIdx.x] =
        xxh3::hash_by_warp(secret, bytes + most - length, static_cast<std::uint64_t>(length));
}

TEST(HashSimulator, AllThreadsHaveThatOfLibxxhashForEveryLengthAndAddress) {
  constexpr int kMost = 2500;  // two blocks of stripes and more
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(kMost);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  const simulator::GuardedBytes room(bytes, 0, true);
  std::vector<std::uint64_t> hashes(32 * (kMost + 1));
  ASSERT_EQ(device::launch_kernel(hash_kernel, 1, 32, nullptr, room.data(), kMost, hashes.data()),
            cudaSuccess);
  for (int length = 0; length <= kMost; ++length)
    for (int thread = 0; thread < 32; ++thread)
      ASSERT_EQ(hashes[32 * length + thread],
                XXH3_64bits(bytes.data() + kMost - length, static_cast<std::size_t>(length)))
          << length << " bytes, thread " << thread;
}

}  // namespace
}  // namespace gdelta
