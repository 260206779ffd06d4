// The words that a prompt has between the rows of an image, where the model was trained on some.
#pragma once
#include <string>
#include <vector>

#include "vision/patch_places.h"

namespace tokamak {

struct WordsOfRows {
  std::string before;  // "": none
  uint32_t rows = 0;   // that follow; 0: the words end the image
};

/// All rows of an image with the words between them; nothing where a model has none. `rows` is
/// their grid, `squares` that of the parts into which the image is cut.
std::vector<WordsOfRows> words_of_rows(const VisionTower& tower, const PatchGrid& rows,
                                       const PatchGrid& squares);

}  // namespace tokamak
