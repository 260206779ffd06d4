#include "protocol/output/answer_reader.h"

#include <algorithm>
#include <utility>

namespace tokamak::protocol {

using Kind = OutputPart::Kind;

AnswerReader::AnswerReader(const Tokenizer& tokenizer, OutputFormat form,
                           const std::vector<TokenMark>& marks, std::vector<std::string> stop,
                           std::vector<uint32_t> end_ids, Show show)
    : tokenizer_(tokenizer),
      form_(std::move(form)),
      marks_(marks),
      end_ids_(std::move(end_ids)),
      decoder_(tokenizer, /*skip_special=*/true),
      reader_(form_),
      stop_(std::move(stop)),
      show_(std::move(show)) {}

void AnswerReader::take(uint32_t id) {
  if (has_stopped()) return;
  ++tokens_;
  if (std::ranges::find(end_ids_, id) != end_ids_.end()) return;
  const bool was_reasoning = is_reasoning();
  const auto mark = std::ranges::find(marks_, id, &TokenMark::id);
  if (mark == marks_.end()) {
    show(reader_.push(decoder_.push(id)));
  } else {
    show(reader_.push(decoder_.finish()));
    decoder_ = StreamDecoder(tokenizer_, true);
    show(reader_.push_mark(mark->text));
  }
  reasoning_tokens_ += was_reasoning || is_reasoning();
}

void AnswerReader::finish(bool is_cut) {
  show(reader_.push(decoder_.finish()));
  show(reader_.finish(is_cut));
  const std::string held = stop_.finish();
  content_ += held;
  if (!held.empty()) show_(false, held);
}

std::vector<ToolCall> AnswerReader::take_calls() {
  return std::exchange(calls_, {});
}

void AnswerReader::show(const OutputParts& parts) {
  for (const OutputPart& part : parts) {
    switch (part.kind) {
      case Kind::kContent:
        show_content(part.text);
        break;
      case Kind::kReasoning:
        reasoning_ += part.text;
        show_(true, part.text);
        break;
      case Kind::kCallBegin:
        call_ = {.name = part.text, .arguments = ""};
        break;
      case Kind::kCallArguments:
        call_.arguments += part.text;
        break;
      case Kind::kCallEnd:
        calls_.push_back(std::move(call_));
        break;
      case Kind::kCallCut:
        break;
    }
  }
}

void AnswerReader::show_content(std::string_view text) {
  const std::string safe = stop_.push(text);
  content_ += safe;
  if (!safe.empty()) show_(false, safe);
}

}  // namespace tokamak::protocol
