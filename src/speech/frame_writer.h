// FrameWriter: the codes of what a model says, frame by frame. A token may only be a code of its
// own codebook, and the sound may only end between frames, so that every frame is whole.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "generate/sample/sampler.h"
#include "speech/voice_steps.h"

namespace tokamak {

/// The values of the model's authors; `max_tokens` of what is spoken at once.
struct FrameOptions {
  SamplingParams sampling = {
      .temperature = 1.0, .top_k = 50, .top_p = 0.95, .repetition_penalty = 1.1, .seed = {}};
  uint32_t max_tokens = 3000;
};

class FrameWriter {
 public:
  /// REQUIRES: both outlive it.
  static Result<FrameWriter> make(Program& program, const VoiceModel& model);

  /// Begins to say a text, `text` being the tokens of it alone. `speaker`: a row of
  /// VoiceModel::speaker_row(), or empty. Errors: a text that leaves no room for a frame; sampling
  /// out of range.
  Result<void> begin(std::span<const uint32_t> text, std::vector<float> speaker,
                     const FrameOptions& options);

  /// The next frame, a code of each codebook; none after the last.
  Result<std::optional<std::vector<uint32_t>>> next();

  /// Whether the last frame is the last since there was no room for more.
  bool is_cut() const { return is_cut_; }

 private:
  FrameWriter(const VoiceModel& model, VoiceSteps steps)
      : model_(&model), steps_(std::move(steps)), positions_(model) {}
  /// The code after what is pending; that of the end is the one after the last code.
  Result<uint32_t> choose(uint32_t group, bool may_end);

  const VoiceModel* model_;
  VoiceSteps steps_;
  FramePositions positions_;
  std::optional<Sampler> sampler_;
  std::vector<uint32_t> pending_;             // tokens that the model has not seen
  std::vector<std::vector<uint32_t>> codes_;  // of each codebook, so far
  uint32_t max_frames_ = 0;
  bool is_cut_ = false;
};

}  // namespace tokamak
