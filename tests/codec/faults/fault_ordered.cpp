// Faults of the ordered map; fault_models.cpp has those of a whole column.

#include "codec/faults/fault_parts.h"

namespace gdelta::faults {

void add_faults_of_ordered(FaultTable& table) {
  add_wrong_types(table, {ValueMap::ordered}, {"i16"});
}

}  // namespace gdelta::faults
