#include <algorithm>
#include <bit>

#include "base/base64.h"
#include "engine/task.h"
#include "protocol/jobs/encoder_jobs.h"
#include "protocol/jobs/model_use.h"
#include "protocol/jobs/texts.h"

namespace tokamak::protocol {
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

/// Whether texts that do not fit are cut: for Ollama's requests that is the default.
Answer<bool> truncates(const Fields& fields, bool is_ollama) {
  const Json& asked = fields.truncate;
  if (asked.is_null()) return is_ollama;
  if (asked.is_bool()) return asked.as_bool();
  if (asked == Json("END") || asked == Json("NONE")) return asked == Json("END");
  if (asked == Json(-1)) return true;
  return wrong("truncate", "truncate is {}, expected true, false, END or NONE.", quoted(asked));
}

Answer<EmbedOptions> options_of(const Engine& engine, const Fields& fields, bool is_ollama) {
  EmbedOptions options;
  TOK_TRY(options.truncate, truncates(fields, is_ollama));
  if (!fields.dimensions) return options;
  options.dimensions = uint32_t(*fields.dimensions);
  const uint32_t most = engine.compiled().encoder->dimensions(engine.compiled().facts.hidden);
  if (options.dimensions <= most) return options;
  return wrong("dimensions", "dimensions is {}, but the model's embeddings have {}.",
               options.dimensions, most);
}

/// The tokens of each text, which the model's context has room for.
Answer<std::vector<std::vector<uint32_t>>> ids_of(const Engine& engine, const Fields& fields,
                                                  std::string_view field,
                                                  const EmbedOptions& options) {
  TOK_TRY(Texts input, texts_of(fields.input, field, engine.compiled().facts.vocab, kMaxInputs));
  std::vector<std::vector<uint32_t>> all = std::move(input.ids);
  for (const std::string& text : input.texts) {
    TOK_TRY(std::vector<uint32_t> ids, answer(engine.embedding_ids(text, options), field));
    all.push_back(std::move(ids));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string which =
        all.size() == 1 ? std::string(field) : fmt::format("{}[{}]", field, i);
    if (all[i].empty()) return wrong(field, "{} has no tokens, expected a text.", which);
    const uint32_t most = engine.compiled().context;
    if (all[i].size() > most && !options.truncate) {
      return wrong(field, "{} has {} tokens, but the model reads at most {}.", which, all[i].size(),
                   most);
    }
    all[i].resize(std::min<size_t>(all[i].size(), most));
  }
  return all;
}

/// A job over texts, as many at a time as a few steps take, each of which gives an item of a list.
class TextsJob : public Job {
 protected:
  TextsJob(Engine& engine, std::vector<std::vector<uint32_t>> ids, EmbedOptions options)
      : engine_(engine), ids_(std::move(ids)), options_(std::move(options)) {}

  /// Appends the items of the next texts.
  virtual Answer<void> add(std::span<const std::vector<uint32_t>> ids) = 0;
  /// The answer, whose list is complete.
  virtual std::string whole() const = 0;

  /// Keeps an item as text at once: JSON of all numbers would take many times their memory.
  void append(const Json& item) {
    if (done_ > 0) list_ += ", ";
    list_ += item.dump();
    ++done_;
  }

  Engine& engine_;
  const std::vector<std::vector<uint32_t>> ids_;
  EmbedOptions options_;
  size_t done_ = 0;
  std::string list_;  // of what is done

 private:
  Answer<bool> next() override {
    const size_t end = end_of_step(ids_, done_, tokens_of_step(engine_),
                                   [](const std::vector<uint32_t>& one) { return one.size(); });
    options_.cancelled = cancelled();
    TOK_TRY(add(std::span(ids_).subspan(done_, end - done_)));
    if (done_ < ids_.size()) return true;
    begin("application/json");
    write(whole());
    return false;
  }
};

class EmbeddingJob final : public TextsJob {
 public:
  EmbeddingJob(Engine& engine, std::vector<std::vector<uint32_t>> ids, EmbedOptions options)
      : TextsJob(engine, std::move(ids), std::move(options)) {
    for (const auto& one : ids_) tokens_ += one.size();
  }

