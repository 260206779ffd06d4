// Models that speak: decoders that go on after a text with the codes of its sound, of which a codec
// makes samples. One file per family in arch/.
//
// A frame of the sound is a token for each of the codec's codebooks, in their order. Positions
// count the tokens of a text one by one, but all those of a frame share one, and the next frame
// stands a step further, which need not be a whole number: the host gives the angles of each row.
// Layers turn by frequencies of their own.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "model/config.h"

namespace tokamak {

/// The input that has the angles of each row for that layer: its cosines, then its sines.
std::string voice_angles(uint32_t layer);

struct VoiceModel {
  uint32_t audio_start = 0;  // code k of codebook c is the token audio_start + c codes + k
  uint32_t groups = 0;       // codebooks, which is how many tokens a frame has
  uint32_t codes = 0;        // of each codebook
  double step = 1;           // from the position of a frame to that of the next
  /// The tokens around the parts of a prompt and of the sound.
  uint32_t start_of_text = 1, end_of_text = 2;
  uint32_t start_of_speech = 0, end_of_speech = 0, start_of_human = 0, end_of_human = 0;
  uint32_t start_of_ai = 0;
  /// The factors of positions in each layer with attention.
  std::map<uint32_t, std::vector<float>> frequencies;
  /// From the numbers that describe a speaker to a row of hidden states: [hidden, speaker_size];
  /// none where the model has one voice.
  std::vector<float> speakers;
  uint32_t speaker_size = 0;

  uint32_t vocab() const { return audio_start + groups * codes; }
  /// The token that stands for the row of a speaker.
  uint32_t speaker_id() const { return vocab(); }
  bool is_code(uint32_t id) const { return id >= audio_start && id < vocab(); }
  /// The angles of a row at that position, which voice_angles(layer) wants. REQUIRES: the layer has
  /// frequencies; out has two numbers for each.
  void write_angles(uint32_t layer, float position, std::span<float> out) const;
  /// The row of a speaker. Errors: the model has one voice; not as many numbers as it takes;
  /// numbers that are none.
  Result<std::vector<float>> speaker_row(std::span<const float> speaker) const;
};

/// The positions of tokens, one after the other.
class FramePositions {
 public:
  /// REQUIRES: the model outlives it.
  explicit FramePositions(const VoiceModel& model) : model_(&model) {}
  float next(uint32_t id);

 private:
  const VoiceModel* model_;
  uint32_t texts_ = 0, codes_ = 0;  // tokens before it
};

}  // namespace tokamak
