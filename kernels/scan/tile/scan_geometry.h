// How a tile is cut into warps, threads and runs, for any tuple.
//
// A unit is a warp (two warps if the tuple is wider than 32). It owns `groups * tuple` runs:
// thread g * tuple + l walks lane l of group g, values tuple apart. Threads beyond groups * tuple
// idle, at most 12.5 % of them for tuples of up to 8. So the state is `order` words a thread,
// whatever the tuple.
#pragma once

#include <cstdint>

namespace gdelta::scan {

struct Geometry {
  int tuple;        ///< lanes, 1 ... 64
  int unit_warps;   ///< 1 or 2
  int units;        ///< a block has
  int groups;       ///< a unit has
  int unit_values;  ///< groups * tuple * run
  int tile_values;  ///< units * unit_values
};

inline Geometry make_geometry(int tuple, int warps, int run) {
  Geometry g;
  g.tuple = tuple;
  g.unit_warps = tuple <= 32 ? 1 : 2;
  g.units = warps / g.unit_warps;
  g.groups = tuple <= 32 ? 32 / tuple : 1;
  g.unit_values = g.groups * tuple * run;
  g.tile_values = g.units * g.unit_values;
  return g;
}

}  // namespace gdelta::scan
