#include "apps/cli/chat/thinking.h"

#include <algorithm>
#include <array>

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

constexpr std::array<std::pair<std::string_view, Think>, 3> kWords = {
    {{"on", Think::kOn}, {"off", Think::kOff}, {"hide", Think::kHide}}};

/// Names that templates have for the switch.
constexpr std::array<const char*, 2> kSwitches = {"enable_thinking", "thinking"};

void set_switches(Json& variables, bool is_on) {
  for (const char* name : kSwitches) variables.set(name, is_on);
}

/// Whether the template makes another prompt of it when the reasoning is switched off.
bool has_switch(const ModelFiles& files, const std::string& jinja) {
  Json variables = *Json::parse(
      R"({"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": true})");
  set_switches(variables, true);
  const auto on = render_chat(files, variables, jinja);
  set_switches(variables, false);
  const auto off = render_chat(files, variables, jinja);
  return on && off && *on != *off;
}

ModelFiles with_template(const ModelFiles& files, const std::string& jinja) {
  ModelFiles own = files;
  if (!jinja.empty()) own.chat_template = jinja;
  return own;
}

}  // namespace

std::optional<Think> think_named(std::string_view word) {
  const auto* found = std::ranges::find(kWords, word, &std::pair<std::string_view, Think>::first);
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

std::string_view think_name(Think think) {
  const auto* found = std::ranges::find(kWords, think, &std::pair<std::string_view, Think>::second);
  return found == kWords.end() ? "as the model does" : found->first;
}

void ThinkFlags::add(App& command, const Option* needed) {
  constexpr const char* kGroup = "Reasoning";
  Option* mode =
      command
          .add_option(
              "--think", mode_,
              "on, off, or hide: let a model reason that can, and show it or not; without it "
              "the model decides, a terminal shows it, and a pipe gets the answer alone")
          ->type_name("MODE")
          ->check(one_of({"on", "off", "hide"}))
          ->group(kGroup);
  budget_option_ = command
                       .add_option("--think-budget", budget_,
                                   "most tokens of reasoning; the answer follows then")
                       ->check(in_range(0, 1 << 24))
                       ->group(kGroup);
  Option* variables =
      command
          .add_option("--template-kwargs,--chat-template-kwargs", variables_text_,
                      "an object in JSON with more of what the chat template reads")
          ->type_name("JSON")
          ->check([this](const std::string& text) -> Mistake {
            const auto json = Json::parse(text);
            if (!json || !json->is_object()) {
              return not_expected(text, "an object as {\"enable_thinking\": false}");
            }
            variables_ = *json;
            return "";
          })
          ->group(kGroup);
  if (needed == nullptr) return;
  for (Option* option : {mode, budget_option_, variables}) option->needs(needed);
}

Think ThinkFlags::think() const {
  if (budget() == 0u) return Think::kOff;
  return mode_.empty() ? Think::kDefault : *think_named(mode_);
}

std::optional<uint32_t> ThinkFlags::budget() const {
  return budget_option_->count() > 0 ? std::optional(budget_) : std::nullopt;
}

Reasoning::Reasoning(const Engine& engine, const Tokenizer& tokenizer, std::string jinja)
    : engine_(engine),
      tokenizer_(tokenizer),
      jinja_(std::move(jinja)),
      form_(protocol::find_reasoning_form(with_template(engine.files(), jinja_), &tokenizer)),
      is_switched_by_template_(is_there() && has_switch(engine.files(), jinja_)) {}

void Reasoning::adjust(GenerationParams& params, Think think, bool has_limited) const {
  protocol::add_end_ids(form_, params);
  if (is_there() && think != Think::kOff && !has_limited) params.max_tokens = kAllTokens;
}

std::string Reasoning::closing() const {
  using namespace protocol;
  if (!form_.has_channels) return "\n" + form_.reasoning_close + "\n\n";
  return fmt::format("{}{}assistant{}final{}", kEndMark, kStartMark, kChannelMark, kMessageMark);
}

std::string Reasoning::empty_reasoning() const {
  using namespace protocol;
  if (form_.has_channels) return fmt::format("{}final{}", kChannelMark, kMessageMark);
  return form_.reasoning_open + "\n" + closing();
}

Result<void> Reasoning::append(std::string_view text, ChatPrompt& prompt) const {
  TOK_TRY(const std::vector<uint32_t> ids,
          tokenizer_.encode(text, {.add_special = false, .parse_special = true}));
  prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
  prompt.text += text;
  return {};
}

Result<ThinkingPrompt> Reasoning::prompt(Json variables, const Json& more, Think think) const {
  if (think == Think::kOff) set_switches(variables, false);
  if (think == Think::kOn) set_switches(variables, true);
  for (const auto& [name, value] : more.as_object()) variables.set(name, value);
  ThinkingPrompt out;
  TOK_TRY(out.prompt, chat_prompt(engine_, std::move(variables), jinja_));
  out.form = protocol::reasoning_format(form_, out.prompt.text);
  if (!is_there() || think != Think::kOff) return out;
  if (out.form.starts_in_reasoning) {
    TOK_TRY(append(closing(), out.prompt));
  } else if (!is_switched_by_template_) {
    TOK_TRY(append(empty_reasoning(), out.prompt));
  }
  out.form = protocol::reasoning_format(form_, out.prompt.text);
  return out;
}

Result<std::vector<uint32_t>> Reasoning::closing_ids() const {
  return tokenizer_.encode(closing(), {.add_special = false, .parse_special = true});
}

}  // namespace tokamak::cli
