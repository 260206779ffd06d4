// The part of Scheduler that knows of images: a step reads rows of one image at most, in a phase
// in which the host gives the angles of each row, of texts that are in the step as well.
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/image_step.h"

namespace tokamak {

Result<void> Scheduler::check_images(const Request& request) const {
  if (!request.images.empty() && options_.images == nullptr) {
    return fail(ErrorCode::kUsage,
                "The model was opened for text only, and the request has images.");
  }
  for (size_t i = 0; i < request.prompt.size();) {
    const uint32_t id = request.prompt[i];
    if (id < options_.vocab) {
      ++i;
      continue;
    }
    const auto begins_with = [id](const ImageRef& image) { return image->first_id == id; };
    const auto image = std::ranges::find_if(request.images, begins_with);
    if (image == request.images.end()) {
      return invalid_input("Token id {} is beyond the vocabulary of {} tokens.", id,
                           options_.vocab);
    }
    const std::vector<uint32_t> ids = (*image)->ids();
    const auto first = size_t(std::ranges::find(ids, id) - ids.begin());
    for (size_t n = first; n < ids.size(); ++n, ++i) {
      if (i < request.prompt.size() && request.prompt[i] == ids[n]) continue;
      return invalid_input("The prompt has {} of the {} tokens of an image, expected all.",
                           n - first, ids.size() - first);
    }
  }
  return {};
}

uint32_t Scheduler::step_tokens(const Sequence& sequence, uint32_t checkpoint, uint32_t budget,
                                uint32_t taken, bool has_image) const {
  auto count = std::min(sequence.left(), budget - taken);
  if (checkpoint > 0) count = std::min(count, checkpoint - sequence.position);
  if (sequence.position < sequence.replay_tokens) {
    count = std::min(count, sequence.steps.rest_of_step(sequence.position));
  }
  // An image that must be whole may be more than the budget, where nothing else is in the step.
  const uint32_t most = taken == 0 ? program_->plan().chunk() : count;
  return sequence.places.step_tokens(sequence.position, count, most, has_image);
}

Result<bool> Scheduler::encode_image(Sequence& sequence, uint32_t count) {
  const PromptImage* const image = sequence.places.image(sequence.position, count);
  if (image == nullptr) return true;
  const Result<void> encoded = options_.images->encode(*image);
  if (encoded) return true;
  if (encoded.error().code == ErrorCode::kDeviceLost) return Failure(encoded.error());
  finish(sequence, encoded.error());
  return false;
}

Result<std::vector<InputWrite>> Scheduler::prepare_images(ImageStepInputs& inputs,
                                                          std::span<const Slot> slots) {
  for (const Slot& slot : slots) {
    const TokenPlaces& places = slots_[slot.index]->places;
    inputs.add(places, slot.position, slot.count);
    const PromptImage* const image = places.image(slot.position, slot.count);
    if (image != nullptr) TOK_TRY(options_.images->upload(*program_, *image));
  }
  return inputs.writes();
}

}  // namespace tokamak
