// The three streams that make_samples writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// A phone in the pocket of somebody who walks, stops and turns: gyroscope (rad/s) and accelerometer (m/s2), x y z each,
/// at 200 Hz, on the steps of a 16-bit converter.  Returns [num_rows][6].
std::vector<float> make_imu(std::size_t num_rows);

/// Plucked strings, a bass and a brushed drum in a small room, 44.1 kHz.  Returns [num_frames][2], left and right.
std::vector<std::int16_t> make_music(std::size_t num_frames);

/// A 64-beam lidar on a car that drives down a street, in firing order: x y z (m) and intensity.  Returns [n][4]; beams
/// that meet nothing return no point, so n is less than sweeps x 1800 x 64.
std::vector<float> make_lidar(std::size_t num_sweeps);
