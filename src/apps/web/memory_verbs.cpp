// Memories: the open model as the embedder of a store, which is a file of the browser's. A store is
// open only while a verb runs, so that tabs take turns; the page holds its lock meanwhile.
#include <algorithm>
#include <array>

#include "apps/embedder.h"
#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "formats/piecewise_source.h"
#include "memory/normalise.h"
#include "memory/search.h"
#include "memory/transfer.h"
#include "memory/writer.h"

namespace tokamak::web {
namespace {

constexpr size_t kQuotedHits = 50;  // as `tokamak memory recall`

Result<const memory::Embedder*> embedder(State& state) {
  if (!state.embedder) {
    TOK_TRY(Engine* const engine, open_engine(state));
    TOK_TRY(memory::Embedder made,
            embedder_of(*engine, engine->files().name, state.options.pooling, cancelled));
    TOK_TRY(made.known_fingerprint, memory::fingerprint(made));
    state.embedder = std::make_shared<memory::Embedder>(std::move(made));
  }
  return state.embedder.get();
}

Result<memory::Store> open_store(const std::string& name) {
  if (name.empty()) return fail(ErrorCode::kUsage, "\"store\" is missing.");
  return memory::Store::open_or_create(name);
}

/// Names and values, both texts.
Result<std::vector<std::pair<std::string, std::string>>> texts_of(const Json* meta) {
  std::vector<std::pair<std::string, std::string>> out;
  if (meta == nullptr) return out;
  if (!meta->is_object()) return fail(ErrorCode::kUsage, "\"meta\" is no object.");
  for (const auto& [name, value] : meta->as_object()) {
    if (!value.is_string()) return fail(ErrorCode::kUsage, "\"meta\": \"{}\" is no text.", name);
    out.emplace_back(name, value.as_string());
  }
  return out;
}

/// ids, source, since, before and meta: which documents.
Result<memory::Filter> filter_of(Fields& fields) {
  memory::Filter filter;
  TOK_TRY(filter.meta, texts_of(fields.find("meta")));
  fields.take("ids", filter.ids)
      .take("source", filter.source)
      .take("since", filter.since)
      .take("before", filter.before);
  return filter;
}

Result<memory::ChunkSizes> sizes_of(Fields& fields) {
  constexpr size_t kMin = 8, kMax = 1 << 16;
  memory::ChunkSizes sizes;
  fields.take("chunkTokens", sizes.tokens).take("overlap", sizes.overlap);
  if (sizes.tokens < kMin || sizes.tokens > kMax) {
    return fail(ErrorCode::kUsage, "\"chunkTokens\" is {}, expected {} to {}.", sizes.tokens, kMin,
                kMax);
  }
  if (2 * sizes.overlap > sizes.tokens) {
    return fail(ErrorCode::kUsage,
                "\"overlap\" is {}, expected at most half of \"chunkTokens\", which is {}.",
                sizes.overlap, sizes.tokens);
  }
  return sizes;
}

/// Makes the redactor of the store's rules, and of the new ones.
Result<memory::Redactor> redactor_of(const memory::Store& store,
                                     const std::vector<std::string>& rules,
                                     const std::vector<std::string>& kept) {
  std::vector<memory::Secret> kinds;
  for (const std::string& name : kept) {
    const auto found = std::ranges::find(memory::kSecretNames, name);
    if (found == memory::kSecretNames.end()) {
      return fail(ErrorCode::kUsage, "\"keep\": there is no kind of secrets \"{}\".", name);
    }
    kinds.push_back(memory::Secret(found - memory::kSecretNames.begin()));
  }
  // A mistake in an expression shows before it is kept.
  TOK_TRY(memory::Redactor::make(rules));
  for (const std::string& rule : rules) TOK_TRY(store.add_rule(rule));
  TOK_TRY(const std::vector<std::string> all, store.rules());
  return memory::Redactor::make(all, kinds);
}

bool send_progress(size_t done, size_t total) {
  Json what;
  what.set("phase", "memory").set("done", uint64_t(done)).set("total", uint64_t(total));
  tell("progress", what);
  return !cancelled();
}

Json added_json(const memory::Added& added) {
  constexpr std::array<std::string_view, 3> kKinds = {"new", "replaced", "unchanged"};
  Json redacted{Json::Object()}, out;
  for (size_t i = 0; i < added.redacted.size(); ++i) {
    redacted.set(std::string(memory::kSecretNames[i]), added.redacted[i]);
  }
  out.set("id", added.id).set("status", kKinds[size_t(added.kind)]);
  out.set("chunks", uint64_t(added.chunks)).set("redacted", std::move(redacted));
  return out;
}

/// The lines of a file that is never in memory as a whole.
class Lines {
 public:
  explicit Lines(const ByteSource& file) : file_(file) {}

  Result<std::optional<std::string>> next() {
    for (size_t from = 0;;) {
      const size_t end = read_.find('\n', from);
      if (end != read_.npos) return taken(end, end + 1);
      if (at_ == file_.size()) break;
      from = read_.size();
      read_.resize(from + size_t(std::min<uint64_t>(kPiece, file_.size() - at_)));
      const auto fresh = std::span(read_).subspan(from);
      TOK_TRY(file_.read(at_, std::as_writable_bytes(fresh)));
      at_ += fresh.size();
    }
    if (read_.empty()) return std::nullopt;
    return taken(read_.size(), read_.size());
  }

 private:
  static constexpr uint64_t kPiece = 1 << 18;

  std::string taken(size_t end, size_t next) {
    std::string line = read_.substr(0, end);
    read_.erase(0, next);
    return line;
  }

