// Errors are values: a code, a place in the stream and a sentence that says what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tl/expected.hpp>

namespace gdelta {

/// What went wrong. Values are part of the API and do not change.
enum class Errc : int {
  ok = 0,
  truncated = 1,             ///< the stream ends before it says it does
  corrupt = 2,               ///< a check failed: the bytes are not what was written
  not_gdelta = 3,            ///< no gdelta stream starts here
  unsupported_version = 4,   ///< written by a later format version
  unsupported_feature = 5,   ///< an id this version does not know
  invalid_argument = 6,      ///< the caller asked for something that cannot be
  output_too_small = 7,      ///< the caller's buffer does not hold the result
  memory_limit = 8,          ///< decoding needs more memory than allowed
  out_of_memory = 9,         ///< the machine refused an allocation
  unsupported_backend = 10,  ///< this build or machine has no such device
  device_error = 11,         ///< a CUDA call failed
  io_error = 12,             ///< a source or sink failed
  needs_host = 13,           ///< a device call met a chunk that only the host decodes
  cancelled = 14,            ///< a callback asked to stop
  output_limit = 15,         ///< decoding gives more bytes than allowed
};

/// Short stable name of a code, e.g. "corrupt".
const char* errc_name(Errc code);

/// One error. Only `code` is meant for programs; `message` is one sentence for people.
struct Error {
  Errc code = Errc::ok;
  std::string message;
  std::optional<std::uint64_t> chunk;  ///< number of the chunk, from 0, if known
  std::optional<std::uint64_t> byte;   ///< offset in the compressed bytes, if known

  /// "chunk 3, byte 1234: ..." with the parts that are known.
  std::string to_string() const;
};

template <class T>
using Result = tl::expected<T, Error>;

/// An error in the form that Result<T> converts from.
tl::unexpected<Error> fail(Errc code, std::string message);
tl::unexpected<Error> fail_at(Errc code, std::uint64_t byte, std::string message);

}  // namespace gdelta
