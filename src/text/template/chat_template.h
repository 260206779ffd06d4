// Chat templates: messages -> the prompt text a model was trained on.
//
// A template is a Jinja program that comes with the model, as Hugging Face's apply_chat_template
// runs it. It is untrusted: steps, depth, memory and output are limited.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer/tokenizer_config.h"

namespace tokamak {

namespace jinja {
struct Template;
}

struct RenderOptions {
  std::optional<int64_t> unix_seconds;  // what strftime_now shows, in UTC; the local time if absent
  // Each limit is an error that says so; 0 keeps the default.
  uint64_t max_steps = 0;
  uint32_t max_depth = 0;
  uint64_t max_memory_bytes = 0;
  uint64_t max_output_bytes = 0;
};

class ChatTemplate {
 public:
  /// `name` is how errors call the template: "chat_template: line 7: ...".
  static Result<ChatTemplate> parse(std::string_view source,
                                    std::string_view name = "chat_template");

  /// `variables` is an object: "messages", "tools", "add_generation_prompt", "bos_token", ... As in
  /// the reference, tools and documents are none and add_generation_prompt is false where they are
  /// missing. With "continue_final_message": true the text ends where the last message does, so
  /// that a model goes on with it. A message of raise_exception ends the error as it stands,
  /// after "The template raises an exception: ".
  Result<std::string> render(const Json& variables, const RenderOptions& options = {}) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Template> parsed)
      : parsed_(std::move(parsed)) {}

  std::shared_ptr<const jinja::Template> parsed_;
};

/// The chat templates of a model's folder.
struct ChatTemplateSource {
  struct Named {
    std::string name;
    std::string source;
  };
  std::vector<Named> templates;  // at most one of a name; "default" and "tool_use" are special
  Json special_tokens;           // an object: "bos_token" and so on, each a text

  /// "default", or "tool_use" when tools are given and there is one. An error names what there is.
  Result<const Named*> choose(bool has_tools) const;
};

/// `files` are those of the tokenizer, of which tokenizer_config.json and special_tokens_map.json
/// count; `jinja_file` is the text of chat_template.jinja, which wins over the template inside the
/// config; `additional` those of additional_chat_templates/NAME.jinja.
Result<ChatTemplateSource> read_chat_templates(
    const TokenizerFiles& files, std::optional<std::string_view> jinja_file,
    const std::vector<ChatTemplateSource::Named>& additional = {});

/// `variables` with the special tokens, for those names it does not have itself.
Json with_special_tokens(Json variables, const ChatTemplateSource& source);

}  // namespace tokamak
