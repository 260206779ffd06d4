// Names of spoken languages, as people and programs write them.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

/// Returns the name in a token's marks: "en" of "<|en|>"; other texts as they are.
std::string_view without_marks(std::string_view token);

/// Returns the one of a model's codes ("de") that is meant by a code in any case, a name in English
/// ("German", "Mandarin"), a locale ("de-AT", "pt_BR.UTF-8") or a token ("<|de|>"); "" for "" and
/// "auto", which leave the choice to the model.
/// Errors name the language and what the model knows. REQUIRES: codes.
Result<std::string> language_code(std::string_view text, const std::set<std::string>& known);

}  // namespace tokamak
