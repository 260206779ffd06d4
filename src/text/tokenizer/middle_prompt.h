// Prompts of models that fill a gap (fill-in-the-middle): the text before it and the text after it,
// each led by a token of its own; what the model generates belongs between them. Bavarian et al.
// 2022, "Efficient Training of Language Models to Fill in the Middle".
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

class Tokenizer;

struct MiddlePrompt {
  std::vector<uint32_t> ids;
  /// The other ends of the middle: tokens that begin another file or fill up.
  std::vector<uint32_t> end_ids;
};

/// Special tokens within the texts are plain text. Errors: a tokenizer that has no such tokens.
Result<MiddlePrompt> middle_prompt(const Tokenizer& tokenizer, std::string_view before,
                                   std::string_view after);

}  // namespace tokamak
