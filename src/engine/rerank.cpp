// How well documents answer a query: by a cross-encoder, which reads each pair as one sequence, or
// by a model that was taught to say yes or no. Reference: sentence-transformers, CrossEncoder; the
// card of Qwen3-Reranker; arXiv:2506.05176.
#include <cmath>

#include "engine/engine.h"
#include "engine/task.h"
#include "engine/yes_probability.h"
#include "generate/steps/call_errors.h"

namespace tokamak {
namespace {

constexpr std::string_view kBefore =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n";
constexpr std::string_view kAfter = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
constexpr std::string_view kInstruction =
    "Given a web search query, retrieve relevant passages that answer the query";

float sigmoid(float x) {
  return yes_probability(x, 0);
}

Failure does_not_fit(size_t tokens, uint32_t context, bool truncates) {
  return invalid_input(
      "The query and the document have {} tokens, but the context has {} "
      "positions{}.",
      tokens, context,
      truncates ? ", which leave no room for the document" : "; truncate cuts the document");
}

/// The prompt that asks about documents, and the tokens of its answers.
struct Question {
  std::vector<uint32_t> before, after;
  std::string body;  // as far as the document
  uint32_t yes = 0, no = 0;
};

Result<Question> question_of(const Tokenizer& tokenizer, std::string_view query,
                             const RerankOptions& options) {
  const auto start = tokenizer.token_to_id("<|im_start|>");
  const auto yes = tokenizer.token_to_id("yes"), no = tokenizer.token_to_id("no");
  if (!start || !tokenizer.is_special(*start) || !yes || !no) {
    return unsupported(
        "This model cannot rank: it is neither a cross-encoder nor does it have the tokens "
        "<|im_start|>, yes and no of Qwen3-Reranker's prompt.");
  }
  const std::string_view instruction =
      options.instruction.empty() ? kInstruction : std::string_view(options.instruction);
  Question own{.body = fmt::format("<Instruct>: {}\n<Query>: {}\n<Document>: ", instruction, query),
               .yes = *yes,
               .no = *no};
  const EncodeOptions whole{.add_special = false, .parse_special = true};
  TOK_TRY(own.before, tokenizer.encode(kBefore, whole));
  TOK_TRY(own.after, tokenizer.encode(kAfter, whole));
  return own;
}

}  // namespace

Result<std::vector<float>> Engine::scores(std::span<const EncoderInput> pairs,
                                          const RerankOptions& options) {
  TOK_TRY(check_task(compiled_, Task::kRanking));
  if (!compiled_.facts.score) return unsupported("This model gives text, no scores of pairs.");
  for (const EncoderInput& pair : pairs) {
    if (pair.ids.size() <= compiled_.context) continue;
    return does_not_fit(pair.ids.size(), compiled_.context, options.truncate);
  }
  TOK_TRY(const auto rows, rows_of(pairs, options.cancelled));
  std::vector<float> scores;
  for (const std::vector<float>& row : rows) {
    if (!std::isfinite(row.front())) {
      return invalid_input("The score is no finite number: the weights are damaged.");
    }
    const bool is_logit = *compiled_.facts.score == ScoreFunction::kIdentity;
    scores.push_back(is_logit ? row.front() : sigmoid(row.front()));
  }
  return scores;
}

Result<std::vector<float>> Engine::rerank(std::string_view query,
                                          std::span<const std::string> documents,
                                          const RerankOptions& options) {
  TOK_TRY(check_task(compiled_, Task::kRanking));
  if (!compiled_.facts.score) return rerank_by_answers(query, documents, options);
  TOK_TRY(const Tokenizer* own, tokenizer());
  const size_t room = options.truncate ? compiled_.context : SIZE_MAX;
  std::vector<PairEncoding> pairs;
  for (const std::string& document : documents) {
    TOK_TRY(PairEncoding pair, own->encode_pair(query, document, room));
    pairs.push_back(std::move(pair));
  }
  std::vector<EncoderInput> inputs;
  for (const PairEncoding& pair : pairs) inputs.push_back({.ids = pair.ids, .types = pair.types});
  return scores(inputs, options);
}

/// All prompts begin alike, so that what is in front of the documents runs once.
Result<std::vector<float>> Engine::rerank_by_answers(std::string_view query,
                                                     std::span<const std::string> documents,
                                                     const RerankOptions& options) {
  TOK_TRY(const Tokenizer* own, tokenizer());
  TOK_TRY(const Question question, question_of(*own, query, options));
  const size_t framed = question.before.size() + question.after.size();
  std::vector<float> scores(documents.size());
  std::vector<Request> requests;
  for (const std::string& document : documents) {
    TOK_TRY(std::vector<uint32_t> body,
            own->encode(question.body + document, {.add_special = false, .parse_special = false}));
    const size_t all = framed + body.size();
    if (all > compiled_.context) {
      TOK_TRY(const std::vector<uint32_t> empty,
              own->encode(question.body, {.add_special = false, .parse_special = false}));
      if (!options.truncate || framed + empty.size() >= compiled_.context) {
        return does_not_fit(all, compiled_.context, options.truncate);
      }
      body.resize(compiled_.context - framed);
    }
    std::vector<uint32_t> ids = question.before;
    ids.insert(ids.end(), body.begin(), body.end());
    ids.insert(ids.end(), question.after.begin(), question.after.end());
    Request& request = requests.emplace_back();
    request.prompt = std::move(ids);
    request.adapter = adapter_;
    request.params.max_tokens = 0;
    request.callbacks.cancelled = options.cancelled;
    request.logits = [&, score = &scores[requests.size() - 1]](std::span<const float> logits) {
      *score = yes_probability(logits[question.yes], logits[question.no]);
    };
  }
  TOK_TRY(const std::vector<Generation> ended, run(std::move(requests)));
  for (const Generation& one : ended) {
    if (one.finish == FinishReason::kCancelled) return call_was_cancelled();
  }
  return scores;
}

}  // namespace tokamak
