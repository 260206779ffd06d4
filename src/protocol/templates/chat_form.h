// How the model of an engine reasons and calls tools: found once, from its own chat template.
#pragma once
#include "engine/engine.h"
#include "protocol/chat/thinking.h"
#include "protocol/output/output_reader.h"
#include "protocol/requests/fields.h"
#include "protocol/templates/turns.h"

namespace tokamak::protocol {

struct ChatForm {
  std::string reasoning_open, reasoning_close, answer_open, answer_close;
  bool has_channels = false;  // the tools' family has them, and reasoning is one
  const ToolFamily* tools = nullptr;
  /// The template knows no tools, or shows calls as its family does not: an instruction of ours
  /// in a message of the system explains how to call them.
  bool is_generic = false;
  TurnRules turns;
  std::vector<std::string> efforts;  // of reasoning, that the template knows
  std::vector<TokenMark> marks;
  std::vector<uint32_t> end_ids;  // that end an answer beside the model's own
  std::string notice;  // why the form is the generic one; empty where it is not, or no wonder
};

/// Renders a conversation with calls and reads them back: what does not come back is not believed.
/// `tokenizer`: null where there is none.
ChatForm find_chat_form(const ModelFiles& files, const Tokenizer* tokenizer);

/// The form of the answer to a prompt, but for calls of tools; it starts within reasoning where the
/// prompt has opened some. `keeps_reasoning`: as content, with its marks.
OutputFormat answer_form(const ChatForm& chat, std::string_view prompt, bool keeps_reasoning);

/// The form of a model whose calls of tools are content: without the marks of calls.
ChatForm find_reasoning_form(const ModelFiles& files, const Tokenizer* tokenizer);
/// The form of the answer to a prompt of such a model, with the marks that are tokens.
OutputFormat reasoning_format(const ChatForm& chat, std::string_view prompt);

/// Lets the tokens of `end_ids` end an answer, beside the model's own ends.
void add_end_ids(const ChatForm& chat, GenerationParams& params);

/// The variables of the model's template for a chat (chat_variables() of messages.h), with tools in
/// words of our own where it knows none, ids of calls and turns as it wants them, and the effort of
/// reasoning in its words.
Answer<Json> chat_prompt_variables(const Fields& fields, const ChatForm& form);

/// The text before which the prompt ends where the last message is continued, as chat_prompt() of
/// the engine takes it; else empty.
std::string_view prompt_end(const Fields& fields);

}  // namespace tokamak::protocol
