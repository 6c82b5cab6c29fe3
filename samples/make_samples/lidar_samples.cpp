// Every beam is followed to the nearest of the road, the boxes along it (houses, parked cars) and the poles. The range
// has the noise and the 4 mm step of a real instrument; intensity falls with the angle at which a surface is met.
#include <algorithm>
#include <array>
#include <numbers>
#include <optional>

#include "sample_generators.h"
#include "sample_noise.h"

namespace {

constexpr int kBeams = 64;
constexpr int kColumns = 1800;  // firings in one turn
constexpr double kMountHeight = 1.8;
constexpr double kMaxRange = 90.0;
constexpr double kRangeStep = 0.004;

using Vector = std::array<double, 3>;

struct Hit {
  double range;
  double cosine;  // between the beam and the normal of the surface
  double brightness;
};

struct Box {
  Vector low, high;
  double brightness;
};

struct Pole {
  double x, y, radius, height;
};

struct Street {
  std::vector<Box> boxes;
  std::vector<Pole> poles;
};

Street make_street(Noise& noise) {
  Street street;
  for (const double side : {-1.0, 1.0}) {
    for (double x = -120.0; x < 160.0;) {  // houses, with gaps between them
      const double width = noise.uniform(8.0, 22.0), front = side * noise.uniform(9.0, 12.0);
      const double back = front + side * 10.0;
      street.boxes.push_back({{x, std::min(front, back), 0.0},
                              {x + width, std::max(front, back), noise.uniform(5.0, 14.0)},
                              noise.uniform(0.3, 0.7)});
      x += width + noise.uniform(1.0, 7.0);
    }
    for (double x = -110.0; x < 150.0; x += noise.uniform(6.0, 25.0)) {  // parked cars
      const double y = side * 4.2;
      street.boxes.push_back(
          {{x, y - 0.9, 0.25}, {x + 4.3, y + 0.9, 1.5}, noise.uniform(0.2, 0.9)});
    }
    for (double x = -115.0; x < 155.0; x += 28.0)
      street.poles.push_back({.x = x, .y = side * 6.5, .radius = 0.09, .height = 7.0});
  }
  return street;
}

void keep_nearest(std::optional<Hit>& nearest, const Hit& hit) {
  if (hit.range > 1.0 && hit.range < kMaxRange && (!nearest || hit.range < nearest->range))
    nearest = hit;
}

void meet_box(const Box& box, const Vector& from, const Vector& along,
              std::optional<Hit>& nearest) {
  double enter = 0.0, leave = kMaxRange;
  int axis_met = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double inverse = 1.0 / along[axis];
    double near = (box.low[axis] - from[axis]) * inverse,
           far = (box.high[axis] - from[axis]) * inverse;
    if (near > far) std::swap(near, far);
    if (near > enter) enter = near, axis_met = axis;
    leave = std::min(leave, far);
    if (enter > leave) return;
  }
  keep_nearest(nearest, {enter, std::abs(along[axis_met]), box.brightness});
}

void meet_pole(const Pole& pole, const Vector& from, const Vector& along,
               std::optional<Hit>& nearest) {
  const double dx = from[0] - pole.x, dy = from[1] - pole.y;
  const double a = along[0] * along[0] + along[1] * along[1];
  const double b = dx * along[0] + dy * along[1];
  const double inside = b * b - a * (dx * dx + dy * dy - pole.radius * pole.radius);
  if (inside < 0.0) return;
  const double range = (-b - std::sqrt(inside)) / a;
  if (from[2] + range * along[2] > pole.height) return;
  keep_nearest(nearest, {range, std::sqrt(inside / a) / pole.radius, 0.8});
}

std::optional<Hit> follow_beam(const Street& street, const Vector& from, const Vector& along) {
  std::optional<Hit> nearest;
  if (along[2] < 0.0) keep_nearest(nearest, {-from[2] / along[2], -along[2], 0.25});
  for (const Box& box : street.boxes) meet_box(box, from, along, nearest);
  for (const Pole& pole : street.poles) meet_pole(pole, from, along, nearest);
  return nearest;
}

}  // namespace

std::vector<float> make_lidar(std::size_t num_sweeps) {
  Noise noise(3);
  const Street street = make_street(noise);
  std::vector<float> points;
  points.reserve(num_sweeps * kColumns * kBeams * 4);
  for (std::size_t sweep = 0; sweep < num_sweeps; ++sweep) {
    for (int column = 0; column < kColumns; ++column) {
      const double turn = 2.0 * std::numbers::pi * column / kColumns;
      const Vector from = {
          1.1 * (static_cast<double>(sweep) + column / static_cast<double>(kColumns)), -1.6,
          kMountHeight};
      for (int beam = 0; beam < kBeams; ++beam) {
        const double rise = (2.0 - 26.8 * beam / (kBeams - 1)) * std::numbers::pi / 180.0;
        const Vector along = {std::cos(rise) * std::cos(turn), std::cos(rise) * std::sin(turn),
                              std::sin(rise)};
        const std::optional<Hit> hit = follow_beam(street, from, along);
        if (!hit || noise.uniform() < 0.003) continue;
        const double range =
            kRangeStep * std::nearbyint((hit->range + 0.012 * noise.normal()) / kRangeStep);
        for (int axis = 0; axis < 3; ++axis)
          points.push_back(static_cast<float>(range * along[axis]));
        const double echo = hit->brightness * (0.3 + 0.7 * hit->cosine) + 0.02 * noise.normal();
        points.push_back(
            static_cast<float>(std::nearbyint(255.0 * std::clamp(echo, 0.0, 1.0)) / 255.0));
      }
    }
  }
  return points;
}
