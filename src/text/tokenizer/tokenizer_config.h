// tokenizer_config.json with the files beside it, as one object (docs/tokenizers.md).
#pragma once
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tokamak {

/// The texts of the files of a tokenizer; empty where there is no file.
struct TokenizerFiles {
  std::string_view tokenizer;       // tokenizer.json
  std::string_view config;          // tokenizer_config.json
  std::string_view special_tokens;  // special_tokens_map.json
  std::string_view added_tokens;    // added_tokens.json
};

/// The object of `text`. Errors name `file`.
Result<Json> parse_object(std::string_view file, std::string_view text);

/// An empty object for an empty text.
Result<Json> read_object(std::string_view file, std::string_view text);

/// The members of tokenizer_config.json, and where that has no "added_tokens_decoder" those of
/// special_tokens_map.json instead of its own of the same names; lists of special tokens are
/// joined. As in transformers.
Result<Json> read_tokenizer_config(const TokenizerFiles& files);

}  // namespace tokamak
