// Streams of any length in bounded memory: a writer and a reader over the caller's sink and source.
#pragma once

#include <functional>
#include <memory>

#include "gdelta/codec.h"

namespace gdelta {

/// Takes compressed or decoded bytes, all of them. An error stops the stream and is handed on.
using Sink = std::function<Result<void>(std::span<const std::byte>)>;
/// Fills up to `buffer.size()` bytes and returns how many; 0 only at the end.
using Source = std::function<Result<std::size_t>(std::span<std::byte> buffer)>;
/// Reads exactly at an offset; returns how many bytes there were (fewer only at the end).
using ReadAt =
    std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> buffer)>;

/// Compresses what is written to it, one pass, in memory bounded by a few chunks for each thread.
/// Threads     one at a time; works on `options.threads` threads inside
class Writer {
 public:
  Writer(Sink sink, EncodeOptions options);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // what was not finished is lost: no end block is written

  /// Tells the length of the whole input where it is known, before the first write; lets file
  /// formats be recognised exactly.
  void set_total_bytes(std::uint64_t bytes);
  Result<void> write(std::span<const std::byte> values);
  /// Compresses and hands to the sink all that was written so far. A reader gets it back even if
  /// nothing more follows.
  Result<void> flush();
  /// Flushes, writes the end block. Nothing can be written afterwards.
  Result<void> finish();

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;
  /// What the numbers were taken for, once known (after 4 MiB or the first flush), and how:
  /// "given", "wav", "npy", "found".
  std::optional<Layout> layout() const;
  std::string_view layout_origin() const;
  /// "cpu", "cuda:0", ...: where the work is done.
  std::string device() const;
  /// Sentences for the user, e.g. that the GPU failed and the CPU took over. Cleared by the call.
  std::vector<std::string> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Result of reading a damaged file as far as it goes.
struct SalvageReport {
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;
  std::optional<Error> error;  ///< why it ended early; empty if the file was whole
};

/// Decodes every stream that `source` gives, in order, into `sink`.
class Reader {
 public:
  Reader(Source source, DecodeOptions options);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Decodes everything. On an error the sink has received whole, verified chunks before the one
  /// that failed.
  Result<void> run(const Sink& sink);
  /// Hands over every whole chunk before the first error.
  Result<SalvageReport> salvage(const Sink& sink);

  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;
  std::string device() const;
  std::vector<std::string> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Structure of a file that can be read anywhere, from its index or by walking its blocks; decodes
/// nothing. `with_models` also reads each chunk's head.
Result<StreamInfo> inspect(const ReadAt& read_at, std::uint64_t file_bytes, bool with_models);

/// Decoded bytes [begin, end) of such a file, into `sink`; reads only the chunks it needs.
Result<void> read_range(const ReadAt& read_at, std::uint64_t file_bytes, std::uint64_t begin,
                        std::uint64_t end, const Sink& sink, const DecodeOptions& options = {});

}  // namespace gdelta
