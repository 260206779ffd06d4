// SpokenAnswer: an answer as it is said, piece by piece, and how much of it has been heard.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

class SpokenAnswer {
 public:
  /// `rate`: samples of a second of its sound.
  explicit SpokenAnswer(uint32_t rate) : rate_(rate) {}

  /// Adds the next part of its text.
  void write(std::string_view text) { text_ += text; }
  /// More of the sound of that piece of the text; pieces come one after the other, counted from 1.
  void say(uint32_t number, std::string_view piece, size_t samples);
  /// All of its text is there, and all of its sound.
  void end() { has_ended_ = true; }

  const std::string& text() const { return text_; }
  bool has_ended() const { return has_ended_; }
  /// Samples of its sound so far.
  uint64_t samples() const { return pieces_.empty() ? 0 : pieces_.back().end; }
  /// The text up to where somebody has heard it who has heard that many samples: whole pieces, and
  /// of the last one as many whole words as its share of the sound has letters.
  std::string heard(uint64_t played) const;

 private:
  struct Piece {
    std::string text;
    uint64_t begin = 0, end = 0;  // samples
  };

  uint32_t rate_;
  std::string text_;
  std::vector<Piece> pieces_;
  bool has_ended_ = false;
};

}  // namespace tokamak
