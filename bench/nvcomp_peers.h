// For benches: the codecs of nvCOMP (batched API), one like the other. Only if nvCOMP was found.
#pragma once

#include <nvcomp/ans.h>
#include <nvcomp/bitcomp.h>
#include <nvcomp/cascaded.h>
#include <nvcomp/gdeflate.h>
#include <nvcomp/lz4.h>
#include <nvcomp/zstd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "gdelta/types.h"

namespace gdelta::bench {

/// A batch of chunks, in device memory but for the numbers.
struct NvcompBatch {
  std::size_t num_chunks = 0;
  std::size_t chunk_bytes = 0;  // of every chunk
  const void* const* values = nullptr;
  const std::size_t* value_bytes = nullptr;
  void* const* packed = nullptr;
  std::size_t* packed_bytes = nullptr;
  void* const* decoded = nullptr;
  std::size_t* decoded_bytes = nullptr;
  nvcompStatus_t* statuses = nullptr;
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;

  std::size_t total_bytes() const { return num_chunks * chunk_bytes; }
};

struct NvcompPeer {
  std::string codec, level;
  std::function<std::size_t(const NvcompBatch&)> scratch_bytes;
  std::function<std::size_t(std::size_t chunk_bytes)> most_packed_bytes;
  std::function<bool(const NvcompBatch&)> encode, decode;  // enqueued; false: refused
};

// Every codec has its own functions, which differ in their names and options alone.
#define GDELTA_NVCOMP_PEER(Name, codec_name, level_name, encode_options, decode_options)           \
  NvcompPeer {                                                                                     \
    .codec = codec_name, .level = level_name,                                                      \
    .scratch_bytes =                                                                               \
        [=](const NvcompBatch& batch) {                                                            \
          std::size_t encoding = 0, decoding = 0;                                                  \
          nvcompBatched##Name##CompressGetTempSize(batch.num_chunks, batch.chunk_bytes,            \
                                                   encode_options, &encoding, batch.total_bytes(), \
                                                   nullptr);                                       \
          nvcompBatched##Name##DecompressGetTempSize(batch.num_chunks, batch.chunk_bytes,          \
                                                     decode_options, &decoding,                    \
                                                     batch.total_bytes(), nullptr);                \
          return std::max(encoding, decoding);                                                     \
        },                                                                                         \
    .most_packed_bytes =                                                                           \
        [=](std::size_t chunk_bytes) {                                                             \
          std::size_t most = 0;                                                                    \
          nvcompBatched##Name##CompressGetMaxOutputChunkSize(chunk_bytes, encode_options, &most);  \
          return most;                                                                             \
        },                                                                                         \
    .encode =                                                                                      \
        [=](const NvcompBatch& batch) {                                                            \
          return nvcompBatched##Name##CompressAsync(                                               \
                     batch.values, batch.value_bytes, batch.chunk_bytes, batch.num_chunks,         \
                     batch.scratch, batch.scratch_bytes, batch.packed, batch.packed_bytes,         \
                     encode_options, batch.statuses, nullptr) == nvcompSuccess;                    \
        },                                                                                         \
    .decode = [=](const NvcompBatch& batch) {                                                      \
      return nvcompBatched##Name##DecompressAsync(                                                 \
                 batch.packed, batch.packed_bytes, batch.value_bytes, batch.decoded_bytes,         \
                 batch.num_chunks, batch.scratch, batch.scratch_bytes, batch.decoded,              \
                 decode_options, batch.statuses, nullptr) == nvcompSuccess;                        \
    },                                                                                             \
  }

inline nvcompType_t nvcomp_type(int bytes) {
  return bytes == 1   ? NVCOMP_TYPE_UCHAR
         : bytes == 2 ? NVCOMP_TYPE_USHORT
         : bytes == 4 ? NVCOMP_TYPE_UINT
                      : NVCOMP_TYPE_ULONGLONG;
}

/// Those that know values of this type, at their best known settings for them.
inline std::vector<NvcompPeer> nvcomp_peers(ValueType type) {
  const int bytes = value_bytes(type);
  auto cascaded = nvcompBatchedCascadedCompressDefaultOpts;
  auto cascaded_back = nvcompBatchedCascadedDecompressDefaultOpts;
  cascaded.common_opts.data_type = nvcomp_type(bytes);
  cascaded.compression_level = 7;
  cascaded_back.common_opts = cascaded.common_opts;
  auto bitcomp = nvcompBatchedBitcompCompressDefaultOpts;
  bitcomp.data_type = nvcomp_type(bytes);
  const auto bitcomp_back = nvcompBatchedBitcompDecompressDefaultOpts;
  auto ans = nvcompBatchedANSCompressDefaultOpts;
  auto ans_back = nvcompBatchedANSDecompressDefaultOpts;
  ans.data_type = ans_back.data_type = NVCOMP_TYPE_UCHAR;
  const auto zstd = nvcompBatchedZstdCompressDefaultOpts;
  const auto zstd_back = nvcompBatchedZstdDecompressDefaultOpts;
  const auto gdeflate = nvcompBatchedGdeflateCompressDefaultOpts;
  const auto gdeflate_back = nvcompBatchedGdeflateDecompressDefaultOpts;
  const auto lz4 = nvcompBatchedLZ4CompressDefaultOpts;
  const auto lz4_back = nvcompBatchedLZ4DecompressDefaultOpts;
  std::vector<NvcompPeer> peers{
      GDELTA_NVCOMP_PEER(Cascaded, "cascaded", "7", cascaded, cascaded_back),
      GDELTA_NVCOMP_PEER(Bitcomp, "bitcomp", "", bitcomp, bitcomp_back),
      GDELTA_NVCOMP_PEER(ANS, "ans", "u8", ans, ans_back),
      GDELTA_NVCOMP_PEER(Zstd, "zstd", "", zstd, zstd_back),
      GDELTA_NVCOMP_PEER(Gdeflate, "gdeflate", "", gdeflate, gdeflate_back),
      GDELTA_NVCOMP_PEER(LZ4, "lz4", "", lz4, lz4_back)};
  if (bytes >= 4) {
    cascaded.common_opts.mode = cascaded_back.common_opts.mode = NVCOMP_CASCADED_MODE_SYMMETRIC;
    peers.push_back(GDELTA_NVCOMP_PEER(Cascaded, "cascaded", "symmetric", cascaded, cascaded_back));
  }
  if (type == ValueType::f32) {
    ans.data_type = ans_back.data_type = NVCOMP_TYPE_FLOAT32;
    peers.push_back(GDELTA_NVCOMP_PEER(ANS, "ans", "f32", ans, ans_back));
  }
  return peers;
}

#undef GDELTA_NVCOMP_PEER

}  // namespace gdelta::bench
