#include "codec/coders/maps/value_map.h"

#include "kernels/words/value_maps.h"

namespace gdelta {

// The tables of value maps have the same rows.
#define GDELTA_NUMBER(Type, number) +(1 << (number))
static_assert((GDELTA_MAP_KERNELS(GDELTA_NUMBER) GDELTA_FIELD_MAP_KERNELS(GDELTA_NUMBER)) ==
              (1 << kNumValueMaps) - 2);
#undef GDELTA_NUMBER

const ColumnValueMap& column_value_map(ValueMap map) {
  static constexpr const ColumnValueMap* kMaps[] = {
#define GDELTA_ADDRESS(name, ...) &name##_map,
      GDELTA_VALUE_MAPS(GDELTA_ADDRESS)
#undef GDELTA_ADDRESS
  };
  return *kMaps[static_cast<int>(map) - 1];
}

}  // namespace gdelta
