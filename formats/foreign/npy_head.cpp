#include "formats/foreign/npy_head.h"

#include <algorithm>
#include <vector>

#include "formats/foreign/byte_view.h"
#include "formats/foreign/python_literal.h"

namespace gdelta::format {

namespace {

constexpr std::size_t kMostDimensions = 64;
constexpr int kMostNestedFields = 16;

/// What the head's dictionary says.
struct NpyHead {
  std::vector<Column> fields;  // one, unless the array is structured
  bool structured = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// The column of a type string such as "<f4": byte order, kind, bytes.
std::optional<Column> parse_descr(std::string_view descr) {
  if (descr.size() < 3) return std::nullopt;
  const char order = descr[0];
  if (order != '<' && order != '>' && order != '=' && order != '|') return std::nullopt;
  const std::string_view kind = descr.substr(1);
  struct Known {
    std::string_view kind;
    Column column;
  };
  static constexpr Known kKnown[] = {
      {"b1", {ValueType::u8, 1}},
      {"i1", {ValueType::i8, 1}},
      {"u1", {ValueType::u8, 1}},
      {"i2", {ValueType::i16, 1}},
      {"u2", {ValueType::u16, 1}},
      {"i4", {ValueType::i32, 1}},
      {"u4", {ValueType::u32, 1}},
      {"i8", {ValueType::i64, 1}},
      {"u8", {ValueType::u64, 1}},
      {"f2", {ValueType::f16, 1}},
      {"f4", {ValueType::f32, 1}},
      {"f8", {ValueType::f64, 1}},
      {"c8", {ValueType::f32, 2}},
      {"c16", {ValueType::f64, 2}},
      // An extended double of x86: mantissa, then exponent and padding.
      {"f16", {ValueType::u64, 2}},
      {"c32", {ValueType::u64, 4}},
  };
  // Times carry their unit in brackets: "<M8[ns]".
  if (kind.starts_with("M8") || kind.starts_with("m8"))
    return Column{ValueType::i64, 1, order == '>'};
  for (const Known& known : kKnown)
    if (known.kind == kind) {
      Column column = known.column;
      column.big_endian = order == '>' && value_bytes(column.type) > 1;
      return column;
    }
  return std::nullopt;
}

/// Bytes of no numeric kind inside a structured array: padding "|V4", text "|S10".
bool append_bytes_field(std::string_view descr, std::vector<Column>& fields) {
  if (descr.size() < 3 || (descr[1] != 'V' && descr[1] != 'S')) return false;
  std::uint64_t left = 0;
  for (const char c : descr.substr(2)) {
    if (c < '0' || c > '9') return false;
    left = 10 * left + static_cast<std::uint64_t>(c - '0');
    if (left > kMaxRecordBytes) return false;
  }
  for (; left > 0; left -= std::min<std::uint64_t>(left, kMaxTuple))
    fields.push_back(
        {ValueType::u8, static_cast<std::uint8_t>(std::min<std::uint64_t>(left, kMaxTuple))});
  return true;
}

bool parse_fields(PythonLiteral& text, int depth, std::vector<Column>& fields);

/// Reads a field's type: a string such as "<f4", or a list of fields of its own.
bool parse_field_type(PythonLiteral& text, int depth, std::vector<Column>& fields) {
  if (text.next_is('[')) return parse_fields(text, depth + 1, fields);
  const auto descr = text.string();
  if (!descr) return false;
  const auto column = parse_descr(*descr);
  if (!column) return append_bytes_field(*descr, fields);
  fields.push_back(*column);
  return true;
}

/// Appends a field of `elements` times these columns. One column alone becomes a longer tuple, or as
/// many as it takes.
bool append_elements(const std::vector<Column>& element, std::uint64_t elements,
                     std::vector<Column>& fields) {
  if (element.size() != 1) {  // none, if a field has no bytes
    if (elements * element.size() > kMaxColumns) return false;
    for (; elements > 0; --elements) fields.insert(fields.end(), element.begin(), element.end());
    return true;
  }
  Column column = element[0];
  for (std::uint64_t values = elements * column.tuple; values > 0; values -= column.tuple) {
    if (fields.size() > kMaxColumns) return false;
    column.tuple = static_cast<std::uint8_t>(std::min<std::uint64_t>(values, kMaxTuple));
    fields.push_back(column);
  }
  return true;
}

/// `('x', '<f4')`, `('rgb', '|u1', (3,))`, `(('title', 'y'), '<f8')`, `('at', [('x', '<f4')])`
bool parse_field(PythonLiteral& text, int depth, std::vector<Column>& fields) {
  if (!text.take('(')) return false;
  const bool has_title = text.take('(');
  if (has_title && (!text.string() || !text.take(','))) return false;
  if (!text.string() || (has_title && !text.take(')')) || !text.take(',')) return false;
  std::vector<Column> element;
  if (!parse_field_type(text, depth, element)) return false;
  std::vector<std::uint64_t> shape;
  if (text.take(',') && text.next_is('(')) {
    if (!text.tuple(kMostDimensions, shape)) return false;
    text.take(',');
  }
  if (!text.take(')')) return false;
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) {
    if (dimension < 1 || dimension > kMaxRecordBytes) return false;
    elements *= dimension;
    if (elements > kMaxRecordBytes) return false;
  }
  return append_elements(element, elements, fields);
}

bool parse_fields(PythonLiteral& text, int depth, std::vector<Column>& fields) {
  if (depth > kMostNestedFields || !text.take('[')) return false;
  while (!text.take(']')) {
    if (!parse_field(text, depth, fields) || fields.size() > kMaxColumns) return false;
    if (!text.take(',') && !text.next_is(']')) return false;
  }
  return !fields.empty();
}

std::optional<NpyHead> parse_head(std::string_view literal) {
  PythonLiteral text(literal);
  NpyHead head;
  bool has_descr = false, has_order = false, has_shape = false;
  if (!text.take('{')) return std::nullopt;
  while (!text.take('}')) {
    const auto key = text.string();
    if (!key || !text.take(':')) return std::nullopt;
    if (*key == "descr" && !has_descr) {
      has_descr = true;
      head.structured = text.next_is('[');
      if (head.structured) {
        if (!parse_fields(text, 0, head.fields)) return std::nullopt;
      } else {
        const auto descr = text.string();
        const auto column = descr ? parse_descr(*descr) : std::nullopt;
        if (!column) return std::nullopt;
        head.fields.push_back(*column);
      }
    } else if (*key == "fortran_order" && !has_order) {
      has_order = true;
      const auto value = text.boolean();
      if (!value) return std::nullopt;
      head.fortran_order = *value;
    } else if (*key == "shape" && !has_shape) {
      has_shape = true;
      if (!text.tuple(kMostDimensions, head.shape)) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (!text.take(',') && !text.next_is('}')) return std::nullopt;
  }
  if (!has_descr || !has_order || !has_shape || !text.at_end()) return std::nullopt;
  return head;
}

/// Bytes of the array; nothing if no memory could hold it.
std::optional<std::uint64_t> array_bytes(const NpyHead& head) {
  std::uint64_t bytes = Layout{head.fields}.record_bytes();
  bool empty = false;
  for (const std::uint64_t dimension : head.shape) {
    empty |= dimension == 0;
    if (__builtin_mul_overflow(bytes, dimension == 0 ? 1 : dimension, &bytes)) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

/// What an array has more than one of, from the dimension that moves fastest in memory on.
std::vector<std::uint64_t> dimensions_by_speed(const NpyHead& head) {
  std::vector<std::uint64_t> dimensions;
  for (const std::uint64_t dimension : head.shape)
    if (dimension != 1) dimensions.push_back(dimension);
  if (!head.fortran_order) std::reverse(dimensions.begin(), dimensions.end());
  return dimensions;
}

/// Of an array with so many records along each dimension.
ArrayRows rows_of(std::span<const std::uint64_t> dimensions) {
  ArrayRows rows;
  if (dimensions.size() >= 2) rows.row_records = dimensions[0];
  if (dimensions.size() >= 3) rows.plane_records = dimensions[0] * dimensions[1];
  return rows;
}

/// Whether elements that stand next to each other along the first dimension are one tuple.
bool has_tuples(const NpyHead& head, std::span<const std::uint64_t> dimensions) {
  return !head.structured && dimensions.size() >= 2 && dimensions[0] >= 2 &&
         dimensions[0] <= kMostTupleDimension;
}

}  // namespace

std::optional<Recognised> recognise_npy(std::span<const std::byte> prefix,
                                        std::optional<std::uint64_t>) {
  const ByteView file(prefix);
  if (file.text(0, 6) != std::string_view("\x93NUMPY", 6)) return std::nullopt;
  const std::uint64_t version = file.number(6, 1);
  if (version < 1 || version > 3 || file.number(7, 1) != 0) return std::nullopt;
  const int length_bytes = version == 1 ? 2 : 4;
  const std::uint64_t literal_at = 8 + static_cast<std::uint64_t>(length_bytes);
  const std::uint64_t literal_bytes = file.number(8, length_bytes);
  if (!file.has(literal_at, literal_bytes)) return std::nullopt;

  auto head = parse_head(file.text(literal_at, literal_bytes));
  if (!head) return std::nullopt;
  const auto bytes = array_bytes(*head);
  if (!bytes) return std::nullopt;
  const std::vector<std::uint64_t> dimensions = dimensions_by_speed(*head);
  std::span<const std::uint64_t> of_records(dimensions);
  if (has_tuples(*head, dimensions)) {
    head->fields[0].tuple = static_cast<std::uint8_t>(head->fields[0].tuple * dimensions[0]);
    of_records = of_records.subspan(1);
  }
  return Recognised{.head_bytes = literal_at + literal_bytes,
                    .layout = Layout{std::move(head->fields)},
                    .data_bytes = *bytes,
                    .rows = rows_of(of_records)};
}

}  // namespace gdelta::format
