// tokenizer.json and the files beside it from a stranger, with lines "---" between them: reading
// them, and using what was accepted, must not go wrong.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/template/chat_template.h"
#include "text/tokenizer/tokenizer.h"

namespace {

/// Decoding at once and in a stream must agree, and every id must be inside the vocabulary.
void encode_and_decode(const tokamak::Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  if (!ids) return;
  std::string streamed;
  tokamak::StreamDecoder decoder(tokenizer);
  for (const uint32_t id : *ids) {
    if (id >= tokenizer.vocab_size()) std::abort();
    streamed += decoder.push(id);
  }
  streamed += decoder.finish();
  if (streamed != tokenizer.decode(*ids)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::string_view rest = text;
  const auto next = [&] {
    constexpr std::string_view kBetween = "\n---\n";
    const size_t end = rest.find(kBetween);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + kBetween.size());
    return part;
  };
  tokamak::TokenizerFiles files;
  files.tokenizer = next();
  files.config = next();
  files.special_tokens = next();
  files.added_tokens = next();
  static_cast<void>(tokamak::read_chat_templates(files, std::nullopt));
  const auto tokenizer = tokamak::Tokenizer::from_files(files);
  if (!tokenizer) return 0;
  encode_and_decode(*tokenizer, "ab aab <s>  12 \xC3\xA9\xF0\x9F\x98\x80\n\n\xFF it's");
  encode_and_decode(*tokenizer, text.substr(0, 4096));
  return 0;
}
