// The parts of a Tokenizer. tokenizer_file.cpp fills them from JSON, gguf_vocab.cpp from a GGUF.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "text/template/role_tokens.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/decoder.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/post_processor.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/tokenizer_config.h"

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
