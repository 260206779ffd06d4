// Embeddings: one text through the model, the vector cut and brought to unit length.
#include <algorithm>
#include <cmath>

#include "base/scoped_flag.h"
#include "engine/engine.h"
#include "engine/task.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

/// What stands before the text.
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

}  // namespace

Result<std::vector<float>> Engine::embed(std::span<const uint32_t> ids,
                                         const EmbedOptions& options) {
  TOK_TRY(check_task(compiled_, Task::kEmbeddings));
  const Encoder& encoder = *compiled_.encoder;
  if (ids.size() > compiled_.context) {
    if (!options.truncate) {
      return invalid_input(
          "The text has {} tokens, but the context has {} positions; it may have up to {}, and "
          "truncate (--truncate) cuts the text.",
          ids.size(), compiled_.context, compiled_.facts.max_context);
    }
    ids = ids.first(compiled_.context);
  }
  TOK_TRY(Session session, start_session());
  const ScopedFlag busy(is_busy_);
  TOK_TRY(const std::span<const float> rows, session.feed(ids, options.cancelled));
  const size_t dimensions = encoder.dimensions(compiled_.facts.hidden);
  const bool first = encoder.head.pooling == Pooling::kFirst;
  return finish(first ? rows.first(dimensions) : rows.last(dimensions), encoder, options);
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

Result<std::vector<std::vector<float>>> Engine::embed(std::span<const std::string> texts,
                                                      const EmbedOptions& options) {
  std::vector<std::vector<float>> all;
  for (const std::string& text : texts) {
    auto one = embed(text, options);
    if (!one) return Failure(one.error().within(fmt::format("text {}", all.size() + 1)));
    all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace tokamak
