// The forms of `prompt` and `input`: a text, a list of texts, token ids, a list of those.
#pragma once
#include <string>
#include <vector>

#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// A list of token ids, each of them of the model's vocabulary.
Answer<std::vector<uint32_t>> token_ids(const Json& list, std::string_view field, uint32_t vocab);

/// The forms that `prompt` and `input` have.
struct Texts {
  std::vector<std::string> texts;
  std::vector<std::vector<uint32_t>> ids;  // in place of texts
};
Answer<Texts> texts_of(const Json& value, std::string_view field, uint32_t vocab, size_t most);

}  // namespace tokamak::protocol
