// --chat-template: which template a chat puts its messages through.
#pragma once
#include <string>
#include <string_view>

#include "apps/cli/line/options.h"
#include "engine/engine.h"

namespace tokamak::cli {

Option* add_chat_template(App& command, std::string& flag);

struct TemplateChoice {
  std::string jinja;  // "": the model's own
  std::string end;    // what ends an answer besides the model's own end tokens; "": nothing
};

/// `flag`: "", a file, chatml, gemma or llama3. Another name may be one of the model's own, for
/// find_own_template().
Result<TemplateChoice> choose_template(const std::string& flag);

/// Once the model is open: looks the name up, and makes sure that there is a template at all.
Result<void> find_own_template(const std::string& flag, const ModelFiles& files,
                               TemplateChoice& choice);

/// Lets an answer end where the template says it does.
Result<void> add_end(const TemplateChoice& choice, const Tokenizer& tokenizer,
                     GenerationParams& params);

}  // namespace tokamak::cli