  bool is_base64 = false;
  Endpoint endpoint = kEmbeddings;
  std::string model;

 private:
  Answer<void> add(std::span<const std::vector<uint32_t>> ids) override {
    TOK_TRY(const auto vectors, answer(engine_.embed(ids, options_), "input"));
    for (const std::vector<float>& vector : vectors) append(item_of(vector));
    return {};
  }

  Json item_of(std::span<const float> vector) const {
    if (endpoint != kEmbeddings) return numbers_json(vector);
    const Json own = is_base64 ? Json(numbers_base64(vector)) : numbers_json(vector);
    return Json::Object{{"object", "embedding"}, {"index", uint64_t(done_)}, {"embedding", own}};
  }

  std::string whole() const override {
    const std::string name = Json(model).dump();
    if (endpoint == kOllamaEmbeddings) return fmt::format(R"({{"embedding": {}}})", list_);
    if (endpoint == kOllamaEmbed) {
      return fmt::format(R"({{"model": {}, "embeddings": [{}], "prompt_eval_count": {}}})", name,
                         list_, tokens_);
    }
    return fmt::format(R"({{"object": "list", "data": [{}], "model": {}, "usage": )"
                       R"({{"prompt_tokens": {}, "total_tokens": {}}}}})",
                       list_, name, tokens_, tokens_);
  }

  uint64_t tokens_ = 0;  // of all
};

/// A list of {index, value} for each text.
class SparseJob final : public TextsJob {
 public:
  SparseJob(Engine& engine, std::vector<std::vector<uint32_t>> ids, EmbedOptions options)
      : TextsJob(engine, std::move(ids), std::move(options)) {}

 private:
  Answer<void> add(std::span<const std::vector<uint32_t>> ids) override {
    TOK_TRY(const auto vectors, answer(engine_.embed_sparse(ids, options_), "inputs"));
    for (const SparseVector& vector : vectors) {
      Json::Array own;
      for (const TokenWeight& one : vector) {
        own.push_back(Json::Object{{"index", one.id}, {"value", double(one.weight)}});
      }
      append(Json(std::move(own)));
    }
    return {};
  }

  std::string whole() const override { return fmt::format("[{}]", list_); }
};

}  // namespace

size_t tokens_of_step(const Engine& engine) {
  constexpr size_t kSteps = 4;
  return kSteps * engine.compiled().main.plan.chunk();
}

Answer<std::unique_ptr<Job>> make_embedding_job(Engine& engine, const Fields& fields,
                                                std::string_view model, Endpoint endpoint) {
  const std::string format = fields.encoding_format.value_or("float");
  if (format != "float" && format != "base64") {
    return wrong("encoding_format", "encoding_format is {}, expected float or base64.",
                 quoted(format));
  }
  TOK_TRY(check_use(engine, Task::kEmbeddings));
  TOK_TRY(EmbedOptions options, options_of(engine, fields, endpoint != kEmbeddings));
  TOK_TRY(auto ids, ids_of(engine, fields, "input", options));
  auto job = std::make_unique<EmbeddingJob>(engine, std::move(ids), std::move(options));
  job->is_base64 = format == "base64";
  job->endpoint = endpoint;
  job->model = model;
  return job;
}

Answer<std::unique_ptr<Job>> make_sparse_job(Engine& engine, const Fields& fields) {
  TOK_TRY(check_use(engine, Task::kEmbeddings));
  TOK_TRY(answer(check_sparse(engine.compiled()), "model"));
  EmbedOptions options;
  options.truncate = fields.truncate == Json(true);
  TOK_TRY(auto ids, ids_of(engine, fields, "inputs", options));
  return std::make_unique<SparseJob>(engine, std::move(ids), std::move(options));
}

}  // namespace tokamak::protocol
