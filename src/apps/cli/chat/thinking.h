// --think: the reasoning of a model in run --chat, chat and talk, from the prompt to the screen.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/line/options.h"
#include "engine/requests/text_request.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::cli {

/// kDefault: the model reasons as its template has it; a terminal shows it, a pipe does not get it.
/// kOn: the same, and a pipe gets it, too. kHide: nobody sees it. kOff: the model does not reason.
enum class Think : uint8_t { kDefault, kOn, kHide, kOff };

/// "on", "off" or "hide"; nothing for another word.
std::optional<Think> think_named(std::string_view word);
std::string_view think_name(Think think);

class ThinkFlags {
 public:
  /// `needed`: the option without which they do nothing; null where there is none.
  void add(App& command, const Option* needed);

  /// A budget of no token is kOff.
  Think think() const;
  /// Most tokens of reasoning.
  std::optional<uint32_t> budget() const;
  /// Further variables of the template.
  const Json& variables() const { return variables_; }

 private:
  std::string mode_, variables_text_;
  uint32_t budget_ = 0;
  Option* budget_option_ = nullptr;
  Json variables_{Json::Object()};
};

/// A prompt, and how the answer to it is read.
struct ThinkingPrompt {
  ChatPrompt prompt;
  protocol::OutputFormat form;
};

/// How a model reasons, found once from its template.
class Reasoning {
 public:
  /// `jinja`: a template in place of the model's own, or "".
  Reasoning(const Engine& engine, const Tokenizer& tokenizer, std::string jinja);

  bool is_there() const { return form_.has_channels || !form_.reasoning_open.empty(); }
  const std::vector<protocol::TokenMark>& marks() const { return form_.marks; }
  /// `variables`: of the template, with messages; `more`: those of --template-kwargs. With kOff the
  /// reasoning is switched off by the template or, where that cannot, is over before it begins.
  Result<ThinkingPrompt> prompt(Json variables, const Json& more, Think think) const;
  /// Tokens that end the reasoning.
  Result<std::vector<uint32_t>> closing_ids() const;
  /// Ends answers where the model's form says they do. Reasoning has no usual length: it has a
  /// limit only where somebody `has_limited` it.
  void adjust(GenerationParams& params, Think think, bool has_limited) const;

 private:
  /// The text that ends open reasoning, and the text of reasoning that is over at once.
  std::string closing() const;
  std::string empty_reasoning() const;
  Result<void> append(std::string_view text, ChatPrompt& prompt) const;

  const Engine& engine_;
  const Tokenizer& tokenizer_;
  std::string jinja_;
  protocol::ChatForm form_;
  bool is_switched_by_template_ = false;
};

}  // namespace tokamak::cli
