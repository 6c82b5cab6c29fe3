// The streams that make_samples writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A phone in the pocket of somebody who walks, stops and turns: gyroscope (rad/s) and accelerometer (m/s2), x y z each,
/// at 200 Hz, on the steps of a 16-bit converter.  Returns [num_rows][6].
std::vector<float> make_imu(std::size_t num_rows);

/// Plucked strings, a bass and a brushed drum in a small room, 44.1 kHz.  Returns [num_frames][2], left and right.
std::vector<std::int16_t> make_music(std::size_t num_frames);

/// A 64-beam lidar on a car that drives down a street, in firing order: x y z (m) and intensity.  Returns [n][4]; beams
/// that meet nothing return no point, so n is less than sweeps x 1800 x 64.
std::vector<float> make_lidar(std::size_t num_sweeps);

/// One voice at 8 kHz, in words and pauses.  Returns [num_samples].
std::vector<std::int16_t> make_voice(std::size_t num_samples);

/// A thermometer that shows hundredths of a degree and often the same ones again.  Returns [num_rows].
std::vector<double> make_temperatures(std::size_t num_rows);

/// Microseconds since 1970 of a log at about 100 Hz with pauses.  Returns [num_rows].
std::vector<std::int64_t> make_times(std::size_t num_rows);

/// Column numbers of a sparse matrix, row by row.  Returns [num_entries].
std::vector<std::int32_t> make_sparse_columns(std::size_t num_entries);

/// Heights of a terrain that changes less from row to row than along a row.  Returns [num_rows][150].
std::vector<std::int32_t> make_grid(std::size_t num_rows);

/// A log of water gauges as text, a line a row.
std::string make_table(std::size_t num_rows);
