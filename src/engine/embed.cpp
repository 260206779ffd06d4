// Embeddings: texts through the model, the vectors cut and brought to unit length.
#include <algorithm>
#include <cmath>

#include "base/scoped_flag.h"
#include "engine/engine.h"
#include "engine/task.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

/// The prompt that stands before the text.
Result<std::string> find_prompt(const Encoder& encoder, const EmbedOptions& options) {
  const std::string name = options.prompt ? *options.prompt : encoder.default_prompt.value_or("");
  if (name.empty()) return std::string();
  std::string known;
  for (const auto& [other, text] : encoder.prompts) {
    if (other == name) return text;
    known += (known.empty() ? "" : ", ") + other;
  }
  return fail(ErrorCode::kUsage, "The model has no prompt \"{}\"; it has {}.", name,
              known.empty() ? "none" : known);
}

/// The ids of `text`, cut to `room` if `truncate`: special tokens at both ends stay, as the
/// reference cuts before it adds them.
Result<std::vector<uint32_t>> encode(const Tokenizer& tokenizer, std::string_view text, size_t room,
                                     bool truncate) {
  TOK_TRY(std::vector<uint32_t> ids, tokenizer.encode(text));
  if (!truncate || ids.size() <= room) return ids;
  TOK_TRY(const std::vector<uint32_t> plain, tokenizer.encode(text, {.add_special = false}));
  const auto own = std::ranges::search(ids, plain);
  const size_t special = ids.size() - own.size();
  if (own.empty() || special >= room) return ids;
  const auto first_cut = own.begin() + std::ptrdiff_t(room - special);
  ids.erase(first_cut, own.end());
  return ids;
}

Result<std::vector<float>> finish(std::span<const float> row, const Encoder& encoder,
                                  const EmbedOptions& options) {
  if (options.dimensions > row.size()) {
    return fail(ErrorCode::kUsage,
                "{} dimensions are asked for, but the model's embeddings have {}.",
                options.dimensions, row.size());
  }
  if (options.dimensions != 0) row = row.first(options.dimensions);
  std::vector<float> out(row.begin(), row.end());
  double squares = 0;
  for (const float value : out) squares += double(value) * value;
  if (!std::isfinite(squares)) {
    return invalid_input("The embedding holds NaN or infinite numbers: the weights are damaged.");
  }
  if (!options.normalize.value_or(encoder.normalize)) return out;
  // torch.nn.functional.normalize leaves zeros as they are in the same way.
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& value : out) value = float(value / length);
  return out;
}

/// The ids that the context has room for; an error where there are more and no `truncate`.
Result<std::span<const uint32_t>> fitting(std::span<const uint32_t> ids,
                                          const Engine::Compiled& compiled, bool truncate) {
  if (ids.empty()) return invalid_input("There are no tokens to run the model on.");
  if (ids.size() <= compiled.context) return ids;
  if (truncate) return ids.first(compiled.context);
  return invalid_input(
      "The text has {} tokens, but the context has {} positions; it may have up to {}, and "
      "truncate (--truncate) cuts the text.",
      ids.size(), compiled.context, compiled.facts.max_context);
}

Result<std::vector<EncoderInput>> fitting(std::span<const std::vector<uint32_t>> texts,
                                          const Engine::Compiled& compiled, bool truncate) {
  std::vector<EncoderInput> inputs;
  for (const std::vector<uint32_t>& text : texts) {
    auto ids = fitting(text, compiled, truncate);
    if (!ids && texts.size() == 1) return Failure(ids.error());
    if (!ids) return Failure(ids.error().within(fmt::format("text {}", inputs.size() + 1)));
    inputs.push_back({.ids = *ids});
  }
  return inputs;
}

}  // namespace

Result<std::vector<std::vector<float>>> Engine::rows_of(std::span<const EncoderInput> inputs,
                                                        const std::function<bool()>& cancelled,
                                                        const EncoderRows& rows) {
  TOK_TRY(check_idle());
  const ScopedFlag busy(is_busy_);
  return run_encoder(*program_, compiled_.facts.vocab, inputs, cancelled, rows);
}

Result<std::vector<std::vector<float>>> Engine::embed(std::span<const std::vector<uint32_t>> texts,
                                                      const EmbedOptions& options) {
  TOK_TRY(check_task(compiled_, Task::kEmbeddings));
  TOK_TRY(const std::vector<EncoderInput> inputs, fitting(texts, compiled_, options.truncate));
  TOK_TRY(auto rows, rows_of(inputs, options.cancelled));
  for (std::vector<float>& row : rows) {
    TOK_TRY(row, finish(row, *compiled_.encoder, options));
  }
  return rows;
}

Result<std::vector<float>> Engine::embed(std::span<const uint32_t> ids,
                                         const EmbedOptions& options) {
  const std::vector<uint32_t> own(ids.begin(), ids.end());
  TOK_TRY(auto rows, embed(std::span(&own, 1), options));
  return std::move(rows.front());
}

Result<std::vector<uint32_t>> Engine::embedding_ids(std::string_view text,
                                                    const EmbedOptions& options) const {
  TOK_TRY(check_task(compiled_, Task::kEmbeddings));
  TOK_TRY(const Tokenizer* own, tokenizer());
  TOK_TRY(const std::string prompt, find_prompt(*compiled_.encoder, options));
  std::string whole = prompt + std::string(text);
  if (compiled_.encoder->lower_case) whole = to_lower(repair_utf8(whole));
  return encode(*own, whole, compiled_.context, options.truncate);
}

Result<std::vector<float>> Engine::embed(std::string_view text, const EmbedOptions& options) {
  TOK_TRY(const std::vector<uint32_t> ids, embedding_ids(text, options));
  return embed(ids, options);
}

Result<std::vector<std::vector<uint32_t>>> embedding_ids_of(const Engine& engine,
                                                            std::span<const std::string> texts,
                                                            const EmbedOptions& options) {
  std::vector<std::vector<uint32_t>> all;
  for (const std::string& text : texts) {
    auto ids = engine.embedding_ids(text, options);
    if (!ids) return Failure(ids.error().within(fmt::format("text {}", all.size() + 1)));
    all.push_back(*std::move(ids));
  }
  return all;
}

Result<std::vector<std::vector<float>>> Engine::embed(std::span<const std::string> texts,
                                                      const EmbedOptions& options) {
  TOK_TRY(const auto all, embedding_ids_of(*this, texts, options));
  return embed(all, options);
}

Result<std::vector<SparseVector>> Engine::embed_sparse(std::span<const std::vector<uint32_t>> texts,
                                                       const EmbedOptions& options) {
  TOK_TRY(check_sparse(compiled_));
  TOK_TRY(const std::vector<EncoderInput> inputs, fitting(texts, compiled_, options.truncate));
  const LexicalHead& head = *compiled_.lexical;
  const EncoderRows weights_of = [&](std::span<const float> rows) {
    return lexical_weights(head, rows);
  };
  TOK_TRY(const auto weights, rows_of(inputs, options.cancelled, weights_of));
  const auto counts = [&](uint32_t id) { return !tokenizer_ || !tokenizer_->is_special(id); };
  std::vector<SparseVector> vectors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::ranges::any_of(weights[i], [](float w) { return !std::isfinite(w); })) {
      return invalid_input(
          "The weights of tokens hold NaN or infinite numbers: the model's own are damaged.");
    }
    vectors.push_back(sparse_vector(inputs[i].ids, weights[i], counts));
  }
  return vectors;
}

}  // namespace tokamak
