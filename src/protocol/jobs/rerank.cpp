#include "engine/requests/sort_by_score.h"
#include "protocol/jobs/encoder_jobs.h"
#include "protocol/jobs/model_use.h"

namespace tokamak::protocol {
namespace {

constexpr size_t kMaxDocuments = 2048;
constexpr size_t kBytesOfToken = 4;  // about; tokens are made in the steps

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

class RankingJob final : public Job {
 public:
  RankingJob(Engine& engine, std::string query, std::vector<std::string> documents,
             RerankOptions options)
      : engine_(engine),
        query_(std::move(query)),
        documents_(std::move(documents)),
        options_(std::move(options)) {}

  std::string model;
  std::optional<size_t> most;  // of the results
  bool shows_documents = false;

 private:
  Answer<bool> next() override {
    const size_t done = scores_.size();
    const size_t end =
        end_of_step(documents_, done, kBytesOfToken * tokens_of_step(engine_),
                    [&](const std::string& one) { return query_.size() + one.size(); });
    options_.cancelled = cancelled();
    const auto documents = std::span<const std::string>(documents_).subspan(done, end - done);
    TOK_TRY(const std::vector<float> scores,
            answer(engine_.rerank(query_, documents, options_), "documents"));
    scores_.insert(scores_.end(), scores.begin(), scores.end());
    if (end < documents_.size()) return true;
    begin("application/json");
    write(whole().dump());
    return false;
  }

  Json whole() const {
    Json::Array results;
    for (const size_t i : sort_by_score(scores_, most.value_or(scores_.size()))) {
      Json result(Json::Object{{"index", uint64_t(i)}, {"relevance_score", double(scores_[i])}});
      if (shows_documents) {
        result.set("document", Json(Json::Object{{"text", documents_[i]}}));
      }
      results.push_back(std::move(result));
    }
    return Json(Json::Object{{"model", model}, {"results", std::move(results)}});
  }

  Engine& engine_;
  std::string query_;
  std::vector<std::string> documents_;
  RerankOptions options_;
  std::vector<float> scores_;  // of the first documents
};

}  // namespace

Answer<std::unique_ptr<Job>> make_ranking_job(Engine& engine, const Fields& fields,
                                              std::string_view model) {
  if (!fields.query) return wrong("query", "query is missing, expected a text.");
  TOK_TRY(std::vector<std::string> documents, documents_of(fields.documents));
  TOK_TRY(check_use(engine, Task::kRanking));
  RerankOptions options{.instruction = fields.instruction.value_or(""),
                        .truncate = fields.truncation.value_or(true)};
  auto job =
      std::make_unique<RankingJob>(engine, *fields.query, std::move(documents), std::move(options));
  job->model = model;
  if (fields.top_n) job->most = size_t(*fields.top_n);
  job->shows_documents = fields.return_documents.value_or(false);
  return job;
}

}  // namespace tokamak::protocol
