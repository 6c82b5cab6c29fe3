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

/// hashes[32 × number + thread] for the last lengths[number] of so many bytes.
__global__ void hash_kernel(const unsigned char* bytes, std::uint64_t num_bytes,
                            const std::uint64_t* lengths, int num_lengths, std::uint64_t* hashes) {
  __shared__ xxh3::SharedSecret secret;
  secret.load();
  __syncthreads();  // the secret is there
  for (int number = 0; number < num_lengths; ++number)
    hashes[32 * number + threadIdx.x] =
        xxh3::hash_by_warp(secret, bytes + num_bytes - lengths[number], lengths[number]);
}

/// Of the last so many of these bytes, which begin `skew` bytes behind a multiple of 16.
void expect_hashes(const std::vector<unsigned char>& bytes,
                   const std::vector<std::uint64_t>& lengths, std::size_t skew = 0) {
  const simulator::GuardedBytes room(bytes, skew, true);
  const int num_lengths = static_cast<int>(lengths.size());
  std::vector<std::uint64_t> hashes(32 * lengths.size());
  ASSERT_EQ(
      device::launch_kernel(hash_kernel, 1, 32, nullptr, room.data(), std::uint64_t{bytes.size()},
                            lengths.data(), num_lengths, hashes.data()),
      cudaSuccess);
  for (int number = 0; number < num_lengths; ++number)
    for (int thread = 0; thread < 32; ++thread)
      ASSERT_EQ(hashes[32 * number + thread],
                XXH3_64bits(bytes.data() + bytes.size() - lengths[number], lengths[number]))
          << lengths[number] << " bytes, skew " << skew << ", thread " << thread;
}

std::vector<unsigned char> random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST(HashSimulator, AgreesWithLibxxhashForAllLengthsUpTo5000) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t length = 0; length <= 5000; ++length) lengths.push_back(length);
  expect_hashes(random_bytes(5000), lengths);
}

TEST(HashSimulator, AgreesWithLibxxhashOnExtremeBytesAndOddAddresses) {
  for (const unsigned char fill : {0x00, 0xff, 0x80})
    for (std::size_t skew = 0; skew < 9; ++skew)
      expect_hashes(std::vector<unsigned char>(2100, fill),
                    {1, 16, 17, 128, 129, 240, 241, 1024, 1025, 2048}, skew);
}

TEST(HashSimulator, AgreesWithLibxxhashOnAMillionBytes) {
  expect_hashes(random_bytes(1'000'003), {1'000'003});
}

}  // namespace
}  // namespace gdelta
