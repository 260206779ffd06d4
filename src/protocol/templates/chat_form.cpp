#include "protocol/templates/chat_form.h"

#include <algorithm>
#include <array>

#include "protocol/templates/call_ids.h"
#include "protocol/templates/known_efforts.h"

namespace tokamak::protocol {
namespace {

struct Marks {
  std::string_view open, close;
};

constexpr Marks kReasoning[] = {
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},                                  // Magistral
    {"<|channel>thought", "<channel|>"},                      // Gemma 4
    {"<seed:think>", "</seed:think>"},                        // Seed-OSS
    {"<|START_THINKING|>", "<|END_THINKING|>"},               // Command
    {"<|inner_prefix|>", "<|inner_suffix|>"},                 // Apertus
    {"◁think▷", "◁/think▷"},                                  // Kimi
    {"<thought>", "</thought>"},                              // EXAONE Deep
    {"Here is my thought process:", "Here is my response:"},  // Granite 3
};

/// Around answers that follow reasoning.
constexpr Marks kAnswers[] = {
    {"<answer>", "</answer>"},                   // Hunyuan
    {"<response>", "</response>"},               // ERNIE
    {"<|START_RESPONSE|>", "<|END_RESPONSE|>"},  // Command
};

std::string template_of(const ModelFiles& files) {
  for (const char* name : {"tool_use", "default"}) {
    if (const auto text = chat_template_named(files, name)) return *text;
  }
  return {};
}

/// The first of `known` that the template shows or that are tokens.
std::optional<Marks> find_known(std::span<const Marks> known, const Tokenizer* tokenizer,
                                std::string_view text) {
  const auto is_token = [&](std::string_view mark) {
    return tokenizer != nullptr && tokenizer->token_to_id(mark).has_value();
  };
  for (const Marks& marks : known) {
    const bool is_shown = text.find(marks.close) != std::string_view::npos;
    if (is_shown || (is_token(marks.open) && is_token(marks.close))) return marks;
  }
  return std::nullopt;
}

void find_reasoning(const Tokenizer* tokenizer, std::string_view text, ChatForm& form) {
  const auto reasoning = find_known(kReasoning, tokenizer, text);
  if (!reasoning) return;
  form.reasoning_open = reasoning->open;
  form.reasoning_close = reasoning->close;
  const auto answer = find_known(kAnswers, tokenizer, text);
  if (!answer) return;
  form.answer_open = answer->open;
  form.answer_close = answer->close;
}

void find_marks(const Tokenizer* tokenizer, ChatForm& form) {
  if (tokenizer == nullptr) return;
  std::vector<std::string_view> texts = {form.reasoning_open, form.reasoning_close,
                                         form.answer_open, form.answer_close};
  if (form.tools != nullptr) {
    texts.push_back(form.tools->open);
    texts.push_back(form.tools->close);
    texts.insert(texts.end(), form.tools->inner.begin(), form.tools->inner.end());
  }
  for (const std::string_view text : texts) {
    if (text.empty()) continue;
    if (const auto id = tokenizer->token_to_id(text)) {
      form.marks.push_back({*id, std::string(text), tokenizer->is_special(*id)});
    }
  }
}

void find_ends(const Tokenizer& tokenizer, ChatForm& form) {
  for (const std::string_view end : form.tools->ends) {
    const auto id = tokenizer.token_to_id(end);
    if (id && tokenizer.is_special(*id)) form.end_ids.push_back(*id);
  }
}

Json call_json(std::string_view id, const Json& arguments) {
  Json function(Json::Object{{"name", "lookup_place"}, {"arguments", arguments}});
  return Json(Json::Object{{"id", id}, {"type", "function"}, {"function", std::move(function)}});
}

/// A tool, and a conversation with `calls` calls of it and their results.
Json conversation(size_t calls, bool has_answer) {
  Json out = *Json::parse(R"({"tools": [{"type": "function", "function": {
      "name": "lookup_place", "description": "Finds a place.", "parameters": {"type": "object",
      "properties": {"text": {"type": "string"}, "count": {"type": "integer"},
                     "options": {"type": "object"}}, "required": ["text"]}}}],
      "messages": [{"role": "user", "content": "Where is it?"}]})");
  out.set("add_generation_prompt", !has_answer);
  if (!has_answer) return out;
  const Json arguments =
      *Json::parse(R"({"text": "a \"b\" c", "count": 42, "options": {"deep": [1, true]}})");
  Json::Array made;
  for (size_t i = 0; i < calls; ++i) {
    made.push_back(call_json(fmt::format("call{:05}", i), arguments));
  }
  Json::Array& messages = out.find("messages")->as_array();
  messages.push_back(
      Json(Json::Object{{"role", "assistant"}, {"content", ""}, {"tool_calls", std::move(made)}}));
  return out;
}

/// The text that the template makes of an assistant's calls.
std::string calls_text(const ModelFiles& files, const ToolFamily& family, size_t calls) {
  const auto before = render_chat(files, conversation(calls, false));
  Json called = conversation(calls, true);
  fit_call_ids(family, called);
  const auto whole = render_chat(files, called);
  if (!before || !whole) return {};
  const auto differ = std::ranges::mismatch(*before, *whole);
  return std::string(differ.in2, whole->end());
}

