#include "memory/search.h"

#include <algorithm>

#include "base/check.h"
#include "memory/advice.h"
#include "memory/normalise.h"
#include "memory/words.h"
#include "text/unicode/clusters.h"

namespace tokamak::memory {
namespace {

/// How many of either order count.
constexpr size_t kCandidates = 50;
constexpr size_t kReranked = 20;
/// A copy of a text, or one with another date in it. Vectors cannot tell: of models that were not
/// trained for it, those of any two texts are as near.
constexpr double kCopy = 0.9;

}  // namespace

Result<bool> has_model(const Store& store, const Embedder& embedder,
                       std::span<const float> fingerprint) {
  TOK_TRY(const std::optional<Model> model, store.model());
  if (!model) return false;
  if (!is_same_model(model->fingerprint, fingerprint)) {
    return invalid_input(
        "{} has vectors that {} has made, and those of {} cannot be compared with them. {}",
        store.path(), model->name, embedder.name, kAdvice.other_model);
  }
  TOK_TRY(const uint64_t outdated, store.outdated());
  if (outdated > 0) {
    return invalid_input(
        "{} is being rebuilt for {}: {} documents still have vectors of an older model. {}; "
        "meanwhile {}.",
        store.path(), model->name, outdated, kAdvice.continues, kAdvice.by_words);
  }
  return true;
}

Result<void> check_model(const Store& store, const Embedder& embedder) {
  TOK_TRY(const std::vector<float> own, fingerprint(embedder));
  TOK_TRY(has_model(store, embedder, own));
  return {};
}

Json to_json(const Hit& hit) {
  return Json(Json::Object{{"id", hit.chunk.document},
                           {"chunk", hit.chunk.id},
                           {"score", hit.score},
                           {"source", hit.source},
                           {"title", hit.title},
                           {"start", hit.chunk.start},
                           {"stop", hit.chunk.stop},
                           {"text", hit.chunk.text}});
}

std::string snippet(std::string_view text, size_t bytes) {
  std::string line(cluster_prefix(text, bytes));
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

Result<void> Searcher::refresh() {
  TOK_TRY(const int64_t version, store_.version());
  if (version_ == version) return {};
  if (fingerprint_.empty()) {
    TOK_TRY(fingerprint_, fingerprint(*embedder_));
  }
  TOK_TRY(has_model(store_, *embedder_, fingerprint_));
  TOK_TRY(vectors_, store_.vectors());
  version_ = version;
  return {};
}

Result<std::vector<int64_t>> Searcher::nearest(std::string_view query, const Filter& filter,
                                               size_t most) {
  TOK_CHECK(embedder_ != nullptr);
  TOK_TRY(refresh());
  std::vector<int64_t> out;
  if (vectors_.size() == 0) return out;
  const std::string asked(query);
  TOK_TRY(const auto rows, embedder_->embed(std::span(&asked, 1), Side::kQuery));
  std::vector<int64_t> among;
  if (!filter.is_empty()) {
    TOK_TRY(among, store_.chunk_ids(filter));
  }
  const auto near = vectors_.nearest(rows.front(), most, filter.is_empty() ? nullptr : &among);
  for (const VectorIndex::Near& one : near) out.push_back(one.id);
  return out;
}

Result<std::vector<Hit>> Searcher::without_copies(std::span<const Ranked> ranked,
                                                  size_t most) const {
  std::vector<Hit> hits;
  std::vector<WordSet> words;
  for (const Ranked& one : ranked) {
    if (hits.size() == most) break;
    TOK_TRY(StoredChunk chunk, store_.chunk(one.id));
    WordSet own = word_set(chunk.text);
    const auto is_copy = [&](const WordSet& other) { return shared_words(own, other) > kCopy; };
    if (std::ranges::any_of(words, is_copy)) continue;
    words.push_back(std::move(own));
    hits.push_back({.chunk = std::move(chunk), .score = one.score, .source = {}, .title = {}});
  }
  return hits;
}

/// Beside vectors, words that are everywhere would only bring chunks up that say nothing of the
/// question; alone, they are better than nothing.
Result<std::vector<std::string>> Searcher::words_of(std::string_view query, By by) const {
  if (by == By::kWords) return distinct_words(query, kMaxWords);
  return store_.rare_words(query);
}

Result<std::vector<Hit>> Searcher::search(std::string_view query, const SearchOptions& options) {
  const std::string asked = normalise(query);
  const size_t candidates = std::max(kCandidates, options.most);
  std::vector<int64_t> by_words, by_vectors;
  if (options.by != By::kWords) {
    TOK_TRY(by_vectors, nearest(asked, options.filter, candidates));
  }
  if (options.by != By::kVectors) {
    TOK_TRY(const std::vector<std::string> words, words_of(asked, options.by));
    TOK_TRY(by_words, store_.match_words(words, options.filter, candidates));
  }
  const size_t most = options.rerank ? kReranked : options.most;
  TOK_TRY(std::vector<Hit> hits, without_copies(fuse(by_words, by_vectors), most));
  if (options.rerank && !hits.empty()) {
    std::vector<std::string> texts;
    for (const Hit& hit : hits) texts.push_back(hit.chunk.text);
    TOK_TRY(const std::vector<float> scores, options.rerank(asked, texts));
    for (size_t i = 0; i < hits.size(); ++i) hits[i].score = scores[i];
    std::ranges::stable_sort(hits, std::greater(), &Hit::score);
    hits.resize(std::min(hits.size(), options.most));
  }
  for (Hit& hit : hits) {
    TOK_TRY(const auto documents, store_.documents({.ids = {hit.chunk.document}}));
    if (documents.empty()) continue;
    hit.source = documents.front().source;
    hit.title = documents.front().title;
  }
  return hits;
}

}  // namespace tokamak::memory
