// The zstd coder's section: residuals as bytes, in standard frames. Spec: coders/zstd.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "codec/coders/residual_bytes.h"
#include "codec/coders/zstd_levels.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gdelta {

class Work;
class Workers;

/// Bytes of the shortest frame there is of a byte or more: magic number, two of a header that says how
/// many it holds, three of a block's, and one that it repeats.
inline constexpr std::uint64_t kShortestFrame = 10;

/// Decoded bytes of each frame of a part, or of a sample, of so many tuples.
std::uint64_t frame_bytes(const format::ColumnModel& model, const Column& column,
                          std::uint64_t tuples);

/// Compresses frames; reusable, one a thread. What it compressed before changes no byte. Costs nothing
/// until it has something to compress.
class FrameEncoder {
 public:
  FrameEncoder() = default;
  ~FrameEncoder();
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;
  /// Appends one frame, the shortest of those at `levels`.
  void encode(std::span<const unsigned char> bytes, ZstdLevels levels,
              std::vector<std::byte>& section, Work* work = nullptr);

 private:
  std::size_t encode_frame(std::span<const unsigned char> bytes, int zstd_level, std::byte* frame,
                           std::size_t room, Work* work);
  std::optional<std::size_t> encode_long_frame(std::span<const unsigned char> bytes, int zstd_level,
                                               std::byte* frame, std::size_t room, Work* work);

  ZSTD_CCtx_s* context_ = nullptr;
  std::vector<std::byte> other_;
};

class FrameDecoder {
 public:
  FrameDecoder();
  ~FrameDecoder();
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  /// The calling thread's own, as long as the thread lives: making one takes microseconds if asking the
  /// machine what it can do does.
  static FrameDecoder& of_thread();
  /// Whether `frame` is one standard frame that decodes to exactly out.size() bytes.
  bool decode(std::span<const unsigned char> frame, std::span<unsigned char> out);

 private:
  ZSTD_DCtx_s* context_;
};

/// Bytes of the standard frame that `bytes` begin with; 0 if they begin with none. What is in it is
/// not looked at.
std::size_t frame_size(std::span<const unsigned char> bytes);

/// Appends the frames that `bytes` are cut into.
void encode_frames(std::span<const unsigned char> bytes, std::uint64_t frame_bytes,
                   ZstdLevels levels, Workers& workers, std::vector<std::byte>& section,
                   Work* work = nullptr);

}  // namespace gdelta
