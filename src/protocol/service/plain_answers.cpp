#include "protocol/service/plain_answers.h"

#include "base/utf8.h"
#include "engine/requests/text_request.h"
#include "protocol/jobs/texts.h"
#include "protocol/service/text_body_reader.h"
#include "protocol/service/text_job.h"

namespace tokamak::protocol {
namespace {

Json piece_json(const std::string& bytes) {
  if (is_valid_utf8(bytes)) return bytes;
  Json::Array numbers;
  for (const char byte : bytes) numbers.push_back(uint32_t{uint8_t(byte)});
  return numbers;
}

}  // namespace

Answer<Json> tokenize(const Engine& engine, std::string_view body) {
  TOK_TRY(const Fields fields, read_fields(body, kTokenize));
  if (!fields.content) return wrong("content", "content is missing.");
  TOK_TRY(const Tokenizer* tokenizer, answer(engine.tokenizer()));
  const EncodeOptions options = {.add_special = fields.add_special.value_or(false),
                                 .parse_special = fields.parse_special.value_or(false)};
  TOK_TRY(const auto ids, answer(tokenizer->encode(*fields.content, options), "content"));
  Json::Array tokens;
  for (const uint32_t id : ids) {
    if (!fields.with_pieces.value_or(false)) {
      tokens.push_back(id);
      continue;
    }
    const Json piece = piece_json(tokenizer->bytes(id, tokens.empty()));
    tokens.push_back(Json(Json::Object{{"id", id}, {"piece", piece}}));
  }
  return Json(Json::Object{{"tokens", std::move(tokens)}});
}

Answer<Json> detokenize(const Engine& engine, std::string_view body) {
  TOK_TRY(const Fields fields, read_fields(body, kDetokenize));
  if (fields.tokens.is_null()) return wrong("tokens", "tokens is missing.");
  TOK_TRY(const Tokenizer* tokenizer, answer(engine.tokenizer()));
  TOK_TRY(const auto ids, token_ids(fields.tokens, "tokens", engine.compiled().facts.vocab));
  return Json(Json::Object{{"content", tokenizer->decode(ids)}});
}

Answer<Json> count_tokens(const Engine& engine, const Fields& fields, const ChatForm& chat) {
  TOK_TRY(const std::vector<ImageFile> images, chat_images(engine, fields));
  TOK_TRY(Json variables, chat_prompt_variables(fields, chat));
  TOK_TRY(const ChatPrompt prompt,
          answer(chat_prompt(engine, std::move(variables), {}, prompt_end(fields)), "messages"));
  TOK_TRY(const uint64_t tokens, tokens_with_images(engine, prompt.ids.size(), images));
  return Json(Json::Object{{"input_tokens", tokens}});
}

Answer<Json> apply_template(const Engine& engine, std::string_view body, const ChatForm& chat) {
  TOK_TRY(const TextBody asked, read_text_body(body, kApplyTemplate));
  TOK_TRY(const Json variables, chat_prompt_variables(asked.fields, chat));
  TOK_TRY(std::string text, answer(engine.render_chat(variables), "messages"));
  TOK_TRY(answer(cut_at_last(text, prompt_end(asked.fields)), "messages"));
  return Json(Json::Object{{"prompt", std::move(text)}});
}

}  // namespace tokamak::protocol
