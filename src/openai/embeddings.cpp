#include <bit>

#include "base/base64.h"
#include "openai/plain_answers.h"
#include "openai/text_job.h"

namespace tokamak::openai {
namespace {

constexpr size_t kMaxInputs = 2048;

/// Little-endian f32 in base64.
std::string numbers_base64(std::span<const float> numbers) {
  std::vector<std::byte> bytes;
  for (const float number : numbers) {
    const auto bits = std::bit_cast<uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(std::byte(bits >> shift & 255));
  }
  return base64_of(bytes);
}

Json numbers_json(std::span<const float> numbers) {
  Json::Array out;
  for (const float number : numbers) out.push_back(double(number));
  return out;
}

/// What was embedded, one vector for each input.
struct Embedded {
  std::vector<std::vector<float>> vectors;
  uint64_t tokens = 0;
};

Answer<Embedded> embed_all(Engine& engine, const Fields& fields) {
  const uint32_t vocab = engine.compiled().facts.vocab;
  TOK_TRY(const Texts input, texts_of(fields.input, "input", vocab, kMaxInputs));
  EmbedOptions options;
  if (fields.dimensions) {
    options.dimensions = uint32_t(*fields.dimensions);
    const auto& encoder = engine.compiled().encoder;
    const uint32_t most = encoder ? encoder->dimensions(engine.compiled().facts.hidden) : 0;
    if (encoder && options.dimensions > most) {
      return wrong("dimensions", "dimensions is {}, but the model's embeddings have {}.",
                   options.dimensions, most);
    }
  }
  std::vector<std::vector<uint32_t>> all = input.ids;
  for (const std::string& text : input.texts) {
    TOK_TRY(std::vector<uint32_t> ids, answer(engine.embedding_ids(text, options), "input"));
    all.push_back(std::move(ids));
  }
  Embedded out;
  for (const std::vector<uint32_t>& ids : all) out.tokens += ids.size();
  TOK_TRY(out.vectors, answer(engine.embed(all, options), "input"));
  return out;
}

Json openai_shape(const Embedded& embedded, bool is_base64, std::string_view model) {
  Json::Array data;
  for (const auto& vector : embedded.vectors) {
    data.push_back(Json(Json::Object{
        {"object", "embedding"},
        {"index", uint64_t(data.size())},
        {"embedding", is_base64 ? Json(numbers_base64(vector)) : numbers_json(vector)}}));
  }
  Json usage(Json::Object{{"prompt_tokens", embedded.tokens}, {"total_tokens", embedded.tokens}});
  return Json(Json::Object{{"object", "list"},
                           {"data", std::move(data)},
                           {"model", model},
                           {"usage", std::move(usage)}});
}

Json ollama_shape(const Embedded& embedded, std::string_view model) {
  Json::Array vectors;
  for (const auto& vector : embedded.vectors) vectors.push_back(numbers_json(vector));
  return Json(Json::Object{{"model", model},
                           {"embeddings", std::move(vectors)},
                           {"prompt_eval_count", embedded.tokens}});
}

}  // namespace

Answer<Json> embeddings(Engine& engine, const Fields& fields, std::string_view model,
                        Endpoint endpoint) {
  const std::string format = fields.encoding_format.value_or("float");
  if (format != "float" && format != "base64") {
    return wrong("encoding_format", "encoding_format is {}, expected float or base64.",
                 quoted(format));
  }
  TOK_TRY(const Embedded embedded, embed_all(engine, fields));
  if (endpoint == kOllamaEmbed) return ollama_shape(embedded, model);
  return openai_shape(embedded, format == "base64", model);
}

}  // namespace tokamak::openai
