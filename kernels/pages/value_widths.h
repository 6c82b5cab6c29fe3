// The widths of values that have page kernels, in bytes, for dispatchers whose kernels are one width a translation unit.
#pragma once

/// row(width)
#define GDELTA_VALUE_WIDTHS(row) row(1) row(2) row(3) row(4) row(8)
