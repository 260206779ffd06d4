// The tokens of a GGUF vocabulary that have a part to play: which ids the file may name, what
// counts where it names none, and which tokens end an answer.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer/gguf_vocab.h"

namespace tokamak {

/// Takes away the ids that the vocabulary does not have, which files in use name for tokens that
/// nobody needs, and sets those that are missing to what that kind of vocabulary has there.
/// Returns a sentence for each id that was taken away.
std::vector<std::string> settle_roles(GgufVocab& vocab);

/// The tokens that end an answer: those the file names, then those known by their texts. Files name
/// one end, models have more: those of Gemma 3 say <eos> and write <end_of_turn>.
std::vector<uint32_t> gguf_end_ids(const GgufVocab& vocab);

}  // namespace tokamak
