#include "memory/transfer.h"

#include <cmath>

#include "base/base64.h"
#include "base/bits.h"
#include "base/utf8.h"
#include "memory/advice.h"
#include "memory/embedder.h"
#include "memory/numbers.h"

namespace tokamak::memory {
namespace {

constexpr int64_t kVersion = 1;

template <typename Number>
std::string numbers_base64(const std::vector<Number>& numbers) {
  return base64_of(std::as_bytes(std::span(numbers)));
}

template <typename Number>
Result<std::vector<Number>> numbers(const std::string& text, const char* name) {
  const auto bytes = bytes_of_base64(text);
  if (!bytes || bytes->size() % sizeof(Number) != 0) {
    return invalid_input("\"{}\" is no base64 of whole numbers.", name);
  }
  return numbers_of<Number>(*bytes);
}

Result<const Json*> member(const Json& object, const char* name, Json::Kind kind) {
  const Json* found = object.find(name);
  if (found != nullptr && found->kind() == kind) return found;
  return invalid_input("\"{}\" is {}, expected {}.", name,
                       found == nullptr ? "missing" : kind_name(found->kind()), kind_name(kind));
}

Result<std::string> text_member(const Json& object, const char* name) {
  TOK_TRY(const Json* found, member(object, name, Json::Kind::kString));
  return found->as_string();
}

Result<int64_t> number_member(const Json& object, const char* name, int64_t least = 0,
                              int64_t most = INT64_MAX) {
  TOK_TRY(const Json* found, member(object, name, Json::Kind::kInteger));
  const int64_t value = found->as_integer();
  if (value >= least && value <= most) return value;
  return invalid_input("\"{}\" is {}, expected {} to {}.", name, value, least, most);
}

Result<Model> read_model(const Json& json) {
  Model model;
  TOK_TRY(model.name, text_member(json, "name"));
  TOK_TRY(model.pooling, text_member(json, "pooling"));
  TOK_TRY(const int64_t dimension, number_member(json, "dimension", 1, 1 << 20));
  model.dimension = uint32_t(dimension);
  TOK_TRY(const std::string fingerprint, text_member(json, "fingerprint"));
  TOK_TRY(model.fingerprint, numbers<float>(fingerprint, "fingerprint"));
  return model;
}

Result<StoredChunk> read_chunk(const Json& json, uint32_t dimension) {
  StoredChunk chunk;
  TOK_TRY(chunk.id, number_member(json, "id", 1));
  TOK_TRY(const int64_t start, number_member(json, "start"));
  TOK_TRY(const int64_t stop, number_member(json, "stop", start));
  TOK_TRY(const int64_t tokens, number_member(json, "tokens", 0, UINT32_MAX));
  TOK_TRY(chunk.text, text_member(json, "text"));
  TOK_TRY(const std::string vector, text_member(json, "vector"));
  TOK_TRY(chunk.vector, numbers<uint16_t>(vector, "vector"));
  chunk.start = uint64_t(start);
  chunk.stop = uint64_t(stop);
  chunk.tokens = uint32_t(tokens);
  if (chunk.text.size() != chunk.stop - chunk.start) {
    return invalid_input("\"text\" has {} bytes, but goes from {} to {}.", chunk.text.size(), start,
                         stop);
  }
  if (chunk.vector.size() != dimension) {
    return invalid_input("\"vector\" has {} numbers, but the model's have {}.", chunk.vector.size(),
                         dimension);
  }
  for (const uint16_t number : chunk.vector) {
    if (!std::isfinite(f16_to_f32(number))) return invalid_input("\"vector\" is not finite.");
  }
  return chunk;
}

struct ReadDocument {
  Document document;
  std::vector<StoredChunk> chunks;
  std::string text;
};

Result<ReadDocument> read_document(const Json& json, uint32_t dimension) {
  ReadDocument out;
  TOK_TRY(out.document.id, number_member(json, "id", 1));
  TOK_TRY(out.document.source, text_member(json, "source"));
  TOK_TRY(out.document.title, text_member(json, "title"));
  TOK_TRY(out.document.added, number_member(json, "added", INT64_MIN));
  TOK_TRY(const Json* meta, member(json, "meta", Json::Kind::kObject));
  out.document.meta = *meta;
  TOK_TRY(const Json* chunks, member(json, "chunks", Json::Kind::kArray));
  for (const Json& one : chunks->as_array()) {
    TOK_TRY(StoredChunk chunk, read_chunk(one, dimension));
    // They touch or overlap, and agree where they do.
    const bool fits =
        chunk.start <= out.text.size() && chunk.stop >= out.text.size() &&
        chunk.text.starts_with(std::string_view(out.text).substr(size_t(chunk.start)));
    if (!fits) return invalid_input("Chunk {} does not go on where others end.", chunk.id);
    out.text.resize(size_t(chunk.start));
    out.text += chunk.text;
    out.chunks.push_back(std::move(chunk));
  }
  if (out.text.empty()) return invalid_input("The document has no text.");
  return out;
}

class Importer {
 public:
  explicit Importer(const Store& store) : store_(store) {}

