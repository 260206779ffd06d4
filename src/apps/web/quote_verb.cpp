// The passages found in a memory, for a prompt of this model; the store may use another engine.
#include "apps/embedder.h"
#include "apps/web/fields.h"
#include "apps/web/verbs.h"
#include "memory/recall.h"

namespace tokamak::web {
namespace {

Result<memory::Hit> hit_of(const Json& json) {
  memory::Hit hit;
  TOK_TRY(Fields(json)
              .take("chunk", hit.chunk.id)
              .take("id", hit.chunk.document)
              .take("score", hit.score)
              .take("source", hit.source)
              .take("title", hit.title)
              .take("text", hit.chunk.text)
              .take("start", hit.chunk.start)
              .take("stop", hit.chunk.stop)
              .done());
  return hit;
}

}  // namespace

/// {hits, budget} -> {context, records, tokens}: hits of any store, counted by this model's
/// tokenizer.
Result<Json> quote(State& state, const Json& options) {
  size_t budget = 1024;
  Fields fields(options);
  const Json* const given = fields.find("hits");
  TOK_TRY(fields.take("budget", budget).done());
  if (given == nullptr || !given->is_array()) {
    return fail(ErrorCode::kUsage, "\"hits\" is no list.");
  }
  std::vector<memory::Hit> hits;
  for (const Json& one : given->as_array()) {
    TOK_TRY(memory::Hit hit, hit_of(one));
    hits.push_back(std::move(hit));
  }
  TOK_TRY(const Tokenizer* const own, tokenizer(state));
  TOK_TRY(const memory::Recalled recalled, memory::recall(hits, budget, plain_counter(*own)));
  return memory::to_json(recalled);
}

}  // namespace tokamak::web
