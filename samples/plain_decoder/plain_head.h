// Section 4 of the specification: a whole model, with its parts.
#pragma once

#include <cstdint>

#include "plain_coders.h"
#include "plain_front.h"

namespace plain_decoder {

/// `coder` is nullptr for the coders of values, 0 and 1.
inline void read_parts(Input& fields, const Column& column, std::uint64_t n, const Coder* coder,
                       Model& model) {
  const std::uint64_t part_groups = fields.varint();
  require(part_groups <= 1 << 22, "impossible parts");
  if (coder != nullptr && coder->pages) {
    require_known(part_groups >= 1 && part_groups * column.tuple <= 2048, "unknown pages");
  } else {
    require(128 * part_groups < n && (model.coder != 1 || part_groups == 0), "impossible parts");
  }
  model.part_tuples = part_groups == 0 ? n : 128 * part_groups;
  const std::uint64_t parts = divide_up(n, model.part_tuples);
  if (coder != nullptr && (coder->pages || parts > 1)) {
    Input ends = fields.take(4 * parts);
    while (ends.left() > 0) model.part_ends.push_back(ends.number(4));
  } else if (coder != nullptr) {
    model.part_ends = {model.section_bytes};
  }
  Input checks = fields.take(4 * parts);
  while (checks.left() > 0) model.part_checks.push_back(checks.number(4));
}

/// `in_segments`: the chunk says its segments.
inline Model read_model(Input& head, const Column& column, std::uint64_t n,
                        bool in_segments = false) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  Input fields = head.take(head.varint());
  Model model;
  model.section_bytes = model.column_bytes = fields.varint();
  model.coder = static_cast<int>(fields.number(1));
  const Coder* const coder = residual_coder(model.coder);
  require_known(coder != nullptr || !model.has_front(), "unknown coder");
  if (coder != nullptr) read_front(fields, column, n, in_segments, model);
  if (coder != nullptr)
    require(!model.says_states || coder->states_of_segments, "states that its pages have not");
  if (coder != nullptr && coder->read_fields != nullptr) coder->read_fields(fields, column, model);
  read_parts(fields, column, n, coder, model);
  fields.finish();
  if (model.coder == 0) require(model.column_bytes == n * tuple_bytes, "impossible section");
  if (model.coder == 1) require(model.column_bytes == tuple_bytes, "impossible section");
  if (coder != nullptr)
    require(model.section_bytes <= coder->most_bytes(model, column, n), "impossible section");
  for (std::size_t i = 1; i < model.part_ends.size(); ++i)
    require(model.part_ends[i] >= model.part_ends[i - 1], "the ends of the parts fall");
  if (coder != nullptr)
    require(model.part_ends.back() == model.section_bytes, "the last part ends elsewhere");
  return model;
}

}  // namespace plain_decoder
