// Any bytes as the texts of a GGUF file: what they say about ends, pooling and templates, and a
// tokenizer of their vocabulary, which reads a text and writes it again.
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "engine/files/gguf_files.h"
#include "text/tokenizer/tokenizer.h"

using namespace tokamak;

namespace {

void encode_and_decode(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  if (!ids) return;
  for (const uint32_t id : *ids) TOK_CHECK(id < tokenizer.vocab_size());
  TOK_CHECK(is_valid_utf8(tokenizer.decode(*ids)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(input);
  auto part = read_gguf_part(memory_source("fuzz.gguf", {begin, begin + size}));
  if (!part) {
    TOK_CHECK(is_valid_utf8(part.error().message));
    return 0;
  }
  const GgufFile file{TensorFile(), std::move(part->metadata)};
  const auto files = gguf_text_files(file);
  if (!files) {
    TOK_CHECK(is_valid_utf8(files.error().message));
    return 0;
  }
  TOK_CHECK(Json::parse(files->description.generation_config->dump()));
  for (const std::string& notice : files->notices) TOK_CHECK(is_valid_utf8(notice));
  if (!files->vocab) return 0;
  TOK_CHECK(Json::parse(files->tokenizer_config));
  const auto tokenizer = Tokenizer::from_gguf(*files->vocab);
  if (!tokenizer) {
    TOK_CHECK(is_valid_utf8(tokenizer.error().message));
    return 0;
  }
  encode_and_decode(*tokenizer, "ab aab <s>  12 \xC3\xA9\xF0\x9F\x98\x80\n\n\xFF it's");
  if (const Json* text = file.metadata.values().find("general.name");
      text != nullptr && text->is_string()) {
    encode_and_decode(*tokenizer, file.metadata.text_bytes("general.name"));
  }
  return 0;
}
