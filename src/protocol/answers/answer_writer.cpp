#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {

std::string Completion::text_of(OutputPart::Kind kind) const {
  std::string all;
  for (const CompletionItem& item : items) {
    if (item.kind == kind) all += item.text;
  }
  return all;
}

uint64_t Completion::calls_until(size_t item) const {
  uint64_t calls = 0;
  for (size_t i = 0; i <= item && i < items.size(); ++i) {
    calls += items[i].kind == OutputPart::Kind::kCallBegin;
  }
  return calls;
}

std::string event(const Json& data, std::string_view type) {
  const std::string name = type.empty() ? "" : fmt::format("event: {}\n", type);
  return name + "data: " + data.dump() + "\n\n";
}

std::string random_id(std::string_view prefix, const std::function<uint64_t()>& random,
                      size_t letters) {
  constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id(prefix);
  uint64_t bits = 0;
  for (size_t i = 0; i < letters; ++i, bits /= kLetters.size()) {
    if (i % 8 == 0) bits = random();  // a word is enough for eight
    id += kLetters[bits % kLetters.size()];
  }
  return id;
}

}  // namespace tokamak::protocol
