#include "codec/stream/input_planner.h"

#include <algorithm>
#include <utility>

#include "codec/detect/detect.h"

namespace gdelta {

InputPart InputPlanner::look(std::span<const std::byte> ahead,
                             std::optional<std::uint64_t> bytes_left) {
  if (!std::exchange(looked_, true)) return look_first(ahead, bytes_left);
  // Whatever decodes on a device has one layout.
  if (options_->device_decodable) return {.head_bytes = InputPart::kToTheEnd};
  const auto before = std::exchange(before_, std::nullopt);
  if (auto array = format::recognise_next(before ? &*before : nullptr, ahead, bytes_left))
    return tell(std::move(*array));
  const bool is_rest = ahead.size() < format::kNextPrefixBytes;
  return {.head_bytes = is_rest ? ahead.size() : format::kNextStepBytes};
}

InputPart InputPlanner::look_first(std::span<const std::byte> sample,
                                   std::optional<std::uint64_t> total_bytes) {
  if (!options_->layout)
    if (auto array = format::recognise(sample, total_bytes);
        array && !(array->in_archive && options_->device_decodable)) {
      origin_ = array->name;
      // What the first file of an archive says is not said of the others.
      if (!array->in_archive) metadata_ = array->metadata;
      return tell(std::move(*array));
    }
  origin_ = options_->layout ? kGivenOrigin : kFoundOrigin;
  if (!options_->layout) advice_ = format::advice_on(sample);
  layout_ = std::make_shared<const Layout>(
      options_->layout ? *options_->layout : detect_layout(sample, options_->level));
  plain_bytes_ = !options_->layout && *layout_ == byte_layout();
  num_arrays_ = 1;
  return {.data_bytes = InputPart::kToTheEnd, .record_bytes = layout_->record_bytes()};
}

InputPart InputPlanner::tell(format::Recognised array) {
  before_ = std::move(array);
  if (!layout_ || *layout_ != before_->layout)
    layout_ = std::make_shared<const Layout>(before_->layout);
  rows_ = before_->rows;
  ++num_arrays_;
  return {.head_bytes = before_->head_bytes,
          .data_bytes = before_->data_bytes,
          .record_bytes = layout_->record_bytes()};
}

EncodeSettings InputPlanner::settings() const {
  return {.level = options_->level,
          .order = options_->order,
          .stride = options_->stride,
          .coder = options_->coder,
          .device_decodable = options_->device_decodable,
          .maps = options_->maps,
          .plain_bytes = plain_bytes_};
}

LayoutNote InputPlanner::note() const {
  return {.level = static_cast<std::uint8_t>(options_->level),
          .origin = origin_ == kGivenOrigin   ? LayoutOrigin::given
                    : origin_ == kFoundOrigin ? LayoutOrigin::found
                                              : LayoutOrigin::file_format};
}

std::vector<MetadataEntry> InputPlanner::metadata() const {
  const auto& given = options_->metadata;
  std::vector<MetadataEntry> all;
  for (const MetadataEntry& entry : metadata_)
    if (std::none_of(given.begin(), given.end(),
                     [&entry](const MetadataEntry& other) { return other.key == entry.key; }))
      all.push_back(entry);
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

}  // namespace gdelta
