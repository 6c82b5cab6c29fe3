// Strings are delay lines whose contents are averaged on every pass, which is how a plucked string loses its overtones;
// the room is four delays of coprime lengths fed back across the channels; the converter adds dither.
#include <algorithm>
#include <array>

#include "sample_generators.h"
#include "sample_noise.h"

namespace {

constexpr double kRate = 44100.0;

/// One plucked string, with its place between left (0) and right (1).
class PluckedString {
 public:
  PluckedString(double hertz, double loudness, double place, Noise& noise)
      : line_(static_cast<std::size_t>(kRate / hertz)), place_(place) {
    // The pick: noise, rounded off so that low notes do not hiss.
    double smooth = 0.0;
    for (double& sample : line_)
      sample = smooth += 0.4 * (loudness * noise.uniform(-1.0, 1.0) - smooth);
  }
  double next() {
    const std::size_t after = at_ + 1 == line_.size() ? 0 : at_ + 1;
    const double sample = line_[at_];
    line_[at_] = 0.4985 * (sample + line_[after]);
    at_ = after;
    return sample;
  }
  double place() const { return place_; }

 private:
  std::vector<double> line_;
  std::size_t at_ = 0;
  double place_;
};

class Room {
 public:
  /// Adds the echoes of what was heard before to both channels.
  void hear(double& left, double& right) {
    double echo_left = 0.0, echo_right = 0.0;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      (i % 2 ? echo_right : echo_left) += lines_[i][at(i)];
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      // Each delay feeds the other side, so the sound crosses the room.
      lines_[i][at(i)] = 0.55 * (i % 2 ? left + 0.6 * echo_left : right + 0.6 * echo_right);
    }
    ++now_;
    left += 0.35 * echo_left;
    right += 0.35 * echo_right;
  }

 private:
  std::size_t at(std::size_t i) const { return now_ % lines_[i].size(); }
  std::array<std::vector<double>, 4> lines_ = {std::vector<double>(1361), std::vector<double>(1693),
                                               std::vector<double>(2083),
                                               std::vector<double>(2477)};
  std::size_t now_ = 0;
};

double note_hertz(int semitones_above_a2) {
  return 110.0 * std::pow(2.0, semitones_above_a2 / 12.0);
}

std::int16_t on_converter(double sample, Noise& noise) {
  const double dither = noise.uniform() - noise.uniform();
  return static_cast<std::int16_t>(
      std::clamp(std::nearbyint(sample * 9000.0 + dither), -32768.0, 32767.0));
}

}  // namespace

std::vector<std::int16_t> make_music(std::size_t num_frames) {
  constexpr std::array<std::array<int, 4>, 4> kChords = {
      {{0, 7, 12, 16}, {5, 12, 17, 21}, {-3, 9, 12, 16}, {-5, 7, 14, 19}}};
  constexpr std::size_t kEighth = 11025;  // frames: 120 quarter notes a minute
  constexpr std::size_t kMaxVoices = 10;

  Noise noise(2);
  Room room;
  std::vector<PluckedString> voices;
  std::vector<std::int16_t> frames;
  frames.reserve(num_frames * 2);
  double brush = 0.0, brush_smooth = 0.0;
  for (std::size_t frame = 0; frame < num_frames; ++frame) {
    const std::size_t eighth = frame / kEighth;
    if (frame % kEighth == 0) {
      const auto& chord = kChords[eighth / 8 % kChords.size()];
      if (eighth % 4 == 0) voices.emplace_back(note_hertz(chord[0] - 12), 1.3, 0.5, noise);
      if (noise.uniform() < 0.85) {
        const int note = chord[1 + noise.bits() % 3] + (noise.uniform() < 0.2 ? 12 : 0);
        voices.emplace_back(note_hertz(note), noise.uniform(0.5, 1.0), noise.uniform(0.15, 0.85),
                            noise);
      }
      if (eighth % 2 == 1) brush = noise.uniform(0.15, 0.3);
      if (voices.size() > kMaxVoices) voices.erase(voices.begin());
    }
    double left = 0.0, right = 0.0;
    for (PluckedString& voice : voices) {
      const double sample = voice.next();
      left += (1.0 - voice.place()) * sample;
      right += voice.place() * sample;
    }
    brush *= 0.9995;
    brush_smooth += 0.3 * (brush * noise.uniform(-1.0, 1.0) - brush_smooth);
    left += 0.6 * brush_smooth;
    right += 0.4 * brush_smooth;
    room.hear(left, right);
    frames.push_back(on_converter(left, noise));
    frames.push_back(on_converter(right, noise));
  }
  return frames;
}
