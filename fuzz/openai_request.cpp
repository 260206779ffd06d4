// The body of a request must be read or refused with a sentence, and what a model writes must be
// told apart alike in any pieces, whatever its family. The first byte says for which endpoint, and
// how long the pieces are.
#include <cstdlib>

#include "base/utf8.h"
#include "protocol/chat/messages.h"
#include "protocol/output/output_reader.h"
#include "protocol/service/text_body_reader.h"

namespace {

using namespace tokamak::protocol;

constexpr uint8_t kEndpoints = 14;

void check_refusal(const ApiError& error) {
  if (error.message.empty() || !tokamak::is_valid_utf8(error.message)) std::abort();
  for (const auto dialect : {Dialect::kOpenAi, Dialect::kAnthropic, Dialect::kOllama}) {
    if (error.status != 400 || error.body(dialect).find("error") == nullptr) std::abort();
  }
}

void read_request(std::string_view text, Endpoint endpoint) {
  const auto body = read_text_body(text, endpoint);
  if (!body) return check_refusal(body.error());
  if (!body->is_chat || body->only_loads) return;
  const auto variables = chat_variables(body->fields);
  if (!variables) return check_refusal(variables.error());
  const auto choice = tool_choice_of(body->fields);
  if (!choice) check_refusal(choice.error());
}

/// Pieces of one kind, one after the other, as one.
OutputParts read(const OutputFormat& form, std::string_view text, size_t size) {
  OutputReader reader(form);
  OutputParts all;
  const auto add = [&](OutputParts parts) {
    for (OutputPart& part : parts) {
      const bool continues = !all.empty() && all.back().kind == part.kind;
      if (continues) {
        all.back().text += part.text;
      } else {
        all.push_back(std::move(part));
      }
    }
  };
  for (size_t i = 0; i < text.size(); i += size) add(reader.push(text.substr(i, size)));
  add(reader.finish());
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  read_request(text, Endpoint(1u << (data[0] % kEndpoints)));
  for (const ToolFamily& family : tool_families()) {
    OutputFormat form;
    form.reasoning_open = "<think>";
    form.reasoning_close = "</think>";
    form.answer_open = "<answer>";
    form.answer_close = "</answer>";
    form.starts_in_reasoning = data[0] % 2 == 1;
    form.tools = &family;
    if (read(form, text, size) != read(form, text, 1 + data[0] / kEndpoints)) std::abort();
    form.holds_calls = !family.arguments_key.empty();
    if (read(form, text, size) != read(form, text, 1 + data[0] / kEndpoints)) std::abort();
  }
  return 0;
}
