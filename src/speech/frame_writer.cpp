#include "speech/frame_writer.h"

#include <algorithm>

namespace tokamak {

Result<FrameWriter> FrameWriter::make(Program& program, const VoiceModel& model) {
  TOK_TRY(VoiceSteps steps, VoiceSteps::start(program, model));
  return FrameWriter(model, std::move(steps));
}

Result<void> FrameWriter::begin(std::span<const uint32_t> text, std::vector<float> speaker,
                                const FrameOptions& options) {
  TOK_TRY(sampler_, Sampler::make(options.sampling));
  pending_ = {model_->start_of_human};
  if (!speaker.empty()) pending_.push_back(model_->speaker_id());
  pending_.push_back(model_->start_of_text);
  pending_.insert(pending_.end(), text.begin(), text.end());
  for (const uint32_t id :
       {model_->end_of_text, model_->end_of_human, model_->start_of_ai, model_->start_of_speech}) {
    pending_.push_back(id);
  }
  TOK_TRY(steps_.begin(std::move(speaker)));
  if (pending_.size() + model_->groups > steps_.room()) {
    return invalid_input("The text has {} tokens, which leaves no room for its sound among {}.",
                         text.size(), steps_.room());
  }
  positions_ = FramePositions(*model_);
  codes_.assign(model_->groups, {});
  max_frames_ = options.max_tokens / model_->groups;
  is_cut_ = false;
  return {};
}

Result<uint32_t> FrameWriter::choose(uint32_t group, bool may_end) {
  std::vector<float> positions;
  for (const uint32_t id : pending_) positions.push_back(positions_.next(id));
  TOK_TRY(const std::span<const float> logits, steps_.feed(pending_, positions));
  const auto own = logits.subspan(model_->audio_start + group * model_->codes, model_->codes);
  std::vector<float> allowed(own.begin(), own.end());
  if (may_end) allowed.push_back(logits[model_->end_of_speech]);
  TOK_TRY(const uint32_t code, sampler_->next(allowed, codes_[group], codes_[group].size()));
  pending_.clear();
  if (code < model_->codes) {
    codes_[group].push_back(code);
    pending_ = {model_->audio_start + group * model_->codes + code};
  }
  return code;
}

Result<std::optional<std::vector<uint32_t>>> FrameWriter::next() {
  const size_t frames = codes_[0].size();
  is_cut_ = frames == max_frames_ || steps_.room() < pending_.size() + model_->groups;
  if (is_cut_) return std::nullopt;
  std::vector<uint32_t> frame;
  for (uint32_t group = 0; group < model_->groups; ++group) {
    TOK_TRY(const uint32_t code, choose(group, group == 0 && frames > 0));
    if (code == model_->codes) return std::nullopt;
    frame.push_back(code);
  }
  return frame;
}

}  // namespace tokamak
