#include "generate/steps/image_step.h"

namespace tokamak {

ImageStepInputs::ImageStepInputs(const Plan& plan, const ImageRows& rows) : rows_(&rows) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use != BufferUse::kInput) continue;
    if (buffer.tensor.dtype == DType::kU32) {
      ends_buffer_ = BufferId(i);
    } else {
      angles_buffer_ = BufferId(i);
      width_ = size_t(buffer.tensor.shape[1]);
    }
  }
}

void ImageStepInputs::add(const TokenPlaces& places, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    if (ends_buffer_) ends_.push_back(places.end(i));
    if (!angles_buffer_) continue;
    angles_.resize(angles_.size() + width_);
    rows_->write_angles(places.place(i), std::span(angles_).last(width_));
  }
}

std::vector<InputWrite> ImageStepInputs::writes() const {
  std::vector<InputWrite> out;
  if (ends_buffer_) out.push_back({*ends_buffer_, std::as_bytes(std::span(ends_))});
  if (angles_buffer_) out.push_back({*angles_buffer_, std::as_bytes(std::span(angles_))});
  return out;
}

}  // namespace tokamak
