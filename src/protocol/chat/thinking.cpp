#include "protocol/chat/thinking.h"

#include <algorithm>

#include "protocol/chat/content_parts.h"

namespace tokamak::protocol {
namespace {

// Tokens of thought from which on an effort is the next higher one: of a client that gives a budget
// the usual words, "think" and "think harder", become low, medium and high.
constexpr double kMediumBudget = 4096, kHighBudget = 16384;

size_t place_of(std::string_view effort) {
  return size_t(std::ranges::find(kEfforts, effort) - std::begin(kEfforts));
}

std::string_view effort_of_budget(double tokens) {
  return tokens < kMediumBudget ? "low" : tokens < kHighBudget ? "medium" : "high";
}

/// The member as an effort; unset where it is missing.
void take_effort(const Json& object, std::string_view name, Fields& fields) {
  if (const std::string* effort = text_in(object, name)) fields.reasoning_effort = *effort;
}

/// {"type": "enabled", "budget_tokens"}, {"type": "disabled"} or {"type": "adaptive"}.
Answer<void> read_switch(const Json& thinking, Fields& fields) {
  if (thinking.is_null()) return {};
  if (thinking.is_bool()) {
    fields.enable_thinking = thinking.as_bool();
    return {};
  }
  const std::string type = type_of(thinking);
  if (type == "disabled") {
    fields.enable_thinking = false;
  } else if (type == "enabled") {
    fields.enable_thinking = true;
    const Json* budget = thinking.find("budget_tokens");
    if (budget != nullptr && budget->is_number() && !fields.reasoning_effort) {
      fields.reasoning_effort = effort_of_budget(budget->as_number());
    }
  } else if (type != "adaptive" && type != "auto" && !thinking.as_object().empty()) {
    return wrong("thinking", "thinking is {}, expected the type {}.", quoted(thinking),
                 "\"enabled\", \"disabled\" or \"adaptive\"");
  }
  return {};
}

/// {"effort", "enabled", "max_tokens"}, of Responses and of OpenRouter's chats.
void read_reasoning(const Json& reasoning, Fields& fields) {
  take_effort(reasoning, "effort", fields);
  const Json* enabled = reasoning.find("enabled");
  if (enabled != nullptr && enabled->is_bool()) fields.enable_thinking = enabled->as_bool();
  const Json* budget = reasoning.find("max_tokens");
  if (budget != nullptr && budget->is_number() && !fields.reasoning_effort) {
    fields.reasoning_effort = effort_of_budget(budget->as_number());
  }
}

/// The known one below that is nearest, else the one above; thoughts are not taken away thereby.
const std::string& nearest(size_t asked, const std::vector<std::string>& known) {
  const auto above =
      std::ranges::find_if(known, [&](const std::string& one) { return place_of(one) > asked; });
  if (above == known.begin()) return *above;
  const auto below = std::prev(above);
  const bool takes_away = asked > place_of("minimal") && place_of(*below) == 0;
  return takes_away && above != known.end() ? *above : *below;
}

}  // namespace

Answer<void> read_thinking(Fields& fields) {
  const std::string format = fields.reasoning_format.value_or("auto");
  if (format == "parsed" || format == "deepseek") fields.reasoning_format = "auto";
  if (format == "raw") fields.reasoning_format = "none";
  take_effort(fields.output_config, "effort", fields);
  read_reasoning(fields.reasoning, fields);
  TOK_TRY(read_switch(fields.thinking, fields));
  const std::string effort = fields.reasoning_effort.value_or("");
  if (effort.empty() || effort == "default" || effort == "auto") {
    fields.reasoning_effort.reset();
    return {};
  }
  if (place_of(effort) < std::size(kEfforts)) return {};
  return wrong("reasoning_effort", "reasoning_effort is {}, expected {}.", quoted(Json(effort)),
               "none, minimal, low, medium, high, xhigh or max");
}

void set_thinking(const Fields& fields, const std::vector<std::string>& known, Json& variables) {
  const auto set = [&](const char* name, Json value) {
    if (variables.find(name) == nullptr) variables.set(name, std::move(value));
  };
  std::optional<bool> thinks = fields.enable_thinking;
  if (fields.reasoning_effort) {
    const size_t asked = place_of(*fields.reasoning_effort);
    if (asked <= place_of("minimal") && !thinks) thinks = false;
    if (!known.empty()) set("reasoning_effort", nearest(asked, known));
  }
  if (!thinks) return;
  if (!*thinks && !known.empty() && known.front() == kEfforts[0]) set("reasoning_effort", "none");
  set("enable_thinking", *thinks);
  set("thinking", *thinks);
}

}  // namespace tokamak::protocol
