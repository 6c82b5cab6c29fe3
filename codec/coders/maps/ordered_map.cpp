// Floats as integers that sort like them. Spec: formats/gdelta/maps/ordered.md.
#include "codec/coders/maps/value_map.h"

namespace gdelta {

const ColumnValueMap ordered_map{};

}  // namespace gdelta
