// One chunk decoded and checked on the CPU. Spec: spec.md, sections 5 to 8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/gdelta/chunk_head.h"
#include "gdelta/error.h"
#include "gdelta/types.h"

namespace gdelta {

/// Decodes the chunk block at the start of `block` into `out`, exactly its decoded bytes.
/// Units       `byte` is where the block starts in the file, for errors
/// Errors      the first check of spec.md, section 8 that fails; output_too_small where `out` is
///             not as long as the chunk's records; on error `out` is unspecified
/// Complexity  one pass; scratch of a page, of a column where it has strides or is zstd
/// Threads     any number of calls at once
std::optional<Error> decode_chunk(std::span<const std::byte> block, std::uint64_t byte,
                                  const Layout& layout, std::span<std::byte> out, bool verify);

/// What decode_chunk holds, at most, while it works on a column whose head has been parsed: copies of
/// the column, words of a page, zstd's own memory.
std::uint64_t decode_scratch_bytes(const Column& column, const format::ColumnHead& head,
                                   std::uint64_t records);
/// And beside that, whatever the column.
std::uint64_t parsed_chunk_bytes(const Layout& layout);

}  // namespace gdelta
