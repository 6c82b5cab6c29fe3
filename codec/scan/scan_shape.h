// Makes the kernels' own description of a scan from the public one.
#pragma once

#include "gdelta/scan.h"
#include "kernels/scan/scan_types.h"

namespace gdelta {

/// Errors: invalid_argument.
Result<scan::Shape> scan_shape(const Scan& scan);

}  // namespace gdelta
