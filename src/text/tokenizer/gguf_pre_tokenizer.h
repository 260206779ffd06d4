// The names of "tokenizer.ggml.pre": how a byte-level vocabulary wants its text cut into words.
#pragma once
#include <string_view>

#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"

namespace tokamak {

struct GgufPreTokenizer {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges;  // a word that is a token needs no merges
  bool add_bos;        // when the file does not say
};

/// `name` may be empty, which means "default". Fails for a name that is not known.
Result<GgufPreTokenizer> find_gguf_pre_tokenizer(std::string_view name);

}  // namespace tokamak
