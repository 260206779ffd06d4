// The inputs of each row of a step of the phase for images, beside its token: the angles of its
// place, and the end of the image that it is of. Both where the plan has them.
#pragma once
#include <vector>

#include "generate/steps/image_rows.h"

namespace tokamak {

class ImageStepInputs {
 public:
  ImageStepInputs(const Plan& plan, const ImageRows& rows);

  /// The next `count` rows are those tokens of a sequence.
  void add(const TokenPlaces& places, uint32_t first, uint32_t count);
  /// For StepRequest::inputs, as long as this lives and add() is not called.
  std::vector<InputWrite> writes() const;

 private:
  const ImageRows* rows_;
  std::optional<BufferId> angles_buffer_, ends_buffer_;
  size_t width_ = 0;  // of the angles of a row
  std::vector<float> angles_;
  std::vector<uint32_t> ends_;
};

}  // namespace tokamak
