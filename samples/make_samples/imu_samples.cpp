// The accelerometer feels gravity in the attitude of the body, the bounce of the gait at the step rate and its
// harmonics, and the heel strike; the gyroscope the swing of the leg at half the step rate and slow turns. Both have a
// bias that wanders, white noise, and the resolution of their converter.
#include <array>
#include <numbers>

#include "sample_generators.h"
#include "sample_noise.h"

namespace {

constexpr double kRate = 200.0;  // rows per second
constexpr double kGyroStep =
    250.0 * std::numbers::pi / 180.0 / 32768.0;         // rad/s, range +-250 degrees per second
constexpr double kAccelStep = 4.0 * 9.80665 / 32768.0;  // m/s2, range +-4 g
constexpr double kTau = 2.0 * std::numbers::pi;

float on_converter(double value, double step) {
  return static_cast<float>(std::nearbyint(value / step)) * static_cast<float>(step);
}

/// A value that drifts towards `target` and is shaken a little on the way.
struct Wandering {
  double value = 0.0;
  void step(double target, double pull, double shake, Noise& noise) {
    value += pull * (target - value) + shake * noise.normal();
  }
};

}  // namespace

std::vector<float> make_imu(std::size_t num_rows) {
  Noise noise(1);
  std::vector<float> rows;
  rows.reserve(num_rows * 6);

  std::array<Wandering, 6> bias;
  Wandering cadence{1.8}, stride_strength, roll{0.1}, pitch{-0.3}, turn;
  double phase = 0.0, strength_goal = 1.0, turn_goal = 0.0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (noise.uniform() < 1.0 / (kRate * 20))
      strength_goal = noise.uniform() < 0.25 ? 0.0 : noise.uniform(0.7, 1.3);
    if (noise.uniform() < 1.0 / (kRate * 8))
      turn_goal = noise.uniform() < 0.6 ? 0.0 : noise.uniform(-0.8, 0.8);
    cadence.step(1.8, 1e-3, 2e-3, noise);
    stride_strength.step(strength_goal, 5e-3, 2e-3, noise);
    roll.step(0.1, 1e-3, 1e-3, noise);
    pitch.step(-0.3, 1e-3, 1e-3, noise);
    turn.step(turn_goal, 1e-2, 2e-3, noise);
    for (int lane = 0; lane < 6; ++lane) bias[lane].step(0.0, 1e-5, lane < 3 ? 2e-6 : 2e-5, noise);

    phase += kTau * cadence.value / kRate;  // one turn is a step, two are a stride
    const double gait = stride_strength.value;
    const double since_strike = phase / kTau - std::floor(phase / kTau);
    const double strike =
        gait * 6.0 * std::exp(-since_strike * 18.0) * std::cos(kTau * 9.0 * since_strike);
    const double bounce = gait * (2.1 * std::sin(phase) + 0.7 * std::sin(2 * phase + 0.6) +
                                  0.2 * std::sin(3 * phase));
    const double sway = gait * 0.9 * std::sin(0.5 * phase + 0.3);
    const double swing = gait * (1.6 * std::sin(0.5 * phase) + 0.3 * std::sin(phase + 1.1));

    const double gravity = 9.80665;
    const std::array<double, 6> truth = {
        swing,
        0.25 * gait * std::sin(phase + 0.4) + 0.1 * swing,
        turn.value + 0.2 * gait * std::sin(0.5 * phase + 1.0),
        gravity * std::sin(pitch.value) + 0.4 * bounce + 0.3 * strike,
        gravity * std::sin(roll.value) * std::cos(pitch.value) + sway,
        gravity * std::cos(roll.value) * std::cos(pitch.value) + bounce + strike};
    for (int lane = 0; lane < 6; ++lane) {
      const double sensed =
          truth[lane] + bias[lane].value + noise.normal() * (lane < 3 ? 1.2e-3 : 1.5e-2);
      rows.push_back(on_converter(sensed, lane < 3 ? kGyroStep : kAccelStep));
    }
  }
  return rows;
}
