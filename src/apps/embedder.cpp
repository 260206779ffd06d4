#include "apps/embedder.h"

#include <array>

namespace tokamak {
namespace {

/// The names of the prompt of either side; models without prompts have none of these.
constexpr std::array<std::string_view, 2> kQueryPrompts = {"query", "search_query"};
constexpr std::array<std::string_view, 3> kDocumentPrompts = {"document", "search_document",
                                                              "passage"};

std::optional<std::string> prompt_of(const Encoder& encoder,
                                     std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const auto& [known, text] : encoder.prompts) {
      if (known == name) return known;
    }
  }
  return std::nullopt;
}

EmbedOptions embed_options(const Engine& engine, memory::Side side,
                           std::function<bool()> cancelled) {
  const Encoder& encoder = *engine.compiled().encoder;
  const bool is_query = side == memory::Side::kQuery;
  return {
      .prompt = is_query ? prompt_of(encoder, kQueryPrompts) : prompt_of(encoder, kDocumentPrompts),
      .normalize = true,
      .truncate = true,
      .cancelled = std::move(cancelled)};
}

}  // namespace

Result<memory::Embedder> embedder_of(Engine& engine, std::string name, std::string pooling,
                                     std::function<bool()> cancelled) {
  if (!engine.compiled().encoder) {
    return unsupported(
        "{} writes texts. A memory needs an embedding model, or a model that is opened with a "
        "pooling.",
        name);
  }
  memory::Embedder out{.name = std::move(name), .pooling = std::move(pooling)};
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  out.count = [tokenizer](std::string_view text) -> Result<size_t> {
    TOK_TRY(const auto ids, tokenizer->encode(text, {.add_special = false}));
    return ids.size();
  };
  // The tokens around a text take their share of the context.
  TOK_TRY(const auto around,
          engine.embedding_ids("", embed_options(engine, memory::Side::kDocument, cancelled)));
  const uint32_t context = engine.compiled().context;
  if (around.size() >= context) {
    return invalid_input("The context has {} positions, and the model's own prompt {} tokens.",
                         context, around.size());
  }
  out.max_tokens = context - around.size();
  out.embed = [&engine, cancelled](std::span<const std::string> texts, memory::Side side) {
    return engine.embed(texts, embed_options(engine, side, cancelled));
  };
  return out;
}

memory::CountTokens plain_counter(const Tokenizer& tokenizer) {
  return [&tokenizer](std::string_view text) -> Result<size_t> {
    TOK_TRY(const auto ids, tokenizer.encode(text, {.add_special = false, .parse_special = false}));
    return ids.size();
  };
}

}  // namespace tokamak
