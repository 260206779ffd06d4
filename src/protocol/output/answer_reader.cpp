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

void AnswerReader::finish() {
  show(reader_.push(decoder_.finish()));
  show(reader_.finish());
  const std::string held = stop_.finish();
  content_ += held;
  if (!held.empty()) show_(false, held);
}

void AnswerReader::show(const OutputParts& parts) {
  for (const OutputPart& part : parts) {
    if (part.kind == Kind::kContent) {
      show_content(part.text);
    } else if (part.kind == Kind::kReasoning) {
      reasoning_ += part.text;
      show_(true, part.text);
    }
  }
}

void AnswerReader::show_content(std::string_view text) {
  const std::string safe = stop_.push(text);
  content_ += safe;
  if (!safe.empty()) show_(false, safe);
}

}  // namespace tokamak::protocol
