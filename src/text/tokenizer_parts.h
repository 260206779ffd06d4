// What a Tokenizer is made of. tokenizer_file.cpp fills it from JSON, gguf_vocab.cpp from a GGUF.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/role_tokens.h"
#include "text/token_model.h"
#include "text/tokenizer_config.h"

namespace tokamak {

struct TokenizerParts {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  TokenModelPtr model;
  AddedTokens added;
  PostProcessor post_processor;
  Decoder decoder;
  RoleTokens roles;
  bool split_special = false;  // special tokens in a text are plain text unless asked otherwise

  bool has_token(uint32_t id) const {
    return added.find(id) != nullptr || model->vocabulary().has(id);
  }
};

/// Errors name the file and the part of it that is wrong.
Result<TokenizerParts> read_tokenizer_parts(const TokenizerFiles& files);

}  // namespace tokamak