  const ByteSource& file_;
  uint64_t at_ = 0;
  std::string read_;  // before at_, and not taken yet
};

}  // namespace

/// {store, text, source, meta, added, redact, keep, chunkTokens, overlap} -> {id, status, chunks,
/// redacted}
Result<Json> memory_add(State& state, const Json& options) {
  std::string name;
  memory::NewText added;
  std::vector<std::string> rules, kept;
  Fields fields(options);
  TOK_TRY(const memory::ChunkSizes sizes, sizes_of(fields));
  TOK_TRY(const auto meta, texts_of(fields.find("meta")));
  for (const auto& [key, value] : meta) added.meta.set(key, value);
  TOK_TRY(fields.take("store", name)
              .take("text", added.text)
              .take("source", added.source)
              .take("added", added.added)
              .take("redact", rules)
              .take("keep", kept)
              .done());
  added.source = memory::normalise(added.source);
  TOK_TRY(const memory::Embedder* const own, embedder(state));
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(const memory::Redactor redactor, redactor_of(store, rules, kept));
  memory::Writer writer(store, *own, redactor, sizes);
  TOK_TRY(writer.begin());
  TOK_TRY(const memory::Added done, writer.add(added, send_progress));
  if (done.kind == memory::Added::Kind::kReplaced) TOK_TRY(store.erase_traces());
  return added_json(done);
}

/// {store, query, limit, by, ids, source, since, before, meta} -> {hits}; without a limit as many
/// as memory_recall() takes.
Result<Json> memory_search(State& state, const Json& options) {
  constexpr std::array<std::string_view, 3> kBy = {"both", "words", "vectors"};
  std::string name, query, by = "both";
  memory::SearchOptions how{.most = kQuotedHits};
  Fields fields(options);
  TOK_TRY(how.filter, filter_of(fields));
  TOK_TRY(fields.take("store", name)
              .take("query", query)
              .take("limit", how.most)
              .take("by", by)
              .done());
  const auto found = std::ranges::find(kBy, by);
  if (found == kBy.end()) {
    return fail(ErrorCode::kUsage, "\"by\" is \"{}\", expected both, words or vectors.", by);
  }
  how.by = memory::By(found - kBy.begin());
  const memory::Embedder* own = nullptr;
  if (how.by != memory::By::kWords) {
    TOK_TRY(own, embedder(state));
  }
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(const auto hits, memory::Searcher(store, own).search(query, how));
  Json::Array list;
  for (const memory::Hit& hit : hits) list.push_back(memory::to_json(hit));
  Json out;
  out.set("hits", std::move(list));
  return out;
}

/// {store, ids, source, since, before, meta} -> {documents, model}
Result<Json> memory_list(State&, const Json& options) {
  std::string name;
  Fields fields(options);
  TOK_TRY(const memory::Filter filter, filter_of(fields));
  TOK_TRY(fields.take("store", name).done());
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(const auto documents, store.documents(filter));
  TOK_TRY(const auto model, store.model());
  Json::Array list;
  for (const memory::Document& one : documents) {
    Json& json = list.emplace_back();
    json.set("id", one.id).set("source", one.source).set("title", one.title);
    json.set("added", one.added).set("chunks", one.chunks).set("bytes", one.bytes);
    json.set("meta", one.meta);
  }
  Json out;
  out.set("documents", std::move(list));
  if (model) out.set("model", model->name).set("pooling", model->pooling);
  return out;
}

/// {store, all, ids, source, since, before, meta} -> {forgotten}. Nothing is forgotten by leaving
/// everything out.
Result<Json> memory_forget(State&, const Json& options) {
  std::string name;
  bool all = false;
  Fields fields(options);
  TOK_TRY(const memory::Filter filter, filter_of(fields));
  TOK_TRY(fields.take("store", name).take("all", all).done());
  if (filter.is_empty() != all) {
    return fail(ErrorCode::kUsage,
                "What to forget is either \"all\" or some of ids, source, since, before and meta.");
  }
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(const uint64_t forgotten, store.forget(filter));
  Json out;
  out.set("forgotten", forgotten);
  return out;
}

/// {store, ids, source, since, before, meta} -> {}; the lines come as events "line".
Result<Json> memory_export(State&, const Json& options) {
  std::string name;
  Fields fields(options);
  TOK_TRY(const memory::Filter filter, filter_of(fields));
  TOK_TRY(fields.take("store", name).done());
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(memory::export_lines(store, filter, [](std::string_view line) -> Result<void> {
    tell("line", Json(line));
    return {};
  }));
  return Json(Json::Object{});
}

/// {store, size, id} -> {added, known}: the file with that number has the lines.
Result<Json> memory_import(State&, const Json& options) {
  std::string name;
  uint64_t size = 0;
  uint32_t id = 0;
  TOK_TRY(Fields(options).take("store", name).take("size", size).take("id", id).done());
  TOK_TRY(const memory::Store store, open_store(name));
  const auto file = host_file("The file", size, id);
  Lines lines(*file);
  TOK_TRY(const memory::Imported done, memory::import_lines(store, [&] { return lines.next(); }));
  Json out;
  out.set("added", done.added).set("known", done.known);
  return out;
}

/// {store, chunkTokens, overlap} -> {}
Result<Json> memory_rebuild(State& state, const Json& options) {
  std::string name;
  Fields fields(options);
  TOK_TRY(const memory::ChunkSizes sizes, sizes_of(fields));
  TOK_TRY(fields.take("store", name).done());
  TOK_TRY(const memory::Embedder* const own, embedder(state));
  TOK_TRY(const memory::Store store, open_store(name));
  TOK_TRY(const memory::Redactor redactor, memory::Redactor::make({}));
  TOK_TRY(memory::Writer(store, *own, redactor, sizes).rebuild(send_progress));
  TOK_TRY(store.erase_traces());
  return Json(Json::Object{});
}

}  // namespace tokamak::web
