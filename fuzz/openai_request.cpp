// The body of a request must be read or refused with a sentence, and what a model writes must give
// the same calls in any pieces. The first byte says for which endpoint, and how long the pieces
// are.
#include <cstdlib>

#include "base/utf8.h"
#include "openai/messages.h"
#include "openai/tool_calls.h"

namespace {

using namespace tokamak::openai;

void check_refusal(const ApiError& error) {
  if (error.message.empty() || !tokamak::is_valid_utf8(error.message)) std::abort();
  if (error.status != 400 || error.body().find("error") == nullptr) std::abort();
}

struct Read {
  std::string content;
  std::vector<ToolCall> calls;
  bool operator==(const Read&) const = default;
};

Read read(ToolFormat format, std::string_view text, size_t size) {
  ToolCallReader reader(format);
  Read all;
  const auto add = [&](const ToolCallReader::Piece& piece) {
    all.content += piece.content;
    all.calls.insert(all.calls.end(), piece.calls.begin(), piece.calls.end());
  };
  for (size_t i = 0; i < text.size(); i += size) add(reader.push(text.substr(i, size)));
  add(reader.finish());
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto endpoint = Endpoint(1u << (data[0] % 6));
  const auto fields = read_fields(text, endpoint);
  if (!fields) {
    check_refusal(fields.error());
  } else if (endpoint == kChat || endpoint == kApplyTemplate) {
    const auto variables = chat_variables(*fields);
    if (!variables) check_refusal(variables.error());
  }
  for (const auto format : {ToolFormat::kNone, ToolFormat::kHermes, ToolFormat::kLlama3}) {
    if (read(format, text, size) != read(format, text, 1 + data[0] / 6)) std::abort();
  }
  return 0;
}
