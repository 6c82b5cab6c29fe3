#include "offsets_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "gdelta/segment_stream.h"
#include "input_file.h"
#include "size_text.h"

namespace gdelta::cli {

namespace {

constexpr std::size_t kMostRead = std::size_t{1} << 20;
constexpr std::size_t kLeastRead = 4096;
constexpr std::size_t kNpyAlignment = 64;

// Beside the bytes of the file there are offsets of 64 bits, made of as few as 32.
constexpr std::uint64_t kTimesHeld = 3;

Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t memory_limit) {
  auto input = InputFile::open(path);
  if (!input) return tl::unexpected(input.error());
  const std::uint64_t size = input->size();
  std::vector<std::byte> bytes;
  if (size <= memory_limit / kTimesHeld) bytes.reserve(static_cast<std::size_t>(size));
  for (;;) {
    const std::size_t had = bytes.size();
    if (had > memory_limit / kTimesHeld)
      return fail(Errc::memory_limit,
                  fmt::format("reading these offsets takes {} times their bytes, more than the "
                              "memory limit of {}: raise the limit",
                              kTimesHeld, readable_bytes(memory_limit)));
    bytes.resize(had +
                 std::min<std::size_t>(kMostRead, std::max(bytes.capacity() - had, kLeastRead)));
    const auto got = input->read(std::span(bytes).subspan(had));
    if (!got) return tl::unexpected(got.error());
    bytes.resize(had + *got);
    if (*got == 0) return bytes;
  }
}

bool may_be_offset(const Column& column) {
  return column.tuple == 1 && !is_float(column.type) && value_bytes(column.type) != 3;
}

/// Negative numbers become large ones, which are no offsets.
std::uint64_t load_offset(std::span<const std::byte> value, const Column& type) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::size_t at = type.big_endian ? i : value.size() - 1 - i;
    offset = offset << 8 | std::to_integer<std::uint64_t>(value[at]);
  }
  const bool is_signed = static_cast<int>(type.type) % 2 == 0;
  const int spare = 64 - value_bits(type.type);
  if (!is_signed) return offset;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(offset << spare) >> spare);
}

Result<Offsets> parse_offsets(std::span<const std::byte> bytes, OffsetsForm form,
                              std::uint64_t records) {
  const auto step = static_cast<std::size_t>(form.type.bytes());
  Offsets read{.offsets = {}, .form = form};
  read.offsets.reserve(bytes.size() / step);
  for (std::size_t at = 0; at + step <= bytes.size(); at += step)
    read.offsets.push_back(load_offset(bytes.subspan(at, step), form.type));
  if (bytes.size() % step != 0)
    return fail(Errc::invalid_argument, fmt::format("holds no whole number of offsets of type {}",
                                                    to_string(Layout{{form.type}})));
  if (auto checked = check_offsets(read.offsets, records); !checked)
    return tl::unexpected(checked.error());
  return read;
}

/// Whether the shape in the head of an NPY file is that of a list: "(9,)", not "()" or "(3, 3)".
bool is_list(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::size_t said = text.find("shape");
  const std::size_t begin = text.find('(', said), end = text.find(')', begin);
  if (said == text.npos || end == text.npos) return false;
  const std::string_view shape = text.substr(begin + 1, end - begin - 1);
  const std::size_t comma = shape.find(',');
  return comma != shape.npos && shape.find_first_not_of(' ', comma + 1) == shape.npos;
}

std::string npy_head(std::uint64_t count, const Column& type) {
  const char kind = static_cast<int>(type.type) % 2 == 0 ? 'i' : 'u';
  const char order = value_bytes(type.type) == 1 ? '|' : type.big_endian ? '>' : '<';
  std::string text = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({},), }}",
                                 order, kind, value_bytes(type.type), count);
  constexpr std::size_t kBefore = 10;  // magic number, version, length
  const std::size_t used = kBefore + text.size() + 1;
  text.append((kNpyAlignment - used % kNpyAlignment) % kNpyAlignment, ' ');
  text += '\n';
  std::string head = "\x93NUMPY";
  head += '\x01';
  head += '\0';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

}  // namespace

std::string OffsetsForm::text() const { return (is_npy ? "npy " : "") + to_string(Layout{{type}}); }

OffsetsForm OffsetsForm::of(std::string_view text) {
  OffsetsForm form;
  form.is_npy = text.starts_with("npy ");
  if (form.is_npy) text.remove_prefix(4);
  const auto type = parse_type(text);
  if (!type || !may_be_offset(*type)) return {};
  form.type = *type;
  return form;
}

Result<Offsets> read_offsets(const std::string& path, std::uint64_t records,
                             std::uint64_t memory_limit) {
  const auto bytes = read_file(path, memory_limit);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto found = find_layout(*bytes);
  if (found && found->origin == "npy") {
    const auto arrays = find_arrays(*bytes);
    const Column type = found->layout.columns[0];
    if (!arrays || arrays->size() != 1 || !may_be_offset(type) ||
        !is_list(std::span(*bytes).first(static_cast<std::size_t>(arrays->front().begin))))
      return fail(Errc::invalid_argument,
                  "holds something other than one list of integers (an array of one dimension)");
    const FoundArray& array = arrays->front();
    return parse_offsets(std::span(*bytes).subspan(static_cast<std::size_t>(array.begin),
                                                   static_cast<std::size_t>(array.bytes)),
                         {.is_npy = true, .type = type}, records);
  }
  auto wide = parse_offsets(*bytes, {}, records);
  if (wide) return wide;
  auto narrow = parse_offsets(*bytes, {.type = {.type = ValueType::u32}}, records);
  // There are two complaints: the user hears the one about the type that the length speaks for.
  const bool is_wide = bytes->size() % 8 == 0 && bytes->size() >= 16 &&
                       std::all_of(bytes->begin() + 4, bytes->begin() + 8,
                                   [](std::byte b) { return b == std::byte{0}; });
  return narrow || !is_wide ? narrow : wide;
}

Result<void> check_segmented(std::uint64_t segments, const std::vector<MetadataEntry>& entries) {
  const bool said = std::any_of(entries.begin(), entries.end(), [](const MetadataEntry& entry) {
    return entry.key == kOffsetsKey;
  });
  if (segments > 0 || said) return {};
  return fail(Errc::invalid_argument, "has no segments: it was not made with --segments");
}

std::string offsets_head(std::uint64_t count, OffsetsForm form) {
  return form.is_npy ? npy_head(count, form.type) : "";
}

std::vector<std::byte> offsets_bytes(std::span<const std::uint64_t> offsets, OffsetsForm form) {
  std::vector<std::byte> bytes;
  const int width = value_bytes(form.type.type);
  bytes.reserve(offsets.size() * static_cast<std::size_t>(width));
  for (const std::uint64_t offset : offsets)
    for (int i = 0; i < width; ++i)
      bytes.push_back(
          static_cast<std::byte>(offset >> 8 * (form.type.big_endian ? width - 1 - i : i)));
  return bytes;
}

}  // namespace gdelta::cli