/// The end of the turn in the rendered text shows in tokens only: the family's own end cuts it.
bool comes_back(const ModelFiles& files, const ToolFamily& family) {
  const size_t calls = family.has_one_call ? 1 : 2;
  std::string text = calls_text(files, family, calls);
  if (family.close.empty()) {
    const size_t end = text.find_last_of("}]");
    text.resize(end == std::string::npos ? 0 : end + 1);
  }
  if (!family.is_whole_message) {
    const size_t begin = text.find(family.open);
    text.erase(0, std::min(begin, text.size()));
  } else {
    text.erase(0, std::min(text.find('{'), text.size()));
  }
  OutputFormat form;
  form.tools = &family;
  form.tool_list = *conversation(calls, false).find("tools");
  OutputReader reader(form);
  OutputParts parts = reader.push(text);
  for (OutputPart& part : reader.finish()) parts.push_back(std::move(part));
  const Json expected = *conversation(1, true)
                             .find("messages")
                             ->as_array()[1]
                             .find("tool_calls")
                             ->as_array()[0]
                             .find("function")
                             ->find("arguments");
  size_t found = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].kind != OutputPart::Kind::kCallBegin || parts[i].text != "lookup_place") continue;
    const auto arguments = Json::parse(parts[i + 1].text);
    found += arguments && *arguments == expected;
  }
  return found == calls;
}

/// The first of the families that the template shows and whose calls come back; else null.
const ToolFamily* find_family(const ModelFiles& files, std::string_view text) {
  const auto families = tool_families();
  const auto found = std::ranges::find_if(families, [&](const ToolFamily& family) {
    return family.fits(text) && comes_back(files, family);
  });
  return found == families.end() ? nullptr : &*found;
}

/// Whether answers have channels, whose marks must be tokens.
bool has_channels(const ToolFamily* family, const Tokenizer* tokenizer) {
  return family != nullptr && family->has_channels && tokenizer != nullptr &&
         tokenizer->token_to_id(kChannelMark) && tokenizer->token_to_id(kMessageMark);
}

/// The part after the role of a header that the prompt has begun, of a message in channels.
std::string opened_header(std::string_view prompt) {
  const size_t start = prompt.rfind(kStartMark);
  if (start == std::string_view::npos) return {};
  prompt.remove_prefix(start + kStartMark.size());
  const size_t mark = std::min(prompt.find(kChannelMark), prompt.size());
  return std::string(prompt.substr(mark));
}

}  // namespace

void add_end_ids(const ChatForm& chat, GenerationParams& params) {
  if (chat.end_ids.empty()) return;
  std::vector<uint32_t>& ends = params.end_ids ? *params.end_ids : params.end_ids.emplace();
  ends.insert(ends.end(), chat.end_ids.begin(), chat.end_ids.end());
}

OutputFormat answer_form(const ChatForm& chat, std::string_view prompt, bool keeps_reasoning) {
  OutputFormat form;
  form.keeps_reasoning = keeps_reasoning;
  if (chat.has_channels) {
    form.has_channels = true;
    form.opened = opened_header(prompt);
  } else if (!keeps_reasoning) {
    form.reasoning_open = chat.reasoning_open;
    form.reasoning_close = chat.reasoning_close;
    form.answer_open = chat.answer_open;
    form.answer_close = chat.answer_close;
  }
  prompt = prompt.substr(0, prompt.find_last_not_of(" \t\r\n") + 1);
  form.starts_in_reasoning = !form.reasoning_open.empty() && prompt.ends_with(form.reasoning_open);
  return form;
}

ChatForm find_chat_form(const ModelFiles& files, const Tokenizer* tokenizer) {
  ChatForm form;
  const std::string text = template_of(files);
  form.turns = find_turn_rules(files, text);
  form.efforts = known_efforts(files, text);
  form.tools = tool_family_of(text);
  form.has_channels = has_channels(form.tools, tokenizer);
  if (form.has_channels) {
    find_marks(tokenizer, form);
    find_ends(*tokenizer, form);
    return form;
  }
  find_reasoning(tokenizer, text, form);
  const ToolFamily* found = find_family(files, text);
  if (form.tools != nullptr && found == nullptr) {
    form.notice = fmt::format(
        "The chat template shows calls of tools otherwise than models of the form \"{}\" write "
        "them: instructions of Tokamak's own take their place.",
        form.tools->name);
  }
  form.tools = found;
  form.is_generic = form.tools == nullptr;
  if (form.is_generic) form.tools = &tool_families().front();
  find_marks(tokenizer, form);
  if (tokenizer != nullptr) find_ends(*tokenizer, form);
  return form;
}

ChatForm find_reasoning_form(const ModelFiles& files, const Tokenizer* tokenizer) {
  ChatForm form = find_chat_form(files, tokenizer);
  if (form.has_channels) return form;
  const std::string_view own[] = {form.reasoning_open, form.reasoning_close, form.answer_open,
                                  form.answer_close};
  std::erase_if(form.marks, [&](const TokenMark& mark) {
    return std::ranges::find(own, mark.text) == std::end(own);
  });
  return form;
}

OutputFormat reasoning_format(const ChatForm& chat, std::string_view prompt) {
  OutputFormat form = answer_form(chat, prompt, /*keeps_reasoning=*/false);
  for (const TokenMark& mark : chat.marks) {
    form.token_marks.push_back(mark.text);
    if (mark.is_special) form.special_marks.push_back(mark.text);
  }
  return form;
}

}  // namespace tokamak::protocol
