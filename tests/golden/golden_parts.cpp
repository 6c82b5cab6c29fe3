#include "golden_parts.h"

namespace gdelta::plain::detail {

void one_chunk(std::vector<GoldenCase>& cases, const std::string& name, const std::string& record,
               std::size_t records, std::uint64_t step, const Choose& choose) {
  const Layout layout = parse_record(record).value();
  GoldenCase made{name, wandering_values(layout, records, step, cases.size() + 1), {}};
  std::vector<Choice> choices;
  for (const Column& column : layout.columns) choices.push_back(choose(column));
  made.stream = StreamBuilder().layout(layout).chunk(made.values, choices).finish(false);
  cases.push_back(std::move(made));
}

Choose packed_at(const std::vector<int>& orders) {
  return [orders](const Column& column) { return linked(Coder::pack, column, orders); };
}

Choose linked_as(Coder coder, const std::vector<int>& orders, ValueMap map,
                 const std::vector<std::pair<std::uint32_t, int>>& strides) {
  return [=](const Column& column) {
    Choice choice = linked(coder, column, orders);
    choice.model.front.map = map;
    for (const auto& [stride, order] : strides) choice = with_stride(choice, stride, order);
    return choice;
  };
}

}  // namespace gdelta::plain::detail
