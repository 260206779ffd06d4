#include "engine/best_first.h"
#include "openai/plain_answers.h"

namespace tokamak::openai {
namespace {

constexpr size_t kMaxDocuments = 2048;

/// Texts, or objects with one in `text`.
Answer<std::vector<std::string>> documents_of(const Json& value) {
  if (!value.is_array() || value.as_array().empty()) {
    return wrong("documents", "documents is missing or empty, expected a list of texts.");
  }
  if (value.as_array().size() > kMaxDocuments) {
    return wrong("documents", "There are {} documents, expected at most {}.",
                 value.as_array().size(), kMaxDocuments);
  }
  std::vector<std::string> texts;
  for (const Json& one : value.as_array()) {
    const Json* text = one.is_object() ? one.find("text") : &one;
    if (text == nullptr || !text->is_string()) {
      return wrong("documents", "documents[{}] is {}, expected a text or an object with one.",
                   texts.size(), quoted(one));
    }
    texts.push_back(text->as_string());
  }
  return texts;
}

}  // namespace

Answer<Json> rerank(Engine& engine, const Fields& fields, std::string_view model) {
  if (!fields.query) return wrong("query", "query is missing, expected a text.");
  TOK_TRY(const std::vector<std::string> documents, documents_of(fields.documents));
  const RerankOptions options{.instruction = fields.instruction.value_or(""),
                              .truncate = fields.truncation.value_or(true)};
  TOK_TRY(const std::vector<float> scores,
          answer(engine.rerank(*fields.query, documents, options), "documents"));
  const size_t most = fields.top_n ? size_t(*fields.top_n) : scores.size();
  Json::Array results;
  for (const size_t i : best_first(scores, most)) {
    Json result(Json::Object{{"index", uint64_t(i)}, {"relevance_score", double(scores[i])}});
    if (fields.return_documents.value_or(false)) {
      result.set("document", Json(Json::Object{{"text", documents[i]}}));
    }
    results.push_back(std::move(result));
  }
  return Json(Json::Object{{"model", model}, {"results", std::move(results)}});
}

}  // namespace tokamak::openai
