// The special tokens that tokenizer_config.json names by what they do: "bos_token", "eos_token" and
// so on.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tokamak {

using RoleTokens = std::vector<std::pair<std::string, std::string>>;  // "bos_token" -> "<s>", ...

/// The text of a token that is given as such or as an object with "content"; null for others.
const Json* token_text(const Json& token);

/// Every member called "..._token" that is a token, and the tokens that "extra_special_tokens"
/// names, each name once. Nothing when `config` is no object.
RoleTokens read_role_tokens(const Json& config);

}  // namespace tokamak
