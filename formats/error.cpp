#include "gdelta/error.h"

#include <fmt/core.h>

namespace gdelta {

const char* errc_name(Errc code) {
  switch (code) {
    case Errc::ok:
      return "ok";
    case Errc::truncated:
      return "truncated";
    case Errc::corrupt:
      return "corrupt";
    case Errc::not_gdelta:
      return "not_gdelta";
    case Errc::unsupported_version:
      return "unsupported_version";
    case Errc::unsupported_feature:
      return "unsupported_feature";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::output_too_small:
      return "output_too_small";
    case Errc::memory_limit:
      return "memory_limit";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::unsupported_backend:
      return "unsupported_backend";
    case Errc::device_error:
      return "device_error";
    case Errc::io_error:
      return "io_error";
    case Errc::needs_host:
      return "needs_host";
    case Errc::cancelled:
      return "cancelled";
    case Errc::output_limit:
      return "output_limit";
  }
  return "unknown";
}

std::string Error::to_string() const {
  std::string place;
  if (chunk) place += fmt::format("chunk {}", *chunk);
  if (byte) place += fmt::format("{}byte {}", place.empty() ? "" : ", ", *byte);
  return place.empty() ? message : place + ": " + message;
}

tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::unexpected(Error{
      .code = code, .message = std::move(message), .chunk = std::nullopt, .byte = std::nullopt});
}

tl::unexpected<Error> fail_at(Errc code, std::uint64_t byte, std::string message) {
  return tl::unexpected(
      Error{.code = code, .message = std::move(message), .chunk = std::nullopt, .byte = byte});
}

}  // namespace gdelta