  Result<void> take(const std::string& line) {
    const auto json = Json::parse(line);
    if (has_head()) {
      if (!json) return Failure(json.error());
      return document(*json);
    }
    if (!json || !json->is_object() || json->find("tokamak_memory") == nullptr) {
      return invalid_input("The file is not an export of tokamak memory.");
    }
    return head(*json);
  }
  bool has_head() const { return dimension_ != 0; }
  const Imported& done() const { return done_; }

 private:
  Result<void> head(const Json& json) {
    TOK_TRY(number_member(json, "tokamak_memory", kVersion, kVersion));
    TOK_TRY(const Json* described, member(json, "model", Json::Kind::kObject));
    TOK_TRY(const Model model, read_model(*described));
    TOK_TRY(const std::optional<Model> own, store_.model());
    TOK_TRY(const uint64_t outdated, store_.outdated());
    const bool is_same = own && own->dimension == model.dimension &&
                         is_same_model(own->fingerprint, model.fingerprint);
    if (own && (!is_same || outdated > 0)) {
      return invalid_input(
          "The vectors are of {}, and those of {} of {}. Import into a new store, or rebuild that "
          "one for the same model first.",
          model.name, store_.path(), own->name);
    }
    if (!own) TOK_TRY(store_.add_model(model));
    TOK_TRY(const Json* rules, member(json, "rules", Json::Kind::kArray));
    for (const Json& rule : rules->as_array()) {
      if (!rule.is_string()) return invalid_input("\"rules\" has an entry that is no text.");
      TOK_TRY(store_.add_rule(rule.as_string()));
    }
    dimension_ = model.dimension;
    return {};
  }

  Result<void> document(const Json& json) {
    TOK_TRY(ReadDocument read, read_document(json, dimension_));
    TOK_TRY(const auto same, store_.find(read.document.source, read.text));
    if (same) {
      ++done_.known;
      return {};
    }
    TOK_TRY(const bool is_taken, store_.has_document(read.document.id));
    if (is_taken) read.document.id = 0;
    TOK_TRY(const int64_t id, store_.put(read.document, read.text));
    TOK_TRY(store_.put_chunks(id, read.chunks));
    ++done_.added;
    return {};
  }

  const Store& store_;
  uint32_t dimension_ = 0;  // 0: before the first line
  Imported done_;
};

}  // namespace

Result<void> export_lines(const Store& store, const Filter& filter,
                          const std::function<Result<void>(std::string_view line)>& write) {
  TOK_TRY(const std::optional<Model> model, store.model());
  if (!model) return invalid_input("{} has no documents yet.", store.path());
  TOK_TRY(const uint64_t outdated, store.outdated());
  if (outdated > 0) {
    return invalid_input("{} is being rebuilt; {}.", store.path(), kAdvice.continues);
  }
  TOK_TRY(const std::vector<std::string> patterns, store.rules());
  Json::Array rules(patterns.begin(), patterns.end());
  const Json described(Json::Object{{"name", model->name},
                                    {"pooling", model->pooling},
                                    {"dimension", model->dimension},
                                    {"fingerprint", numbers_base64(model->fingerprint)}});
  const Json head(Json::Object{
      {"tokamak_memory", kVersion}, {"model", described}, {"rules", std::move(rules)}});
  TOK_TRY(write(head.dump()));
  TOK_TRY(const std::vector<Document> documents, store.documents(filter));
  for (const Document& document : documents) {
    TOK_TRY(const std::vector<StoredChunk> stored, store.chunks(document.id, true));
    Json::Array chunks;
    for (const StoredChunk& chunk : stored) {
      chunks.push_back(Json(Json::Object{{"id", chunk.id},
                                         {"start", chunk.start},
                                         {"stop", chunk.stop},
                                         {"tokens", chunk.tokens},
                                         {"text", chunk.text},
                                         {"vector", numbers_base64(chunk.vector)}}));
    }
    const Json json(Json::Object{{"id", document.id},
                                 {"source", document.source},
                                 {"title", document.title},
                                 {"added", document.added},
                                 {"meta", document.meta},
                                 {"chunks", std::move(chunks)}});
    TOK_TRY(write(json.dump()));
  }
  return {};
}

Result<Imported> import_lines(const Store& store,
                              const std::function<Result<std::optional<std::string>>()>& next) {
  TOK_TRY(Transaction transaction, store.begin());
  Importer importer(store);
  for (size_t number = 1;; ++number) {
    TOK_TRY(const std::optional<std::string> line, next());
    if (!line) break;
    if (line->empty()) continue;
    const auto status = importer.take(*line);
    if (!status) return Failure(status.error().within(fmt::format("line {}", number)));
  }
  if (!importer.has_head()) return invalid_input("There are no lines to import.");
  TOK_TRY(transaction.commit());
  return importer.done();
}

}  // namespace tokamak::memory
